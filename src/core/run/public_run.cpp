// daybook::run and daybook::started: thin over core::held_run.
#include "core/run/run.hpp"

#include <daybook/adopt.hpp>
#include <daybook/error.hpp>
#include <daybook/run.hpp>

#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {

namespace {

core::held_run& present(std::shared_ptr<core::held_run> const& held) {
  if (held) return *held;
  throw error({.kind = error_code::bad_argument},
              "there is no run in this object: it was moved from, or spent by finish(joined&) or "
              "take_back(); use the object that has it now");
}

std::string reason_of(start_refusal why, std::optional<lease_holder> const& holder) {
  switch (why) {
    case start_refusal::running_elsewhere:
      return (holder ? "process " + std::to_string(holder->pid) + " on " + holder->node
                     : std::string("another holder")) +
             " has it; try again when that has ended";
    case start_refusal::done_before:
      return "it was done before, and start_options::once is set; book::restart() does it again";
    case start_refusal::unknown_outcome:
      return "the outcome of an at-most-once step is not known; book::resolve() settles it";
    case start_refusal::other_date:
      return "its unfinished run works on the data of another date; give that date, or "
             "start_options::restart";
  }
  return "?";
}

}  // namespace

core::held_run& run::held() const { return present(held_); }
core::held_run& pending_end::held() const { return present(held_); }

run::run(std::unique_ptr<core::held_run> held) noexcept : held_(std::move(held)) {}
run::run(run&&) noexcept = default;
run& run::operator=(run&&) noexcept = default;
run::~run() = default;

outcome run::do_step(std::string_view name, step_options options, encoded_body const& body,
                     std::string& carried_value) {
  return held().step(name, options, body, carried_value);
}

outcome run::do_joined(external_transaction& yours, std::string_view name, encoded_body const& body,
                       std::string& carried_value) {
  return held().step_in(yours.internals(), yours.book_id(), name, body, carried_value);
}
commit_outcome run::confirm() { return held().confirm(); }
commit_outcome run::resolve() { return held().resolve(); }
pending_end run::finish(external_transaction& yours) && {
  auto const accepted = held().end_in(yours.internals(), yours.book_id(), run_state::succeeded);
  return {std::move(held_), accepted};
}

pending_end::pending_end(std::shared_ptr<core::held_run> held, outcome accepted) noexcept
    : held_(std::move(held)), accepted_(accepted) {}
pending_end::pending_end(pending_end&&) noexcept = default;
pending_end& pending_end::operator=(pending_end&&) noexcept = default;
pending_end::~pending_end() = default;
commit_outcome pending_end::confirm() {
  if (accepted_ == outcome::done) return held().confirm();
  return accepted_ == outcome::lost ? commit_outcome::lost : commit_outcome::rolled_back;
}
commit_outcome pending_end::resolve() {
  return accepted_ == outcome::done ? held().resolve() : confirm();
}
run pending_end::take_back() && {
  static_cast<void>(held());
  return run(std::move(held_));
}

outcome run::do_at_least_once(std::string_view name, encoded_effect const& body,
                              std::string& text) {
  return held().at_least_once(name, body, text);
}

outcome run::do_at_most_once(std::string_view name, encoded_effect const& body,
                             encoded_probe const& probe, std::string& text) {
  return held().at_most_once(name, body, probe, text);
}

step_result<void> run::record(std::string_view name, std::string_view text,
                              std::optional<std::chrono::microseconds> took) {
  return step_result<void>(held().record(name, text, took));
}
step_result<void> run::intend(std::string_view name) {
  return step_result<void>(held().intend(name));
}
step_result<void> run::abandon(std::string_view name) {
  return step_result<void>(held().abandon(name));
}
step_result<void> run::set_value(std::string_view name, std::string_view text) {
  return step_result<void>(held().carry(name, text));
}
std::optional<std::string> run::stored_value(std::string_view name) const {
  return held().carried(name);
}
std::optional<step_mode> run::mode_of(std::string_view step) const { return held().mode_of(step); }
std::optional<std::string> run::value(std::string_view step) const { return held().value(step); }
void run::step_in_hand(std::string_view name) { held().set_step(name); }

void run::progress(std::int64_t done, std::int64_t total, std::string_view note) {
  held().set_progress(done, total, note);
}
void run::keep(std::optional<int> exit_code, std::string_view output) {
  held().keep(exit_code, output);
}

bool run::done(std::string_view name) const { return held().done(name); }

end_result run::finish() && { return end_result(held().end(run_state::succeeded, {})); }

end_result run::fail(std::string_view why) && {
  return end_result(held().end(run_state::failed, why));
}

end_result run::release(std::string_view why) && {
  return end_result(held().end(run_state::interrupted, why));
}

process const& run::process_name() const { return held().identity().process; }
key const& run::run_key() const { return held().identity().key; }
std::int64_t run::number() const { return held().identity().number; }
std::int64_t run::attempt() const { return held().identity().attempt; }
std::int64_t run::epoch() const {
  held().check_turn();
  return held().held().epoch;
}
std::stop_token run::stop() const { return held().stop(); }
std::optional<std::chrono::year_month_day> run::date() const { return held().identity().date; }
std::optional<std::chrono::microseconds> run::time_left() const {
  return held().identity().time_left;
}
std::string run::token() const {
  held().check_turn();
  return held().token();
}
std::string run::idempotency_key(std::string_view step) const {
  return held().idempotency_key(step);
}

start_result::start_result(run held) : run_(std::move(held)) {}
start_result::start_result(process const& name, key const& run_key, start_refusal why,
                           std::optional<lease_holder> holder)
    : asked_(name.str() + " / " + run_key.str()), why_(why), holder_(std::move(holder)) {}

run start_result::take() && {
  if (run_) return std::move(*run_);
  throw error({.kind = error_code::bad_argument},
              "the start of " + asked_ + " was refused, there is no run to take: " +
                  reason_of(why_, holder_) + ". Test the answer before take()");
}

start_refusal start_result::why() const {
  if (!run_) return why_;
  throw error({.kind = error_code::bad_argument},
              "the start was granted: why() is for an answer that is false");
}

}  // namespace v1
}  // namespace daybook
