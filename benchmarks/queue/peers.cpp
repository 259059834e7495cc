#include "benchmarks/queue/child.hpp"
#include "benchmarks/queue/contestant.hpp"
#include "benchmarks/queue/pgq.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// One of peers/*.mjs, and how its tables are emptied and asked.
struct program {
  std::string name;
  std::string file;
  std::string drain;     ///< the verb
  std::string empty;     ///< SQL
  std::string done;      ///< SQL: how many are recorded as done; empty: it keeps no record
  std::string left;      ///< SQL: how many are left
  std::string enqueued;  ///< SQL
  bool several = true;   ///< as many processes as there are workers; else one, for two workers
  int batch = 1000;      ///< of the drains it takes part in
};

std::vector<program> programs() {
  std::string const jobs = "select count(*) from graphile_worker._private_jobs";
  std::string const pgboss = "select count(*) from pgboss.job";
  return {
      {"graphile-worker", "graphile.mjs", "drain",
       "truncate graphile_worker._private_jobs, graphile_worker._private_job_queues", "", jobs,
       jobs},
      {"graphile-worker plain", "graphile.mjs", "plain",
       "truncate graphile_worker._private_jobs, graphile_worker._private_job_queues", "", jobs,
       jobs, true, 1},
      {"pg-boss fetch", "pgboss.mjs", "drain", "truncate pgboss.job",
       pgboss + " where state = 'completed'", pgboss + " where state <> 'completed'", pgboss},
      {"pg-boss work", "pgboss.mjs", "work", "truncate pgboss.job",
       pgboss + " where state = 'completed'", pgboss + " where state <> 'completed'", pgboss,
       false},
  };
}

class peer final : public contestant {
 public:
  peer(support::engine const& on, program what, std::string folder)
      : contestant(what.name, on), what_(std::move(what)), folder_(std::move(folder)) {}

  [[nodiscard]] bool drains(int batch, int workers) const override {
    return batch == what_.batch && (what_.several || workers == 2);
  }

  void prepare(long tasks) override {
    constexpr long singly = 10'000;
    begin_anew();
    fill("import", what_.batch == 1 ? std::min(tasks, singly) : tasks);
    database().execute("vacuum analyze");
  }

  amount drain(order const& how) override {
    std::vector<std::unique_ptr<child>> all;
    for (int at = 0; at < (what_.several ? how.workers : 1); ++at) {
      all.push_back(start({what_.drain, std::to_string(how.most)}));
    }
    auto const began = clock::now();
    for (auto const& one : all) one->go();
    double tasks = 0;
    for (auto const& one : all) tasks += one->answer().at(0);
    auto const took = seconds_since(began);
    for (auto const& one : all) one->wait();
    return {took, static_cast<long>(tasks)};
  }

  void check(long done) override {
    if (number(what_.left) != 0) throw std::runtime_error(name() + " left tasks");
    if (!what_.done.empty() && number(what_.done) != done) {
      throw std::runtime_error(name() + " did not do every task once");
    }
  }

  std::optional<amount> enqueue_singly(long tasks, int producers) override {
    if (what_.file != "graphile.mjs") return std::nullopt;
    return enqueued("singly", tasks, {std::to_string(producers)});
  }
  std::optional<amount> enqueue_unique(long tasks) override { return enqueued("unique", tasks); }
  std::optional<amount> enqueue_import(long tasks) override { return enqueued("import", tasks); }

  std::optional<delay> start_delay(int samples, double gap_ms) override {
    if (what_.drain != "drain") return std::nullopt;
    begin_anew();
    auto const one = start({"delay", std::to_string(samples), std::to_string(gap_ms)});
    one->go();
    auto const found = one->answer();
    one->wait();
    return delay{found.at(0), found.at(1)};
  }

  bool idle(std::function<void()> const& meanwhile) override {
    if (what_.drain != "drain" && what_.several) return false;
    begin_anew();
    auto const one = start({"idle"});
    meanwhile();
    one->go();
    one->answer();
    one->wait();
    return true;
  }

 private:
  std::unique_ptr<child> start(std::vector<std::string> const& verb) {
    std::vector<std::string> words{folder_ + "/node_modules/node/bin/node",
                                   folder_ + "/" + what_.file};
    words.insert(words.end(), verb.begin(), verb.end());
    return std::make_unique<child>(words, database().url());
  }

  void begin_anew() {
    if (!ready_) {
      auto const one = start({"setup"});
      one->go();
      one->answer();
      one->wait();
      ready_ = true;
    }
    database().execute(what_.empty);
  }

  double fill(std::string const& verb, long tasks, std::vector<std::string> const& more = {}) {
    std::vector<std::string> words{verb, std::to_string(tasks)};
    words.insert(words.end(), more.begin(), more.end());
    auto const one = start(words);
    auto const began = clock::now();
    one->go();
    one->answer();
    auto const took = seconds_since(began);
    one->wait();
    if (number(what_.enqueued) != tasks) {
      throw std::runtime_error(name() + ": not every task was enqueued");
    }
    return took;
  }

  std::optional<amount> enqueued(std::string const& verb, long tasks,
                                 std::vector<std::string> const& more = {}) {
    if (what_.drain != "drain") return std::nullopt;
    begin_anew();
    return amount{fill(verb, tasks, more), tasks};
  }

  [[nodiscard]] long number(std::string const& query) const {
    return std::stol(database().query(query));
  }

  program what_;
  std::string folder_;
  bool ready_ = false;
};

}  // namespace

contestants peer_contestants(support::engine const& on, std::string const& folder) {
  contestants out;
  if (on.name != "postgresql" || folder.empty()) return out;
  auto const here = std::filesystem::absolute(folder).string();
  for (auto const& one : programs()) {
    if (!std::filesystem::exists(here + "/" + one.file)) {
      throw std::runtime_error(here + " holds no peers: benchmarks/peers/install " + here);
    }
    out.push_back(std::make_unique<peer>(on, one, here));
  }
  out.push_back(pgq_contestant(on));
  return out;
}

}  // namespace bench
