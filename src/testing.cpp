// daybook::testing: what only tests may do to a book.
#include "base/failpoint.hpp"
#include "base/numbers.hpp"
#include "core/tx/transact.hpp"
#include "service/engine.hpp"

#include <daybook/error.hpp>
#include <daybook/testing.hpp>

#include <cstdlib>
#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace testing {

namespace {

core::context movable(book const& book) {
  if (!book.internals().clock_is_movable()) {
    throw error({.kind = error_code::configuration},
                book.url() +
                    ": this book's clock cannot be moved: make it with "
                    "book_options::movable_clock");
  }
  return book.internals().ready();
}

std::int64_t change(book const& book, std::string_view statement,
                    std::initializer_list<value> values) {
  auto const with = movable(book);
  std::int64_t affected = 0;
  core::transact(with, {.name = "testing"}, [&](db::session& session) {
    affected = db::run(session, with.sql[statement], values).affected;
    return core::decision::commit;
  });
  return affected;
}

}  // namespace

book open_in_memory(book_options options) {
  options.movable_clock = true;
  options.renew_in_background = false;
  book made("sqlite::memory:", std::move(options));
  made.migrate();
  return made;
}

manual_clock::manual_clock(book& book) : book_(&book) { static_cast<void>(movable(book)); }

timestamp manual_clock::now() const {
  auto const with = movable(*book_);
  std::int64_t us = 0;
  core::read(with, [&](db::session& session) {
    decode(db::run(session, with.sql["book.now"], {}).row(0)[0], us);
  });
  return timestamp(std::chrono::microseconds(us));
}

void manual_clock::advance(std::chrono::microseconds amount) {
  change(*book_, "testing.advance_clock", {std::int64_t{amount.count()}});
}

void manual_clock::stop_at(timestamp instant) {
  change(*book_, "testing.stop_clock", {std::int64_t{instant.time_since_epoch().count()}});
}

bool expire(book& book, process const& name, key const& run_key) {
  return change(book, "testing.expire", {name.str(), run_key.str()}) > 0;
}

lease_state renew(book& book) { return book.renew(); }

std::string_view word_of(failpoint_action action) noexcept {
  switch (action) {
    case failpoint_action::kill: return "kill";
    case failpoint_action::stop: return "stop";
    case failpoint_action::fail: return "fail";
    case failpoint_action::cut: return "cut";
  }
  return "?";
}

void arm(std::string_view failpoint, failpoint_action action, unsigned skip) {
  base::arm_failpoint(failpoint, action, skip);
}

void disarm() noexcept { base::disarm_failpoint(); }

void arm_from_environment() {
  char const* const text = std::getenv("DAYBOOK_FAILPOINT");
  if (text == nullptr) return;
  auto const bad = [&] {
    throw error({.kind = error_code::bad_argument},
                "DAYBOOK_FAILPOINT is NAME=kill, stop, fail or cut, and perhaps :SKIP");
  };
  std::string_view rest = text;
  auto const equals = rest.find('=');
  if (equals == std::string_view::npos) bad();
  auto const name = rest.substr(0, equals);
  rest.remove_prefix(equals + 1);
  auto const colon = rest.find(':');
  unsigned skip = 0;
  if (colon != std::string_view::npos) {
    auto const number = base::number_of<unsigned>(rest.substr(colon + 1));
    if (!number) bad();
    skip = *number;
  }
  for (auto const action : {failpoint_action::kill, failpoint_action::stop, failpoint_action::fail,
                            failpoint_action::cut}) {
    if (word_of(action) == rest.substr(0, colon)) return arm(name, action, skip);
  }
  bad();
}

std::vector<std::string_view> failpoints() {
  auto const all = base::failpoint_names();
  return {all.begin(), all.end()};
}

std::vector<std::string_view> failpoints(failpoint_room room) {
  auto const some = base::failpoint_names(room);
  return {some.begin(), some.end()};
}

}  // namespace testing
}  // namespace v1
}  // namespace daybook
