// daybook::handed: tasks in hand that are finished in the transaction of their effect.
#include "base/limits.hpp"
#include "queue/claims/share.hpp"
#include "queue/fetch/hand.hpp"

#include <daybook/adopt.hpp>
#include <daybook/error.hpp>
#include <daybook/task_fetcher.hpp>
#include <daybook/transaction.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {

class claimed_task::together {
  /// Tasks of one claim.
  struct mates {
    queues::hand* from = nullptr;
    std::vector<claimed_task*> who = {};
    std::vector<daybook::task const*> tasks = {};
  };

 public:
  explicit together(std::span<claimed_task* const> all) {
    if (all.empty()) base::refuse_argument("no task is given that the effect would finish");
    for (auto* const one : all) {
      one->check_open();
      auto const is_mine = [&](mates const& m) { return m.from == one->claim_.get(); };
      auto found = std::find_if(claims_.begin(), claims_.end(), is_mine);
      if (found == claims_.end()) found = claims_.insert(found, {.from = one->claim_.get()});
      found->who.push_back(one);
      found->tasks.push_back(&one->task());
    }
    for (auto const& one : claims_) {
      if (&one.from->of->of() != &claims_.front().from->of->of()) {
        base::refuse_argument(
            "tasks that are finished together are of one queue, and of one hand-out");
      }
    }
  }

  /// Leaves those whose claim is known to be lost. False: there are none.
  bool leave_lost() {
    bool any = false;
    for (auto& one : claims_) {
      if (!one.from->from->gone(*one.from)) continue;
      any = true;
      end(one, true);
    }
    return any;
  }

  outcome perform(std::function<void(transaction&)> const& body) {
    auto shares = all_shares();
    auto const became = queues::perform(shares, body);
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      if (became == outcome::done || shares[i].lost()) end(claims_[i], became != outcome::done);
    }
    return became;
  }

  bool write(db::session& session) {
    auto shares = all_shares();
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      if (!shares[i].write(session)) {
        end(claims_[i], true);
        return false;
      }
      for (auto* const one : claims_[i].who) one->in_theirs_ = true;
      shares[i].leave();
    }
    return true;
  }

  [[nodiscard]] queues::store const& queue() const { return claims_.front().from->of->of(); }

 private:
  std::vector<queues::share> all_shares() {
    std::vector<queues::share> out;
    out.reserve(claims_.size());
    for (auto const& one : claims_) out.emplace_back(*one.from->of, one.tasks);
    return out;
  }
  static void end(mates const& mates, bool lost) {
    for (auto* const one : mates.who) one->leave(lost);
  }

  std::vector<mates> claims_;
};

outcome claimed_task::perform(std::span<claimed_task* const> all,
                              std::function<void(transaction&)> const& body) {
  together tasks(all);
  return tasks.leave_lost() ? outcome::lost : tasks.perform(body);
}

bool claimed_task::finish_in(external_transaction& yours, std::span<claimed_task* const> all) {
  together tasks(all);
  if (yours.book_id() != tasks.queue().with().book_id) {
    base::refuse_argument("the transaction was joined for another book than that of queue '" +
                          tasks.queue().name() + "'");
  }
  return !tasks.leave_lost() && tasks.write(yours.internals());
}

outcome claimed_task::perform(std::function<void(transaction&)> const& body) {
  auto* const only = this;
  return perform(std::span(&only, 1), body);
}

bool claimed_task::finish_in(external_transaction& yours) {
  auto* const only = this;
  return finish_in(yours, std::span(&only, 1));
}

}  // namespace v1
}  // namespace daybook
