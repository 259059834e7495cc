// A run in hand: its steps, what it carries, how far it is.
#include "core/run/run.hpp"

#include "base/digest.hpp"
#include "base/failpoint.hpp"
#include "base/mutant.hpp"
#include "base/text.hpp"
#include "core/run/token.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

constexpr std::size_t longest_value = 1 << 20;
constexpr std::size_t longest_note = 200;
constexpr std::size_t longest_output = 8192;

std::int64_t number_of(step_mode mode) { return static_cast<std::int64_t>(mode); }

}  // namespace

void check_text(std::string const& subject, std::string_view text) {
  auto const bad = [&](char const* why) {
    throw error({.kind = error_code::bad_argument}, subject + why);
  };
  if (text.size() > longest_value) bad(" of more than 1 MiB: keep it in a table of yours");
  if (text.find('\0') != std::string_view::npos) bad(" with a zero byte: encode it first");
  if (base::first_invalid_utf8(text) != std::string_view::npos) {
    bad(" that is not valid UTF-8: encode it first");
  }
}

held_run::held_run(context const& context, core::holder& lease, std::shared_ptr<incarnation> holder,
                   run_identity identity, acquisition held)
    : context_(context),
      lease_(&lease),
      holder_(std::move(holder)),
      hand_(std::make_shared<in_hand>()),
      identity_(std::move(identity)),
      held_(std::move(held)) {
  hand_->process = process();
  hand_->key = key();
  hand_->held = held_;
  if (identity_.time_left) hand_->deadline = base::boot_clock::now() + *identity_.time_left;
  if (holder_) holder_->add(hand_);
}

held_run::~held_run() {
  if (context_.forked()) return;
  if (open_ && holder_ && !lost_) let_go("let go without an end");
  if (holder_) holder_->remove(hand_);
}

run_event held_run::event(std::string_view step, std::string_view text) const {
  return {process(), key(), step, identity_.number, identity_.attempt, text};
}

void held_run::check_turn() const {
  if (turn_.ours()) return;
  throw error({.kind = error_code::bad_argument},
              "the run " + process() + " / " + key() +
                  " is in use: an asynchronous call on it is under way");
}

void held_run::claim() {
  context_.check_process();
  check_turn();
  if (in_body_ || !turn_.claim()) {
    throw error({.kind = error_code::bad_argument},
                "the run " + process() + " / " + key() +
                    " is in use: its step's body must not ask for another");
  }
}

bool held_run::done(std::string_view name) const {
  check_turn();
  return memory_.steps.contains(name);
}

std::optional<std::string> held_run::value(std::string_view step) const {
  check_turn();
  auto const found = memory_.steps.find(step);
  if (found == memory_.steps.end()) return std::nullopt;
  return found->second.value;
}

void held_run::next_stamp() noexcept {
  // Far above what others, who have the token, count up to between two writes of the holder.
  constexpr std::int64_t between = 1 << 20;
  if (holder_) stamp_ = std::max(stamp_, held_.seen) + between;
}

outcome held_run::wrote(bool committed) noexcept {
  if (!committed) return outcome::lost;
  held_.seen = holder_ ? stamp_ : held_.seen + 1;
  return outcome::done;
}

/// It is another's by now; or else, as where the book is an older copy of itself, nobody's but ours
/// in name, and the background lets go of it.
void held_run::mark_lost() {
  lost_ = true;
  hand_->lost.request_stop();
  if (holder_) {
    lease_->add_orphan({.process = process(),
                        .key = key(),
                        .acquisition = held_.uuid,
                        .on_its_way = false,
                        .seen = held_.seen});
  }
  context_.watch.lost(event());
}

bool held_run::renew_with(db::session& session) const {
  return holder_ && (context_.dialect.one_writer || context_.borrowed) &&
         lease_->renew_within(session, *holder_);
}

/// False: the run is lost.
bool held_run::begin_step(std::string_view name, step_mode mode) {
  context_.check_process();
  check_turn();
  check_name("step name", name);
  if (!open_) {
    throw error({.kind = error_code::bad_argument},
                "step '" + std::string(name) + "' of " + process() + " after the run was ended");
  }
  if (pending_end_) {
    throw error({.kind = error_code::bad_argument},
                "step '" + std::string(name) + "' of " + process() +
                    " while its end is pending in a joined transaction: confirm that first");
  }
  if (lost_) return false;
  check_mode(name, mode);
  if (!used_.emplace(name).second) {
    throw error({.kind = error_code::bad_argument},
                "step '" + std::string(name) + "' of " + process() +
                    " was given twice in one attempt: every step needs a name of its own");
  }
  return true;
}

std::optional<step_mode> held_run::mode_of(std::string_view step) const {
  check_turn();
  if (auto const found = memory_.steps.find(step); found != memory_.steps.end()) {
    return found->second.mode;
  }
  if (memory_.intents.contains(step)) return step_mode::at_most_once;
  return std::nullopt;
}

/// A step that was done in one mode and is given in another would be done by other rules than
/// those that its record stands for.
void held_run::check_mode(std::string_view name, step_mode mode) const {
  auto const before = mode_of(name).value_or(step_mode::unrecorded);
  if (before == step_mode::unrecorded || before == mode) return;
  throw error({.kind = error_code::bad_argument},
              "step '" + std::string(name) + "' of " + process() + " was begun as " +
                  std::string(word_of(before)) + " before, and is given as " +
                  std::string(word_of(mode)) + " now: give the new one another name");
}

outcome held_run::once(std::string_view name, step_mode mode, std::string& value,
                       std::function<outcome()> const& attempt) {
  settle_pending();
  if (!begin_step(name, mode)) return outcome::lost;
  if (auto const before = memory_.steps.find(name); before != memory_.steps.end()) {
    value = before->second.value;
    return outcome::skipped;
  }
  auto what = outcome::lost;
  try {
    what = attempt();
  } catch (...) {
    // Nothing of it is there: it may be tried again in this attempt.
    if (!lost_) used_.erase(std::string(name));
    throw;
  }
  if (what == outcome::lost) {
    settle_lost();
  } else if (what != outcome::unknown) {
    memory_.steps[std::string(name)] = {value, mode};
    context_.watch.step_done(event(name));
  }
  return what;
}

/// Lost to another holder, or to the deadline, which is then written down.
void held_run::settle_lost() {
  mark_lost();
  if (hand_->deadline && base::boot_clock::now() >= *hand_->deadline) pass_deadline();
}

outcome held_run::step(std::string_view name, step_options options, body const& work,
                       std::string& value) {
  struct between_steps {
    held_run& of;
    ~between_steps() {
      if (of.holder_) of.holder_->set_step(*of.hand_, {});
    }
  } const afterwards{*this};
  return once(name, step_mode::tx, value, [&] { return try_step(name, options, work, value); });
}

outcome held_run::record(std::string_view name, std::string_view text,
                         std::optional<std::chrono::microseconds> took) {
  context_.check_process();
  check_turn();
  std::string value(text);
  check_text("the value of step '" + std::string(name) + "'", value);
  if (intended_.contains(name)) {
    // The second half of intend().
    if (lost_) return outcome::lost;
    auto const what = try_record({name, step_mode::at_most_once, took}, value);
    if (what == outcome::lost) {
      settle_lost();
    } else {
      intended_.erase(std::string(name));
      memory_.intents.erase(std::string(name));
      memory_.steps[std::string(name)] = {value, step_mode::at_most_once};
      context_.watch.step_done(event(name));
    }
    return what;
  }
  return once(name, step_mode::at_least_once, value, [&] {
    return try_record({name, step_mode::at_least_once, took}, value);
  });
}

outcome held_run::try_step(std::string_view name, step_options options, body const& work,
                           std::string& value) {
  if (base::left_out("together")) {
    transact(context_, for_a_lease(context_, "first"), [&](db::session& session) {
      return write_step(session, {name, step_mode::tx, {}}, {}) ? decision::commit
                                                                : decision::rollback;
    });
  }
  for (;;) {
    std::optional<outcome> before;
    bool renewed = false;
    auto const sent = base::boot_clock::now();
    try {
      auto const decided = transact(context_, for_a_lease(context_, "step", options.level),
                                    [&](db::session& session) {
                                      if (!holder_) before = done_by_us(session, name, value);
                                      if (before) return decision::commit;
                                      return do_step(session, name, options, work, value, renewed);
                                    });
      if (before) return *before;
      if (decided == decision::rollback) return outcome::lost;
      if (renewed) holder_->renewed(sent);
      wrote();
      return outcome::done;
    } catch (lost_reply const&) {
      if (!holder_) continue;  // the next try looks for the record of this one
    }
    switch (resolve_step(name, value)) {
      case fate::had_committed: return outcome::done;
      case fate::lost: return outcome::lost;
      case fate::never_will: break;  // the whole transaction again, under the new epoch
    }
  }
}

decision held_run::do_step(db::session& session, std::string_view name, step_options options,
                           body const& work, std::string& value, bool& renewed, bool ours) {
  next_stamp();
  if (options.fence == fence_position::first &&
      !fenced(session, context_.sql["run.fence"],
              {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_})) {
    return decision::rollback;
  }
  if (holder_) holder_->set_step(*hand_, name);
  far_.reset();  // of an earlier step, or another try of this one
  auto const began = base::boot_clock::now();
  transaction tx(session, context_.user_sql,
                 "step '" + std::string(name) + "' of " + process() + " / " + key());
  {
    struct meanwhile {
      bool& set;
      explicit meanwhile(bool& flag) : set(flag) { set = true; }
      ~meanwhile() { set = false; }
    } const inside(in_body_);
    value = work(tx);
  }
  check_text("step '" + std::string(name) + "' returned a text", value);
  if (base::hit_failpoint("step.effect_done")) session.cut();
  if (options.fence != fence_position::first && !had_in_time(session)) return decision::rollback;
  // What is written now is seen when the step is done.
  if (holder_) holder_->set_step(*hand_, {});
  // In the application's own transaction the holder's row would stay locked until its end.
  renewed = (ours || context_.dialect.one_writer) && renew_with(session);
  finished_step const step{name, step_mode::tx, since(began)};
  if (base::left_out("together")) return decision::commit;
  bool const written = write_step(session, step, value);
  far_.reset();  // is older than what others say from here on
  return written ? decision::commit : decision::rollback;
}

template <class Execute>
db::table held_run::with_step(finished_step const& step, std::string_view value,
                              Execute const& execute) const {
  progress_values const far{holder_ ? holder_->progress_of(*hand_) : far_};
  return execute(
      {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_, step.name, value,
       number_of(step.mode),
       step.took ? daybook::value(std::int64_t{step.took->count()}) : daybook::value(nullptr),
       far.done(), far.total(), far.note()});
}

bool held_run::write_step(db::session& session, finished_step const& step,
                          std::string_view value) const {
  auto const wrote = with_step(step, value, [&](std::initializer_list<daybook::value> values) {
    return db::run(session, context_.sql["run.step"], values);
  });
  return wrote.affected == 1;
}

/// The clock is read before a row's lock is had, and where the one who had it rolls back it is not
/// read again. So a run with a deadline locks its row first: what is written next reads the clock
/// anew, and waits no more. False: the run is lost.
bool held_run::had_in_time(db::session& session) const {
  return !hand_->deadline ||
         fenced(session, context_.sql["run.fence"],
                {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_});
}

/// A run that another process holds: its fence is not ours to advance, so that after a lost reply
/// the same guarded transaction is run again, which is harmless when it looks for its own record
/// first. The fence comes before the look: it waits for the lost transaction.
std::optional<outcome> held_run::done_by_us(db::session& session, std::string_view name,
                                            std::string& value) const {
  bool const held = fenced(session, context_.sql["run.fence"],
                           {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_});
  auto const found = db::run(session, context_.sql["run.step_recorded"],
                             {process(), key(), identity_.number, name});
  if (found.size() == 0) return std::nullopt;
  std::string by;
  decode(found.row(0)[0], by);
  decode(found.row(0)[1], value);
  if (!held) session.confirm_seen();
  // Where it is the heir's record, the run was lost.
  return by == held_.uuid || held ? outcome::done : outcome::lost;
}

/// By the owner in one statement where that will do. `look`: it may be there already, by another
/// process that has our token, or by a try whose reply was lost and that may yet be carried out:
/// the step's name, which is there once, is that one's end then.
outcome held_run::try_record(finished_step const& step, std::string& value) {
  for (bool look = !holder_;;) {
    std::optional<outcome> before;
    next_stamp();
    try {
      if (!look && step.mode != step_mode::at_most_once && !hand_->deadline) {
        auto const written =
            with_step(step, value, [&](std::initializer_list<daybook::value> values) {
              return write(context_, for_a_lease(context_, "record"), context_.sql["run.step"],
                           values);
            });
        return wrote(written.affected == 1);
      }
      auto const decided =
          transact(context_, for_a_lease(context_, "record"), [&](db::session& session) {
            if (look) before = done_by_us(session, step.name, value);
            if (before) return decision::commit;
            if (!had_in_time(session) || !write_step(session, step, value))
              return decision::rollback;
            // Without it the run would count one intent too few, and end well while another is
            // open.
            if (step.mode == step_mode::at_most_once &&
                !fenced(session, context_.sql["run.forget_intent"],
                        {process(), key(), identity_.number, step.name})) {
              throw error(
                  {.kind = error_code::bad_argument},
                  "step '" + std::string(step.name) + "' of " + process() +
                      " is not intended any more: another process that has this attempt gave "
                      "it up, and it is not recorded");
            }
            return decision::commit;
          });
      if (before) return *before;
      return wrote(decided == decision::commit);
    } catch (lost_reply const&) {
      look = true;
    } catch (error const& e) {
      if (look || e.kind() != error_code::constraint) throw;
      look = true;
    }
  }
}

outcome held_run::carry(std::string_view name, std::string_view value) {
  context_.check_process();
  check_turn();
  check_name("name of a carried value", name);
  check_text("the carried value '" + std::string(name) + "'", value);
  settle_pending();
  if (!open_ || lost_) return outcome::lost;
  for (;;) {
    try {
      auto const decided =
          transact(context_, for_a_lease(context_, "carry"), [&](db::session& session) {
            next_stamp();
            return fenced(
                       session, context_.sql["run.carry"],
                       {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_, name, value})
                       ? decision::commit
                       : decision::rollback;
          });
      if (decided == decision::rollback) break;
      wrote();
      memory_.carried[std::string(name)] = value;
      return outcome::done;
    } catch (lost_reply const&) {
      if (!holder_) continue;  // writing the same value twice is harmless
    }
    // So it is for the owner; only that the fence goes on keeps the old one from coming late.
    if (resolve_written("carry") == fate::lost) break;
  }
  settle_lost();
  return outcome::lost;
}

std::optional<std::string> held_run::carried(std::string_view name) const {
  check_turn();
  auto const found = memory_.carried.find(name);
  if (found == memory_.carried.end()) return std::nullopt;
  return found->second;
}

void held_run::set_progress(std::int64_t done, std::int64_t total, std::string_view note) {
  context_.check_process();
  if (done < 0 || total < 0 || (total > 0 && done > total)) {
    throw error({.kind = error_code::bad_argument},
                "progress " + std::to_string(done) + " of " + std::to_string(total) + " of " +
                    process() + ": it goes from 0 to the total (0: the total is not known)");
  }
  progress how_far{done, total, base::bounded(note, longest_note)};
  std::replace_if(
      how_far.note.begin(), how_far.note.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  check_turn();
  if (!open_ || lost_) return;
  if (holder_) return holder_->set_progress(*hand_, std::move(how_far));
  if (in_body_) {
    // The step's own transaction has the run's row: it takes it along.
    far_ = std::move(how_far);
    return;
  }
  far_.reset();  // is older, and the next step would write it over this
  progress_values const far{std::move(how_far)};
  try {
    transact(context_, for_a_lease(context_, "progress"), [&](db::session& session) {
      return fenced(session, context_.sql["run.progress"],
                    {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_, far.done(),
                     far.total(), far.note()})
                 ? decision::commit
                 : decision::rollback;
    });
  } catch (lost_reply const&) {
    return;  // for people: the next one comes
  }
}

void held_run::set_step(std::string_view name) {
  context_.check_process();
  if (!name.empty()) check_name("step name", name);
  check_turn();
  if (open_ && !lost_ && holder_ && hand_->step != name) holder_->set_step(*hand_, name);
}

void held_run::keep(std::optional<int> exit_code, std::string_view output) {
  check_turn();
  exit_code_ = exit_code;
  auto const size = std::min(output.size(), longest_output);
  output_ = base::bounded(output.substr(output.size() - size), longest_output);
}

std::string held_run::token() const { return write_token(identity_, held_); }

std::string held_run::idempotency_key(std::string_view step) const {
  return base::digest({context_.book_id, process(), key(), std::to_string(identity_.number), step});
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
