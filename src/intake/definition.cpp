#include "intake/definition.hpp"

#include "base/limits.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <daybook/error.hpp>

#include <chrono>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace intakes {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::int64_t us_of(microseconds length) { return length.count(); }

/// For intake.make and intake.change.
template <class Execute>
void with_row(std::string_view name, intake_options const& options, queues::store const* queue,
              Execute const& execute) {
  auto const on_error =
      options.on_error ? std::optional(static_cast<std::int64_t>(*options.on_error)) : std::nullopt;
  execute({name, options.page_bytes, us_of(options.gather), us_of(options.backoff),
           us_of(options.remember), queue ? value(queue->present().id) : value(nullptr),
           std::int64_t{options.page}, std::int64_t{options.lanes}, std::int64_t{options.attempts},
           std::int64_t{options.refused_limit}, static_cast<std::int64_t>(target_of(options)),
           static_cast<std::int64_t>(options.id.source), static_cast<std::int64_t>(options.payload),
           static_cast<std::int64_t>(options.begin), static_cast<std::int64_t>(options.on_gap),
           to_value(on_error), std::string_view(options.id.name)});
}

}  // namespace

target target_of(intake_options const& options) noexcept {
  if (!options.into.empty()) return target::tasks;
  return options.members.empty() ? target::body : target::members;
}

std::string const& queue_of(intake_options const& options) noexcept {
  return options.into.empty() ? options.members : options.into;
}

void refuse(std::string_view intake, std::string const& why) {
  throw error({.kind = error_code::bad_argument}, "intake '" + std::string(intake) + "': " + why);
}

void check(std::string_view name, intake_options const& options) {
  check_name("intake name", name);
  base::limits const in("intake", name);
  in.length("its name", name, longest_name - 7);  // its lanes are runs of process "intake NAME"
  if (!options.into.empty() && !options.members.empty()) {
    refuse(name,
           "its messages are tasks of one queue (into) or members of one (members), not both");
  }
  bool const by_header = options.id.source == message_identity::from::header;
  if (by_header && options.id.name.empty()) {
    refuse(name, "the header that names a message has no name (id.name)");
  }
  in.length("the name of the header (id.name)", options.id.name, longest_name);
  in.between("the number of attempts", options.attempts, 1, 100);
  in.between("the pause after a failure (backoff)", options.backoff, milliseconds{1},
             milliseconds{60'000});
  in.between("the number of messages put aside (refused_limit)", options.refused_limit, 0,
             1'000'000);
  in.between("the page", options.page, 1, 10'000);
  in.between("the bytes of a page (page_bytes)", options.page_bytes, std::int64_t{1} << 10,
             std::int64_t{1} << 28);
  in.between("the time to gather", options.gather, milliseconds{0}, milliseconds{10'000});
  in.between("the number of lanes", options.lanes, 1, 64);
  in.between("how long ids are remembered (remember)", options.remember, seconds{60},
             seconds{std::chrono::hours{24 * 3660}});
}

void write(core::context const& context, std::string_view name, intake_options const& options,
           queues::store const* queue) {
  for (auto const* const statement : {"intake.make", "intake.change"}) {
    bool written = false;
    with_row(name, options, queue, [&](std::initializer_list<value> values) {
      written = core::insist([&] {
        return core::write(context, {.name = "intake"}, context.sql[statement], values).affected >
               0;
      });
    });
    if (written) return;
  }
}

std::optional<definition> look(core::context const& context, std::string_view name) {
  std::optional<definition> out;
  core::read(context, [&](db::session& session) {
    out.reset();
    auto const found = db::run(session, context.sql["intake.look"], {name});
    if (found.size() == 0) return;
    auto const row = found.row(0);
    auto const number = [&](std::size_t at) { return db::get<std::int64_t>(row[at]); };
    auto& made = out.emplace();
    made.name = name;
    made.id = number(0);
    made.version = number(1);
    made.state = static_cast<intake_state>(number(2));
    decode(row[3], made.error);
    auto& to = made.options;
    to.page_bytes = number(4);
    to.gather = std::chrono::duration_cast<milliseconds>(microseconds(number(5)));
    to.backoff = std::chrono::duration_cast<milliseconds>(microseconds(number(6)));
    to.remember = std::chrono::duration_cast<seconds>(microseconds(number(7)));
    auto queue = db::get<std::optional<std::string>>(row[8]).value_or("");
    to.page = static_cast<int>(number(9));
    to.lanes = static_cast<int>(number(10));
    to.attempts = static_cast<int>(number(11));
    to.refused_limit = static_cast<int>(number(12));
    auto const where = static_cast<target>(number(13));
    if (where == target::tasks) to.into = std::move(queue);
    if (where == target::members) to.members = std::move(queue);
    to.id.source = static_cast<message_identity::from>(number(14));
    to.payload = static_cast<payload_form>(number(15));
    to.begin = static_cast<log_begin>(number(16));
    to.on_gap = static_cast<gap_policy>(number(17));
    if (auto const policy = db::get<std::optional<std::int64_t>>(row[18])) {
      to.on_error = static_cast<failure_policy>(*policy);
    }
    decode(row[19], to.id.name);
  });
  return out;
}

std::vector<std::string> names(core::context const& context) {
  std::vector<std::string> out;
  core::read(context, [&](db::session& session) {
    out.clear();
    auto const found = db::run(session, context.sql["intake.names"], {});
    for (std::size_t i = 0; i < found.size(); ++i) decode(found.row(i)[0], out.emplace_back());
  });
  return out;
}

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
