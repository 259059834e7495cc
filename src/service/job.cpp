// daybook::job and job_batch: what handlers call.
#include "service/running_handler.hpp"

#include <daybook/adopt.hpp>
#include <daybook/error.hpp>
#include <daybook/job.hpp>
#include <daybook/transaction.hpp>

#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {

namespace {

void count(work::running_handler const& handler, outcome became,
           result::kind kind = result::kind::success) {
  if (became == outcome::lost) {
    handler.counts().lost();
  } else {
    handler.counts().ended(kind);
  }
}

}  // namespace

std::stop_token job::stopping() const noexcept { return inside_->stopping(); }
stop_reason job::why() const noexcept { return inside_->why(); }

outcome job::begin() {
  auto const became = task_->begin();
  if (became == outcome::lost) inside_->counts().lost();
  return became;
}

outcome job::perform(std::function<void(transaction&)> const& body) {
  auto const became = task_->perform(body);
  count(*inside_, became);
  return became;
}

bool job::finish_in(external_transaction& yours) {
  bool const ours = task_->finish_in(yours);
  count(*inside_, ours ? outcome::done : outcome::lost);
  return ours;
}

void job::hand_back() {
  task_->hand_back();
  inside_->counts().handed_back();
}

std::stop_token job_batch::stopping() const noexcept { return inside_->stopping(); }
stop_reason job_batch::why() const noexcept { return inside_->why(); }

claimed_task& job_batch::at(std::size_t place) const {
  if (place < all_.size()) return all_[place];
  throw error({.kind = error_code::bad_argument},
              "there is no task " + std::to_string(place) + " in a batch of " +
                  std::to_string(all_.size()) + ": they are numbered from 0");
}

task const& job_batch::task(std::size_t place) const { return at(place).task(); }
bool job_batch::finished(std::size_t place) const { return at(place).finished(); }
std::string job_batch::idempotency_key(std::size_t place) const {
  return at(place).idempotency_key();
}

outcome job_batch::begin(std::size_t place) {
  auto const became = at(place).begin();
  if (became == outcome::lost) inside_->counts().lost();
  return became;
}

void job_batch::finish(std::size_t place, result result) {
  auto const what = result.what();
  count(*inside_, at(place).finish(std::move(result)), what);
}

void job_batch::hand_back(std::size_t place) {
  at(place).hand_back();
  inside_->counts().handed_back();
}

void job_batch::hand_back_rest() {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!finished(i)) hand_back(i);
  }
}

std::vector<claimed_task*> job_batch::open() const {
  std::vector<claimed_task*> out;
  for (auto& one : all_) {
    if (!one.finished()) out.push_back(&one);
  }
  return out;
}

outcome job_batch::perform(std::function<void(transaction&)> const& body) {
  auto const mine = open();
  auto const became = claimed_task::perform(mine, body);
  for (auto const* const one : mine) {
    if (one->finished()) count(*inside_, became);
  }
  return became;
}

bool job_batch::finish_in(external_transaction& yours) {
  auto const mine = open();
  bool const ours = claimed_task::finish_in(yours, mine);
  for (auto const* const one : mine) {
    if (one->finished()) count(*inside_, ours ? outcome::done : outcome::lost);
  }
  return ours;
}

}  // namespace v1
}  // namespace daybook
