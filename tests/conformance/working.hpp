// What the suites of nodes that work queues share.
#pragma once

#include "conformance/handing.hpp"

#include <daybook/node.hpp>

#include <mutex>
#include <set>
#include <string>

namespace conformance {

using daybook::job;
using daybook::job_batch;
using daybook::node;
using daybook::result;
using daybook::stop_reason;
using daybook::task_state;
using daybook::work_options;

class working : public handing {
 protected:
  static work_options quickly(int threads = 2) { return {.threads = threads, .claims = quick()}; }
  static result succeed(job&) { return result::success(); }
  /// Until it is asked to stop; a test that would hang fails.
  template <class J>
  static stop_reason asked(J const& by) {
    EXPECT_TRUE(comes_true([&] { return by.stopping().stop_requested(); }));
    return by.why();
  }
  std::string remark_of(daybook::queue const& of, std::string const& name) {
    return of.find(key(name)).value().remark;
  }
  void saw(std::string const& what) {
    std::lock_guard const lock(guard_);
    seen_.insert(what);
  }
  std::size_t seen() {
    std::lock_guard const lock(guard_);
    return seen_.size();
  }

  std::mutex guard_;
  std::multiset<std::string> seen_;
};

}  // namespace conformance
