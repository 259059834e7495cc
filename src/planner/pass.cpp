// A pass: a run, and its pages, each a step of that; and a preview, which undoes them.
#include "base/limits.hpp"
#include "core/run/run.hpp"
#include "core/tx/transact.hpp"
#include "planner/strategy.hpp"

#include <daybook/error.hpp>
#include <daybook/transaction.hpp>

#include <exception>
#include <set>
#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

/// The run is another's by now.
error lost_to_another(store const& store) {
  return error({.kind = error_code::conflict},
               "plan '" + store.declared().name +
                   "': the pass was taken over by another; what it launched stays");
}

class pass final : public sink {
 public:
  pass(store const& store, run held, pass_options const& options, pass_report& sum)
      : store_(store),
        held_(std::move(held)),
        options_(options),
        sum_(sum),
        launches_(store.with(), store.declared(), store.into(), options_.check) {}

  bool take(std::vector<candidate> page, beside_page const& also) override {
    if (options_.stop.stop_requested()) return false;
    auto const all = distinct(std::move(page));
    auto const first = store_.into().reserve(static_cast<std::int64_t>(all.size()));
    page_sum part;
    std::vector<decision> decisions;
    step([&](transaction& tx) {
      auto mine = all;  // the checks may change them, each time anew
      decisions = launches_.decide(tx, mine);
      part = launches_.write(tx.internals(), mine, decisions, first);
      if (also) also(tx.internals(), decisions);
    });
    launches_.written(all, decisions);
    sum_.seen += static_cast<std::int64_t>(all.size());
    sum_.launched += part.launched;
    sum_.refused += part.refused;
    sum_.present += part.present;
    held_.progress(sum_.seen);
    if (options_.on_progress) options_.on_progress(sum_);
    return !options_.stop.stop_requested();
  }

  void fail(std::string_view /*key*/, std::string_view /*why*/) override {
    ++sum_.seen;
    ++sum_.failed;
  }

  bool write(std::function<void(db::session&)> const& body) override {
    if (options_.stop.stop_requested()) return false;
    step([&](transaction& tx) { body(tx.internals()); });
    return true;
  }

  [[nodiscard]] std::stop_token stopping() const override { return options_.stop; }
  [[nodiscard]] bool only_looks() const noexcept override { return false; }

  /// Its end, in the transaction that ends its run.
  void ends(std::int64_t began_us) {
    auto const write = [this, began_us, number = held_.number()](
                           db::session& session, run_state state, std::string_view why) {
      if (state == run_state::interrupted) return;
      auto const& with = store_.with();
      db::run(session, with.sql["planner.passed"],
              {store_.declared().id, began_us,
               state == run_state::succeeded ? std::string_view() : why});
      // They say which pages there were, to an attempt that goes on with this run.
      db::run(session, with.sql["planner.forget_steps"],
              {std::string_view(store_.process_name()), key().str(), number});
    };
    held_.internals().ends_with({.write = write});
  }

  void finish() {
    if (!std::move(held_).finish()) throw lost_to_another(store_);
  }
  void fail(std::string_view why) { static_cast<void>(std::move(held_).fail(why)); }
  void release() { static_cast<void>(std::move(held_).release("asked to stop")); }

 private:
  void step(std::function<void(transaction&)> const& body) {
    // An attempt that goes on has other pages than the one before.
    auto const name = std::to_string(held_.attempt()) + "." + std::to_string(++pages_);
    auto const done = held_.step(name, [&](transaction& tx) { body(tx); });
    if (done.what() != outcome::done) throw lost_to_another(store_);
  }

  store const& store_;
  run held_;
  pass_options const& options_;
  pass_report& sum_;
  launcher launches_;
  std::int64_t pages_ = 0;
};

class looking final : public sink {
 public:
  looking(store const& store, std::size_t limit, launch_check const& check)
      : store_(store),
        limit_(limit),
        launches_(store.with(), store.declared(), store.into(), check) {}

  bool take(std::vector<candidate> page, beside_page const& /*also*/) override {
    auto const all = distinct(std::move(page));
    std::vector<plan_preview> part;
    core::transact(store_.with(), {.name = "preview"}, [&](db::session& session) {
      part.clear();
      auto mine = all;
      transaction tx(session, store_.with().user_sql,
                     "the preview of plan '" + store_.declared().name + "'");
      auto const what = launches_.decide(tx, mine);
      for (std::size_t i = 0; i < mine.size(); ++i) {
        if (what[i].what == decision::kind::pass_over) continue;
        part.push_back({mine[i].key.str(), what[i].what != decision::kind::refuse, what[i].why});
      }
      return core::decision::rollback;
    });
    for (auto& one : part) {
      if (found_.size() < limit_ && seen_.insert(one.key).second) found_.push_back(std::move(one));
    }
    return found_.size() < limit_;
  }

  void fail(std::string_view key, std::string_view why) override {
    if (found_.size() < limit_) found_.push_back({std::string(key), false, std::string(why)});
  }

  bool write(std::function<void(db::session&)> const& /*body*/) override { return true; }
  [[nodiscard]] std::stop_token stopping() const override { return {}; }
  [[nodiscard]] bool only_looks() const noexcept override { return true; }
  [[nodiscard]] std::vector<plan_preview> found() && { return std::move(found_); }

 private:
  store const& store_;
  std::size_t limit_;
  launcher launches_;
  std::vector<plan_preview> found_;
  std::set<std::string> seen_;  ///< their keys: a query may give one in several pages
};

bool feed_any(store const& store, sink& sink) {
  return std::visit([&](auto const& how) { return feed(store, how, sink); },
                    store.declared().options.strategy);
}

}  // namespace

pass_report store::pass(pass_options const& options) const {
  with().check_process();
  need_own_sql();  // before the run: a node that declares it so goes on
  pass_report sum;
  auto attempt = around_.runs->start(process(process_name()), {}, {});
  if (!attempt) {
    sum.holder = attempt.holder();
    return sum;
  }
  sum.ran = true;
  auto held = std::move(attempt).take();
  // As it stays until the end of the run: what that rests on is changed under the same one.
  auto const now = this->now();
  now->need_own_sql();
  planners::pass mine(*now, std::move(held), options, sum);
  mine.ends(now->declared().now_us);
  try {
    sum.complete = feed_any(*now, mine);
  } catch (std::exception const& e) {
    mine.fail(e.what());
    throw;
  }
  if (!sum.complete && options.stop.stop_requested()) {
    mine.release();
  } else {
    mine.finish();
  }
  return sum;
}

std::vector<plan_preview> store::preview(int limit, launch_check const& check) const {
  with().check_process();
  base::limits("plan", definition_.name).between("the number of keys (limit)", limit, 1, 10'000);
  auto const now = this->now();
  now->need_own_sql();
  looking mine(*now, static_cast<std::size_t>(limit), check);
  feed_any(*now, mine);
  return std::move(mine).found();
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
