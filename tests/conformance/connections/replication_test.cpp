// A COMMIT that waits for a synchronous standby, and whose wait is broken off: the primary has it,
// a fail-over may lose it. It counts as done when the standby has it, and not before.
#include "conformance/fixture.hpp"
#include "conformance/waiting.hpp"

#include <atomic>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>
#include <utility>

namespace conformance {
namespace {

class replication : public on_engine {
 protected:
  /// The server waits for a standby that is not there, while this lives. The administrator's own
  /// connection does not.
  class missing_standby {
   public:
    explicit missing_standby(std::string const& admin) : admin_(admin) {
      admin_.execute("set synchronous_commit = local");
      set("alter system set synchronous_standby_names = 'daybook_missing'", "daybook_missing");
      await_in_force(admin);
    }
    missing_standby(missing_standby const&) = delete;
    missing_standby& operator=(missing_standby const&) = delete;
    ~missing_standby() { none(); }

    void none() {
      if (std::exchange(set_, false)) {
        set("alter system reset synchronous_standby_names", "");
      }
    }
    /// The transactions that wait; empty: none does.
    std::string waiting() {
      return admin_.execute(
          "select coalesce(string_agg(pid || ' ' || xact_start, ','), '') from pg_stat_activity "
          "where wait_event = 'SyncRep'");
    }
    /// Breaks their waits off, as a person would.
    void cancel() {
      admin_.execute(
          "select count(pg_cancel_backend(pid)) from pg_stat_activity where wait_event = "
          "'SyncRep'");
    }

   private:
    /// The checkpointer puts the setting in force, a moment after sessions show it: until then a
    /// COMMIT waits for nobody. Commits until one waits.
    void await_in_force(std::string const& admin) {
      support::raw_connection probe(admin);
      auto const number = probe.execute("select pg_backend_pid()");
      std::atomic<bool> waited = false;
      auto const commits = std::async(std::launch::async, [&] {
        while (!waited) probe.execute("select pg_current_xact_id()");
      });
      EXPECT_TRUE(comes_true([&] {
        waited = admin_.execute(
                     "select count(*) from pg_stat_activity where wait_event = 'SyncRep' "
                     "and pid = " +
                     number) == "1";
        return waited.load();
      }));
      waited = true;  // also where it did not
      admin_.execute("select pg_cancel_backend(" + number + ")");
    }
    void set(std::string const& text, std::string const& until) {
      admin_.execute(text);
      admin_.execute("select pg_reload_conf()");
      set_ = !until.empty();
      EXPECT_TRUE(
          comes_true([&] { return admin_.execute("show synchronous_standby_names") == until; }));
    }

    support::raw_connection admin_;
    bool set_ = false;
  };
  [[nodiscard]] static std::string admin() { return std::getenv("DAYBOOK_TEST_POSTGRESQL_ADMIN"); }
  /// Breaks three waits off, one after the other: `what` must answer after none of them.
  template <class F>
  void is_done_when_the_standby_is_gone(F const& what) {
    std::future<void> coming;  // outlives the standby, whom it waits for
    missing_standby standby(admin());
    coming = std::async(std::launch::async, what);
    auto const answered = [&] { return coming.wait_for(0s) == std::future_status::ready; };
    std::string before, now;
    for (int at = 0; at < 3; ++at) {
      ASSERT_TRUE(comes_true([&] {
        now = standby.waiting();
        return answered() || (!now.empty() && now != before);
      }));
      ASSERT_FALSE(answered()) << "while the standby may not have it, after " << at;
      standby.cancel();
      before = now;
    }
    standby.none();
    coming.get();
  }
};

TEST_P(replication, a_step_is_done_when_the_standby_has_it) {
  if (!on_postgres()) return;
  auto run = taken(book_.start(nightly_, day_));
  is_done_when_the_standby_is_gone([&] { EXPECT_TRUE(run.step("one", insert("one"))); });
  EXPECT_EQ(effects("one"), "1");
  EXPECT_GE(log_.count("doubt_resolved step yes"), 1U);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(replication, so_are_records_ends_and_starts) {
  if (!on_postgres()) return;
  std::optional<daybook::run> run;
  is_done_when_the_standby_is_gone([&] { run = taken(book_.start(nightly_, day_)); });
  is_done_when_the_standby_is_gone([&] { EXPECT_TRUE(run->record("two")); });
  is_done_when_the_standby_is_gone([&] { EXPECT_TRUE(std::move(*run).finish()); });
  EXPECT_EQ(seen().info.state, run_state::succeeded);
}

TEST_P(replication, so_are_the_ends_of_tasks_and_what_people_ask_for) {
  if (!on_postgres()) return;
  auto q = book_.make_queue("calls");
  q.add(key("one"));
  auto batch = q.claim().value();
  batch.finish(batch.tasks()[0], daybook::result::success());
  is_done_when_the_standby_is_gone([&] { EXPECT_EQ(std::move(batch).complete(), outcome::done); });
  daybook::audit_note const anna{.actor = "anna", .reason = "once more"};
  is_done_when_the_standby_is_gone([&] { EXPECT_TRUE(q.retry(key("one"))); });
  EXPECT_EQ(database_.query("select count(*) from daybook_request"), "1");
  is_done_when_the_standby_is_gone(
      [&] { EXPECT_TRUE(q.ask(key("one"), daybook::task_request::retry, anna)); });
  is_done_when_the_standby_is_gone([&] { EXPECT_TRUE(q.set_priority(key("one"), 3, anna)); });
  EXPECT_EQ(q.changes(key("one")).size(), 2U);
}

TEST_P(replication, that_it_was_done_before_is_told_when_the_standby_has_it) {
  if (!on_postgres()) return;
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).finish());
  is_done_when_the_standby_is_gone([&] {
    EXPECT_EQ(book_.start(nightly_, day_, {.once = true}).why(), start_refusal::done_before);
  });
}

TEST_P(replication, the_doctor_sees_that_no_standby_is_there) {
  if (!on_postgres()) return;
  auto const found = [&](std::string const& name) {
    for (auto const& one : book_.doctor()) {
      if (one.name == name) return one.severity;
    }
    return daybook::severity::failed;
  };
  EXPECT_EQ(found("standbys connected"), daybook::severity::ok);
  missing_standby const standby(admin());
  EXPECT_EQ(found("standbys connected"), daybook::severity::warning);
  EXPECT_EQ(found("standbys waited for"), daybook::severity::ok);
}

DAYBOOK_ON_EVERY_ENGINE(replication);

}  // namespace
}  // namespace conformance
