// A table whose rows are swept, for the suites about that.
#pragma once

#include "conformance/people.hpp"
#include "conformance/watching.hpp"

#include <daybook/planner.hpp>
#include <daybook/sweep.hpp>

#include <string>
#include <vector>

namespace conformance {

using daybook::check_decision;
using daybook::pass_report;
using daybook::planner;
using daybook::row_key;
using daybook::sweep_state;
using daybook::sweep_strategy;
using daybook::task_state;

class swept : public watching {
 protected:
  swept() : work_(book_.make_queue("pages", {.attempts = 1})) {
    database_.execute("create table item(id bigint not null primary key, done int not null)" +
                      innodb());
  }
  planner make(sweep_strategy const& how) {
    return book_.make_planner("all", {.queue = "pages", .strategy = how});
  }
  planner make(int page = 100) { return make({.table = "item", .page = page}); }
  /// Rows FROM, FROM + BY, ...
  void rows(int count, int from = 1, int by = 1) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      all += (all.empty() ? "(" : ",(") + std::to_string(from + i * by) + ",0)";
    }
    database_.execute("insert into item(id, done) values " + all);
  }
  /// Works on the pages that are due; how many tasks there were.
  int work(planner& of, daybook::queue& from) {
    int count = 0;
    while (auto batch = from.claim({.limit = 10})) {
      for (auto const& task : batch->tasks()) {
        ++count;
        auto const page = of.page(key(task.key));
        if (!page) {
          ended_.push_back(task.key);
          batch->finish(task, daybook::result::success());
          continue;
        }
        EXPECT_EQ(page->perform(*batch, task,
                                [](transaction& tx, std::vector<row_key> const& present) {
                                  for (auto const& one : present) {
                                    tx.exec("update item set done = done + 1 where id = :id",
                                            std::stoll(one.at(0)));
                                  }
                                }),
                  outcome::done);
      }
      EXPECT_EQ(std::move(*batch).complete(), outcome::done);
    }
    return count;
  }
  int work(planner& of) { return work(of, work_); }
  /// Passes and works until the sweep is over; how many passes.
  int finish(planner& of) {
    for (int passes = 1; passes < 50; ++passes) {
      of.pass();
      work(of);
      if (of.sweeps(1).at(0).state == sweep_state::over) return passes;
    }
    ADD_FAILURE() << "it does not end";
    return 0;
  }
  void expect_all_once() const {
    EXPECT_EQ(database_.query("select count(*) from item where done <> 1"), "0");
  }

  daybook::queue work_;
  std::vector<std::string> ended_;  ///< the last tasks of sweeps
};

}  // namespace conformance
