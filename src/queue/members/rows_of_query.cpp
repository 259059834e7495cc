#include "queue/members/rows_of_query.hpp"

#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "queue/members/store.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::int64_t first_page = 100;
constexpr std::int64_t largest_page = 10'000;
constexpr std::int64_t page_bytes = 4 << 20;

/// What is said of it is said of the query, and it takes as long: "user".
db::entry made(core::context const& context, std::string_view shape,
               db::holes const& placeholders) {
  auto out = context.sql.made(shape, placeholders);
  for (auto& one : out.parts) {
    one.what.name = "user";
    one.what.takes_its_time = true;
    one.what.only_reads = false;
  }
  out.within.reset();
  return out;
}

std::size_t width_of(core::context const& context, db::session& session,
                     db::holes const& placeholders) {
  auto const width = db::run(session, made(context, "import.probe", placeholders), {}).width;
  if (width != 1 && width != 2) {
    throw error({.kind = error_code::bad_argument},
                "it has " + std::to_string(width) +
                    " columns: it must have one, the key, or two, the key and the payload");
  }
  return width;
}

[[noreturn]] void too_long(std::chrono::milliseconds limit, std::string const& why) {
  throw error({.kind = error_code::bad_argument},
              "it takes longer than " + std::to_string(limit.count()) + " ms" + why);
}

[[noreturn]] void refuse_query(std::string const& subject, error const& e) {
  throw error({.kind = error_code::bad_argument, .native_code = e.native_code()},
              subject + ": " + e.what());
}

/// Whether it is the query that is wrong.
bool of_query(error const& e) noexcept {
  return e.kind() == error_code::statement || e.kind() == error_code::bad_argument;
}

/// Interrupts a session's statements after so long, or when somebody asks to stop.
class watchman {
 public:
  enum class word : std::uint8_t { nothing, late, stop };

  watchman(db::session& session, std::chrono::milliseconds limit, std::stop_token const& stop) {
    if (limit.count() == 0 && !stop.stop_possible()) return;
    thread_ = std::jthread([this, &session, limit](std::stop_token const& over) {
      watch(session, limit.count() == 0 ? longest : limit, over);
    });
    asks_.emplace(stop, ask{this});
  }
  watchman(watchman const&) = delete;
  watchman& operator=(watchman const&) = delete;
  /// Once the statements have ended: why they were interrupted.
  [[nodiscard]] word said() {
    asks_.reset();
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    return said_;
  }

 private:
  static constexpr std::chrono::milliseconds longest = std::chrono::hours{24 * 366};
  static constexpr std::chrono::milliseconds between_interrupts{100};
  struct ask {
    watchman* who;
    void operator()() const noexcept {
      std::lock_guard const lock(who->guard_);
      who->asked_ = true;
      who->stirred_.notify_one();
    }
  };

  void watch(db::session& session, std::chrono::milliseconds limit, std::stop_token const& over) {
    std::unique_lock lock(guard_);
    bool const asked = stirred_.wait_for(lock, over, limit, [this] { return asked_; });
    // One interrupt may come between two statements, or before the first has reached the server.
    while (!over.stop_requested()) {
      said_ = asked ? word::stop : word::late;
      lock.unlock();
      session.interrupt();
      lock.lock();
      stirred_.wait_for(lock, over, between_interrupts, [] { return false; });
    }
  }

  std::mutex guard_;
  std::condition_variable_any stirred_;
  bool asked_ = false;
  word said_ = word::nothing;
  std::jthread thread_;
  std::optional<std::stop_callback<ask>> asks_;  // gone before what it stirs
};

}  // namespace

void check_query(core::context const& context, std::string const& subject, std::string_view query) {
  try {
    core::read(context, [&](db::session& session) {
      static_cast<void>(width_of(
          context, session, {{"query", std::string(query)}, {"staged", context.sql.prefix()}}));
    });
  } catch (error const& e) {
    if (!of_query(e)) throw;
    refuse_query(subject, e);
  }
}

rows_of_query::rows_of_query(core::context const& context, std::string subject,
                             std::string_view query, query_reading mode)
    : context_(context), subject_(std::move(subject)), mode_(std::move(mode)) {
  try {
    open(query);
  } catch (error const& e) {
    end();
    if (!of_query(e)) throw;
    refuse_query(subject_, e);
  } catch (...) {
    end();
    throw;
  }
}

void rows_of_query::open(std::string_view query) {
  db::holes placeholders{{"staged", context_.sql.prefix() + "import"},
                         {"query", std::string(query)}};
  bool const in_transaction = context_.sql.text_of("import.needs", placeholders) == "transaction";
  // On one handle of the application's there is no other connection to write on.
  if (!context_.borrowed) held_.emplace(context_.sessions.lend(core::usual_patience));
  if (held_ && in_transaction) {
    (*held_)->begin(isolation::read_committed);
    begun_ = true;
    // The caller's work between two pages may outlast a lease, and the transaction locks no row.
    // A caller whose machine is gone is found in minutes, a frozen one in a day.
    for (auto const* const setting :
         {"set transaction read only", "set local idle_in_transaction_session_timeout = '1d'",
          "set local tcp_keepalives_idle = 60"}) {
      (*held_)->run({.name = "user", .text = setting, .changes_session = true}, {});
    }
  }
  run([&](db::session& session) {
    bool const alone = width_of(context_, session, placeholders) == 1;
    placeholders["columns"] = alone ? "k" : "k, p";
    placeholders["payload"] = alone ? "null" : "q.p";
    placeholders["hold"] = in_transaction && context_.borrowed ? "with hold" : "";
    if (mode_.around) placeholders["query"] = mode_.around(placeholders["columns"]);
    close_ = made(context_, "import.close", placeholders);
    db::run(session, made(context_, "import.open", placeholders), {});
  });
  staged_ = placeholders["staged"];
}

std::optional<entry> rows_of_query::next() {
  if (next_row_ == page_.size()) turn_page();
  if (page_.size() == 0) return std::nullopt;
  auto const row = page_.row(next_row_++);
  decode(row[0], number_);
  entry out;
  if (std::holds_alternative<std::nullptr_t>(row[1])) refuse("its key is null");
  try {
    out.key = key(db::get<std::string>(row[1]));
  } catch (error const& e) {
    refuse(e.what());
  }
  decode(row[2], out.payload);
  return out;
}

template <class F>
void rows_of_query::run(F const& body) {
  if (mode_.stop.stop_requested()) throw reading_stopped{};
  if (!held_) return core::read(context_, body);
  watchman watch(**held_, mode_.timeout, mode_.stop);
  std::string why;
  try {
    body(**held_);
  } catch (error const& e) {
    if (watch.said() == watchman::word::nothing) throw;
    why = std::string(": ") + e.what();
  }
  auto const said = watch.said();
  if (said == watchman::word::nothing) return;
  if (context_.sql.text_of("import.interrupted", {}) == "cut") (*held_)->cut();
  if (said == watchman::word::stop) throw reading_stopped{};
  too_long(mode_.timeout, why);
}

/// So many rows that a page is about as large as a piece of an import.
void rows_of_query::turn_page() {
  std::int64_t rows = first_page;
  if (page_.size() > 0) {
    std::int64_t bytes = 1;
    for (auto const& one : page_.cells) {
      if (auto const* text = std::get_if<std::string>(&one)) {
        bytes += static_cast<std::int64_t>(text->size());
      }
    }
    auto const each = bytes / static_cast<std::int64_t>(page_.size()) + 1;
    rows = std::clamp<std::int64_t>(page_bytes / each, 1, largest_page);
    rows = rows < first_page ? rows : rows / first_page * first_page;  // few texts to prepare
  }
  auto const page =
      made(context_, "import.page", {{"staged", staged_}, {"count", std::to_string(rows)}});
  try {
    run([&](db::session& session) { page_ = db::run(session, page, {number_}); });
  } catch (error const& e) {
    if (!of_query(e)) throw;
    refuse_query(subject_, e);
  }
  next_row_ = 0;
}

void rows_of_query::refuse(std::string const& why) const {
  throw error({.kind = error_code::bad_argument},
              subject_ + ": row " + std::to_string(number_) + ": " + why);
}

void rows_of_query::end() noexcept {
  if (context_.forked()) return;
  try {
    if (std::exchange(begun_, false)) {
      (*held_)->rollback();
    } else if (!close_) {
      return;
    } else if (!held_) {
      core::read(context_, [&](db::session& session) { db::run(session, *close_, {}); });
    } else if ((*held_)->usable()) {
      db::run(**held_, *close_, {});
    }
  } catch (std::exception const&) {
    return;  // it goes with the connection
  }
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
