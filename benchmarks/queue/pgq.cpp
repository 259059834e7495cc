#include "benchmarks/queue/pgq.hpp"

#include "benchmarks/queue/postgres_link.hpp"
#include "benchmarks/queue/tasks.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bench {

namespace {

std::string admin_url(std::string const& database_url) {
  char const* const found = std::getenv("DAYBOOK_TEST_POSTGRESQL_ADMIN");
  if (found == nullptr) throw std::runtime_error("DAYBOOK_TEST_POSTGRESQL_ADMIN is not set");
  std::string const admin = found;
  return admin.substr(0, admin.rfind('/')) + database_url.substr(database_url.rfind('/'));
}

class pgq final : public contestant {
 public:
  explicit pgq(support::engine const& on) : contestant("PgQ", on) {}

  /// Its batches are its ticks, of a thousand; a consumer reads one after the other.
  [[nodiscard]] bool drains(int batch, int workers) const override {
    return batch == 1000 && workers == 1;
  }

  void prepare(long tasks) override {
    begin_anew();
    insert(tasks);
    seen_ = std::make_unique<tally>(tasks);
  }

  amount drain(order const&) override {
    postgres_link on(database().url());
    on.prepare("next", "select pgq.next_batch('task', 'bench')");
    on.prepare("events", "select ev_extra1::bigint, ev_data from pgq.get_batch_events($1)");
    on.prepare("finish", "select pgq.finish_batch($1)");
    auto const start = std::chrono::steady_clock::now();
    long done = 0;
    for (;;) {
      on.text("begin");
      auto const next = on.run("next", {});
      if (PQgetisnull(next.get(), 0, 0) != 0) break;
      auto const batch = std::to_string(big(next.get(), 0, 0));
      auto const events = on.run("events", {batch});
      for (int at = 0; at < PQntuples(events.get()); ++at) {
        seen_->see(static_cast<long>(big(events.get(), at, 0)), words(events.get(), at, 1));
      }
      done += PQntuples(events.get());
      on.run("finish", {batch});
      on.text("commit");
    }
    on.text("rollback");
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    return {took.count(), done};
  }

  /// `drain` has read every event once, or there were fewer than were asked for.
  void check(long) override {}

  std::optional<amount> enqueue_singly(long tasks, int producers) override {
    begin_anew();
    std::atomic<long> next = 1;
    auto const start = std::chrono::steady_clock::now();
    std::vector<std::jthread> all;
    for (int at = 0; at < producers; ++at) {
      all.emplace_back([&] {
        postgres_link on(database().url());
        on.prepare("insert", "select pgq.insert_event('task', 'invoice', " +
                                 sql_payload("postgresql") +
                                 ", i::text, null, null, null) from (select $1::bigint i) one");
        for (long id = next++; id <= tasks; id = next++) on.run("insert", {std::to_string(id)});
      });
    }
    all.clear();
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    return amount{took.count(), tasks};
  }

  std::optional<amount> enqueue_import(long tasks) override {
    begin_anew();
    return insert(tasks);
  }

 private:
  void begin_anew() {
    postgres_link admin(admin_url(database().url()));
    admin.text("create extension if not exists pgq");
    admin.text("grant pgq_admin to daybook");
    admin.text("select pgq.drop_queue(queue_name, true) from pgq.get_queue_info()");
    admin.text("select pgq.create_queue('task')");
    admin.text("select pgq.set_queue_config('task', 'ticker_max_count', '1')");
    admin.text("select pgq.set_queue_config('task', 'ticker_max_lag', '0')");
    admin.text("select pgq.register_consumer('task', 'bench')");
  }

  amount insert(long tasks) {
    postgres_link on(database().url());
    on.prepare("insert",
               "select count(pgq.insert_event('task', 'invoice', " + sql_payload("postgresql") +
                   ", i::text, null, null, null)) from generate_series($1::bigint, $2::bigint) i");
    on.prepare("tick", "select pgq.ticker('task')");
    auto const start = std::chrono::steady_clock::now();
    for (long from = 1; from <= tasks; from += 1000) {
      on.run("insert", {std::to_string(from), std::to_string(std::min(from + 999, tasks))});
      on.run("tick", {});
    }
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    return {took.count(), tasks};
  }

  std::unique_ptr<tally> seen_;
};

}  // namespace

std::unique_ptr<contestant> pgq_contestant(support::engine const& on) {
  return std::make_unique<pgq>(on);
}

}  // namespace bench
