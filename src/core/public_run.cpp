// daybook::run and daybook::started: thin over core::held_run.
#include "core/run.hpp"

#include <daybook/run.hpp>

#include <cassert>
#include <utility>

namespace daybook {
inline namespace v1 {

run::run(std::unique_ptr<core::held_run> held) noexcept : held_(std::move(held)) {}
run::run(run&&) noexcept = default;
run& run::operator=(run&&) noexcept = default;
run::~run() = default;

outcome run::do_step(std::string_view name, step_options options, encoded_body const& body,
                     std::string& carried_value) {
  return held_->step(name, options, body, carried_value);
}

stepped<void> run::record(std::string_view name) { return stepped<void>(held_->record(name)); }

bool run::done(std::string_view name) const { return held_->done(name); }

ended run::finish() && { return ended(held_->end(run_state::succeeded, {})); }

ended run::fail(std::string_view why) && { return ended(held_->end(run_state::failed, why)); }

ended run::release(std::string_view why) && {
  return ended(held_->end(run_state::interrupted, why));
}

process const& run::process_name() const noexcept { return held_->identity().process; }
key const& run::run_key() const noexcept { return held_->identity().key; }
std::int64_t run::number() const noexcept { return held_->identity().number; }
std::int64_t run::attempt() const noexcept { return held_->identity().attempt; }
std::int64_t run::epoch() const noexcept { return held_->held().epoch; }
std::stop_token run::stop() const noexcept { return held_->stop(); }
std::string run::token() const { return held_->token(); }
std::string run::idempotency_key(std::string_view step) const {
  return held_->idempotency_key(step);
}

started::started(run held) : run_(std::move(held)) {}
started::started(refusal why, std::optional<occupant> holder)
    : why_(why), holder_(std::move(holder)) {}

run started::take() && {
  assert(run_);
  return std::move(*run_);
}

refusal started::why() const {
  assert(!run_);
  return why_;
}

}  // namespace v1
}  // namespace daybook
