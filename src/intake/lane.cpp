#include "intake/lane.hpp"

#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace intakes {

namespace {

constexpr std::chrono::milliseconds longest_pause = std::chrono::minutes{1};
constexpr std::chrono::seconds between_looks{1};

/// A message's own fault, which those beside it need not share. Others are the database's.
bool is_of_one(error const& e) {
  return e.kind() == error_code::bad_argument || e.kind() == error_code::statement ||
         e.kind() == error_code::constraint;
}

/// What a message is called in a text for people.
std::string words_of(broker::message const& message) {
  auto out = "message of " + std::string(message.topic);
  if (message.position >= 0) {
    out += "/" + std::to_string(message.partition) + " at " + std::to_string(message.position);
  }
  if (!message.id.empty()) out += " with id " + std::string(message.id.substr(0, longest_name));
  return out;
}

}  // namespace

lane::lane(store const& intake, run& held, take_options const& options, take_report& report)
    : intake_(&intake),
      held_(&held),
      options_(&options),
      report_(&report),
      effect_(intake.context(), intake.declared(), intake.queue(), options.body),
      page_(held.resumed() ? 1 : intake.declared().options.page),
      looked_(base::boot_clock::now()) {}

bool lane::stopping() const {
  return options_->stop.stop_requested() || held_->stop().stop_requested();
}

bool lane::active() {
  auto const now = base::boot_clock::now();
  if (now - looked_ < between_looks) return true;
  looked_ = now;
  auto const seen = look(context(), declared().name);
  if (seen && seen->version == declared().version) return true;
  outdated_ = true;
  return false;
}

std::vector<mapped> lane::mapped_page(std::span<broker::message const> messages) const {
  std::vector<mapped> out;
  out.reserve(messages.size());
  bool const in_queue = effect_.names_are_keys();
  for (auto const& one : messages) {
    bool const remembered = one.position < 0;
    out.push_back(map(one, declared().options, in_queue || remembered, in_queue));
  }
  return out;
}

broker::page_request lane::next_page() {
  auto const& declared_options = declared().options;
  broker::page_request const out{.messages = static_cast<std::size_t>(page_),
                                 .bytes = static_cast<std::size_t>(declared_options.page_bytes),
                                 .wait = options_->wait,
                                 .gather = declared_options.gather};
  page_ = std::min<std::int64_t>(page_ * 2, declared_options.page);
  return out;
}

lane::progress lane::take(std::span<mapped> page) {
  auto const before = report_->refused;
  auto const end = take_part(page);
  if (end == progress::done && report_->refused > before && too_many_refused()) {
    return stop("more than " + std::to_string(declared().options.refused_limit) +
                " messages are put aside (refused_limit): retry or discard them, then resume");
  }
  return end;
}

lane::progress lane::take_part(std::span<mapped> part) {
  if (part.empty()) return progress::done;
  std::string why;
  try {
    return commit(part);
  } catch (error const& e) {
    if (!is_of_one(e)) throw;
    why = e.what();
  } catch (std::exception const& e) {
    why = e.what();
  }
  if (part.size() == 1) return take_alone(part.front(), std::move(why));
  auto const half = part.size() / 2;
  auto const end = take_part(part.first(half));
  return end == progress::done ? take_part(part.subspan(half)) : end;
}

lane::progress lane::take_alone(mapped& one, std::string why) {
  auto const& by = declared().options;
  auto wait = by.backoff;
  for (one.attempts = 1; one.attempts < by.attempts; ++one.attempts) {
    if (!pause(wait)) return progress::ended;
    wait = std::min(wait * 2, longest_pause);
    try {
      return commit(std::span(&one, 1));
    } catch (error const& e) {
      if (!is_of_one(e)) throw;
      why = e.what();
    } catch (std::exception const& e) {
      why = e.what();
    }
  }
  if (by.on_error.value_or(usual_policy()) == failure_policy::stop) {
    return stop(words_of(one.message) + " failed " + std::to_string(one.attempts) +
                " times: " + why);
  }
  one.refused = std::move(why);
  return commit(std::span(&one, 1));
}

/// False: a stop was requested.
bool lane::pause(std::chrono::milliseconds length) const {
  std::mutex guard;
  std::condition_variable_any stopped;
  std::stop_source either;
  std::stop_callback const asked(options_->stop, [&] { either.request_stop(); });
  auto const lost = held_->stop();
  std::stop_callback const taken(lost, [&] { either.request_stop(); });
  std::unique_lock lock(guard);
  stopped.wait_for(lock, either.get_token(), length, [] { return false; });
  return !stopping();
}

lane::progress lane::stop(std::string const& why) {
  auto const put = [&](db::session& session) {
    db::run(
        session, context().sql["intake.set_state"],
        {declared().id, static_cast<std::int64_t>(intake_state::stopped), std::string_view(why)});
    return true;
  };
  while (write(put) != outcome::done) {
  }
  report_->state = intake_state::stopped;
  report_->error = why;
  return progress::ended;
}

outcome lane::write(std::function<bool(db::session&)> const& body) {
  auto const end = held_->internals().write_fenced("intake", body);
  if (end != outcome::lost) return end;
  throw error({.kind = error_code::conflict}, "intake '" + declared().name + "': lane " +
                                                  held_->run_key().str() +
                                                  " was taken over by another; what it took stays");
}

void lane::count(std::int64_t taken, std::int64_t refused) {
  report_->taken += taken;
  report_->refused += refused;
  held_->progress(report_->taken);
}

bool lane::too_many_refused() const {
  std::int64_t there = 0;
  core::read(context(), [&](db::session& session) {
    there = db::get<std::int64_t>(
        db::run(session, context().sql["intake.count_refused"], {declared().id}).row(0)[0]);
  });
  return there > declared().options.refused_limit;
}

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
