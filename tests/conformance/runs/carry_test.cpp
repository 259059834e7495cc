// What a run keeps beside its steps: values, progress, the date of its data, the end of its
// output.
#include "conformance/fixture.hpp"

#include "base/failpoint.hpp"

namespace conformance {
namespace {

using std::chrono::year_month_day;

constexpr year_month_day saturday{std::chrono::year{2026}, std::chrono::November,
                                  std::chrono::day{21}};
constexpr year_month_day sunday{std::chrono::year{2026}, std::chrono::November,
                                std::chrono::day{22}};

class carrying : public on_engine {
 protected:
  carrying() : other_(database_.open()), clock_(book_) {}
  daybook::book other_;
  daybook::testing::manual_clock clock_;
};

TEST_P(carrying, goes_from_step_to_step_and_attempt_to_attempt) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_FALSE(run.stored_value("cursor"));
  EXPECT_TRUE(run.set_value("cursor", R"({"page": 1})"));
  EXPECT_TRUE(run.set_value("cursor", R"({"page": 2})"));
  EXPECT_TRUE(run.set_value("empty", ""));
  EXPECT_EQ(run.stored_value("cursor"), R"({"page": 2})");
  EXPECT_TRUE(std::move(run).fail("later"));
  auto next = taken(other_.start(nightly_, day_));
  EXPECT_EQ(next.stored_value("cursor"), R"({"page": 2})");
  EXPECT_EQ(next.stored_value("empty"), "");
  EXPECT_FALSE(next.stored_value("nothing"));
  EXPECT_EQ(seen().values.size(), 2U);
  EXPECT_TRUE(std::move(next).finish());
  EXPECT_FALSE(taken(other_.start(nightly_, day_)).stored_value("cursor")) << "a fresh run";
}

TEST_P(carrying, is_fenced) {
  auto run = taken(book_.start(nightly_, day_));
  clock_.advance(1h);
  auto heir = taken(other_.start(nightly_, day_));
  EXPECT_TRUE(heir.set_value("cursor", "heir"));
  EXPECT_EQ(run.set_value("cursor", "zombie").what(), outcome::lost);
  EXPECT_EQ(seen().values.at(0).value, "heir");
  EXPECT_EQ(run.set_value("more", "zombie").what(), outcome::lost);
  EXPECT_EQ(seen().values.size(), 1U);
}

TEST_P(carrying, refuses_what_cannot_be_read_back) {
  auto run = taken(book_.start(nightly_, day_));
  std::string const large(1 + (1 << 20), 'x');
  EXPECT_EQ(fault_of([&] { static_cast<void>(run.set_value("a", large)); }),
            error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { static_cast<void>(run.set_value("a", std::string("\0", 1))); }),
            error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { static_cast<void>(run.set_value("a", "\xff")); }),
            error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { static_cast<void>(run.set_value("", "x")); }), error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { static_cast<void>(run.record("a", large)); }), error_code::bad_argument);
  EXPECT_TRUE(run.set_value("a", large.substr(1)));
  EXPECT_EQ(seen().values.at(0).value.size(), large.size() - 1);
}

TEST_P(carrying, survives_a_lost_reply) {
  for (std::string const failpoint : {"carry.before_commit", "carry.committed"}) {
    for (bool const helper : {false, true}) {
      key const piece{failpoint + (helper ? " helper" : "")};
      auto run = taken(book_.start(nightly_, piece));
      auto attached = other_.attach(run.token()).value();
      daybook::testing::arm(failpoint, failpoint_action::cut);
      EXPECT_TRUE((helper ? attached : run).set_value("a", "b"));
      EXPECT_FALSE(daybook::base::failpoint_armed);
      EXPECT_EQ(seen(piece).values.at(0).value, "b");
      EXPECT_TRUE(std::move(run).finish());
    }
  }
}

TEST_P(carrying, progress_is_seen_through_the_renewal_and_kept_by_the_end) {
  auto run = taken(book_.start(nightly_, day_));
  run.progress(3, 10, "third\nfile");
  EXPECT_FALSE(seen().info.progress) << "it costs no statement of its own";
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  ASSERT_TRUE(seen().info.progress);
  EXPECT_EQ(seen().info.progress->done, 3);
  EXPECT_EQ(seen().info.progress->total, 10);
  EXPECT_EQ(seen().info.progress->note, "third file");
  run.progress(9);
  EXPECT_TRUE(std::move(run).fail("no"));
  EXPECT_EQ(seen().info.progress->done, 9);
  EXPECT_EQ(seen().info.progress->total, 0);
  EXPECT_EQ(seen().info.progress->note, "");
}

TEST_P(carrying, progress_and_the_step_in_hand_outlive_a_process_that_dies) {
  std::optional<daybook::run> heir;
  auto run = taken(book_.start(nightly_, day_));
  auto const sent = run.at_least_once("send", [&](daybook::effect const&) {
    run.progress(1, 2);
    ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
    EXPECT_EQ(seen().info.holder->in_hand, "send");
    EXPECT_GE(seen().info.holder->in_hand_since, seen().info.attempt_started - 1s);
    clock_.advance(1h);
    heir.emplace(taken(other_.start(nightly_, day_)));
  });
  EXPECT_EQ(sent.what(), outcome::lost);
  EXPECT_EQ(seen().info.progress->done, 1);
  EXPECT_EQ(seen().attempts.at(0).in_hand, "send");
}

TEST_P(carrying, progress_of_a_helper_process_is_written_at_once) {
  auto run = taken(book_.start(nightly_, day_));
  auto helper = other_.attach(run.token()).value();
  helper.progress(1, 2, "half");
  EXPECT_EQ(seen().info.progress->note, "half");
}

TEST_P(carrying, progress_beyond_its_total_is_refused) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(fault_of([&] { run.progress(11, 10); }), error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { run.progress(-1, 10); }), error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { run.progress(1, -1); }), error_code::bad_argument);
  run.progress(10, 10);
  run.progress(11);
}

TEST_P(carrying, a_fresh_run_begins_without_progress) {
  auto run = taken(book_.start(nightly_, day_));
  run.progress(10, 10);
  EXPECT_TRUE(std::move(run).finish());
  auto const next = taken(book_.start(nightly_, day_));
  EXPECT_FALSE(seen().info.progress);
}

TEST_P(carrying, the_date_of_the_data_stays_with_the_run) {
  auto run = taken(book_.start(nightly_, day_, {.date = saturday}));
  EXPECT_EQ(run.date(), saturday);
  EXPECT_EQ(seen().info.date, saturday);
  EXPECT_EQ(other_.attach(run.token())->date(), saturday);
  EXPECT_TRUE(std::move(run).fail("later"));
  EXPECT_EQ(book_.start(nightly_, day_, {.date = sunday}).why(), start_refusal::other_date);
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_EQ(next.date(), saturday);
  EXPECT_TRUE(std::move(next).fail("later"));
  auto fresh = taken(book_.start(nightly_, day_, {.restart = true, .date = sunday}));
  EXPECT_EQ(fresh.date(), sunday);
  EXPECT_TRUE(std::move(fresh).finish());
  EXPECT_FALSE(taken(book_.start(nightly_, day_)).date());
}

TEST_P(carrying, a_date_must_be_one_of_the_calendar) {
  year_month_day const never{std::chrono::year{2026}, std::chrono::February, std::chrono::day{30}};
  EXPECT_EQ(fault_of([&] { static_cast<void>(book_.start(nightly_, day_, {.date = never})); }),
            error_code::bad_argument);
}

TEST_P(carrying, the_end_of_the_output_is_kept_and_made_text) {
  auto run = taken(book_.start(nightly_, day_));
  run.keep(7, std::string(20000, 'a') + "\xff\x00z");
  EXPECT_TRUE(std::move(run).fail("exit status 7"));
  auto const last = seen().attempts.at(0);
  EXPECT_EQ(last.exit_code, 7);
  EXPECT_LE(last.output.size(), 8192U);
  EXPECT_TRUE(last.output.ends_with("a?")) << last.output.substr(last.output.size() - 5);
}

DAYBOOK_ON_EVERY_ENGINE(carrying);

}  // namespace
}  // namespace conformance
