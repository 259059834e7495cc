// Aggregations where nothing stands still: rows that come in, and parents that others close, while
// rows are gathered.
#include "conformance/aggregating.hpp"
#include "conformance/waiting.hpp"

#include <atomic>
#include <functional>
#include <thread>

namespace conformance {
namespace {

class gathered_in_flow : public aggregating {
 protected:
  static aggregation_options small_chunks() {
    auto out = options();
    out.chunk = 2;
    return out;
  }
  /// After each chunk as many rows come in as were taken, for a good while.
  [[nodiscard]] daybook::aggregate_options amid_new_rows() {
    return {.stop = stop_.get_token(), .on_progress = [this](auto const& so_far) {
              move({{101, 100}, {102, 100}});
              if (so_far.chunks == 50) stop_.request_stop();
            }};
  }

  /// Rows of one group that others take, one by one, into a parent that they close each time.
  void many_of_theirs(int worker) {
    std::string sql = "insert into t_move_brick (move_no, worker_id, move_num, status) values ";
    for (int i = 0; i < 1000; ++i) {
      sql += (i == 0 ? "('T" : ", ('T") + std::to_string(i) + "', " + std::to_string(worker) +
             ", 7, 1)";
    }
    database_.execute(sql);
  }
  /// On PostgreSQL the rows are read and taken in one statement: it shall take its time.
  void slow_down(int worker) {
    if (!on_postgres()) return;
    database_.execute(
        "create function naps() returns trigger language plpgsql as $$ begin if new.worker_id = " +
        std::to_string(worker) + " then perform pg_sleep(0.5); end if; return new; end $$");
    database_.execute(
        "create trigger naps before update on t_move_brick for each row execute function naps()");
  }
  void nap_at_every_update() {
    if (on_mariadb()) {
      return database_.execute(
          "create trigger naps before update on t_move_brick for each row do sleep(6.5)");
    }
    database_.execute(
        "create function naps() returns trigger language plpgsql as $$ begin "
        "perform pg_sleep(6.5); return new; end $$");
    database_.execute(
        "create trigger naps before update on t_move_brick for each row execute function naps()");
  }
  /// Makes keys, which it does in the midst of a chunk; waits there until something has happened,
  /// or seems to wait for the chunk.
  [[nodiscard]] auto keys_after(std::function<bool()> happened) {
    return [this, happened = std::move(happened)](auto const&) {
      int const most = on_sqlite() ? 1 : 200;  // there, they do wait
      for (int tries = 0; tries < most && !happened(); ++tries) std::this_thread::sleep_for(10ms);
      return "K" + std::to_string(++keys_);
    };
  }

 private:
  std::stop_source stop_;
  int keys_ = 0;
};

TEST_P(gathered_in_flow, it_ends_although_rows_come_in_as_fast_as_it_takes_them) {
  auto pay = declared(small_chunks());
  move({{101, 1}, {102, 1}, {101, 1}, {103, 1}, {101, 1}, {102, 1}});
  auto const done = pay.aggregate(amid_new_rows());
  EXPECT_TRUE(done.complete);
  EXPECT_EQ(done.rows, 6);
  EXPECT_EQ(pay.aggregate().rows, 6);
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_in_flow, what_was_free_before_the_place_where_it_came_in_is_taken_too) {
  auto pay = declared(small_chunks());
  move({{101, 1}, {102, 1}, {101, 1}, {103, 1}, {104, 1}, {105, 1}});
  std::stop_source stop;
  pay.aggregate({.stop = stop.get_token(), .on_progress = [&](auto const& so_far) {
                   if (so_far.rows == 4) stop.request_stop();
                 }});
  pay.revert(pay_of(101), alice);
  pay.revert(pay_of(102), alice);
  pay.revert(pay_of(103), alice);
  // The fifth and the sixth, then the first to the fourth; others take what comes in.
  auto const done = pay.aggregate(amid_new_rows());
  EXPECT_TRUE(done.complete);
  EXPECT_EQ(done.rows, 6);
  EXPECT_EQ(bricks("status = 1 and move_num = 1"), "0");
  EXPECT_EQ(database_.query("select position from daybook_aggregation"), "6");
  EXPECT_EQ(pay.aggregate().rows, 6);
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_in_flow, what_was_free_before_it_is_taken_in_the_next_pass_where_none_come_in) {
  auto pay = declared(small_chunks());
  move({{101, 1}, {102, 1}, {103, 1}, {104, 1}});
  std::stop_source stop;
  pay.aggregate(
      {.stop = stop.get_token(), .on_progress = [&](auto const&) { stop.request_stop(); }});
  pay.revert(pay_of(101), alice);
  EXPECT_EQ(pay.aggregate().rows, 3);
  EXPECT_EQ(bricks("status = 1"), "0");
}

// Two who lock the same parents in different orders wait for each other until the server ends one
// of them, a second later on PostgreSQL.
TEST_P(gathered_in_flow, parents_are_locked_in_the_order_of_their_keys) {
  if (on_sqlite()) return;  // one writer: there are no locks of rows
  auto pay = declared();
  int times = 0;
  auto const of_each = [&] {
    std::string sql = "insert into t_move_brick (move_no, worker_id, move_num, status) values ";
    for (int worker = 1; worker <= 2000; ++worker) {
      sql += (worker == 1 ? "('L" : ", ('L") + std::to_string(times * 10'000 + worker) + "', " +
             std::to_string(worker) + ", 1, 1)";
    }
    database_.execute(sql);
    ++times;
  };
  of_each();
  pay.aggregate();
  auto const key_at = [&](int place) {
    return database_.query("select pay_no from t_move_pay order by pay_no limit 1 offset " +
                           std::to_string(place));
  };
  // PostgreSQL reads this table whole, for it takes those that are added to for fewer than there
  // are; and they stand in it from the last to the first.
  if (on_postgres()) {
    database_.execute("create index from_the_last on t_move_pay (pay_no desc)");
    database_.execute("cluster t_move_pay using from_the_last");
  }
  database_.execute(on_postgres() ? "analyze t_move_pay" : "analyze table t_move_pay");
  of_each();
  support::raw_connection theirs(direct_url());
  theirs.execute("begin");
  theirs.execute("select pay_no from t_move_pay where pay_no = '" + key_at(1000) + "' for update");
  std::jthread gathers([&] { EXPECT_EQ(pay.aggregate().rows, 2000); });
  EXPECT_TRUE(comes_true(lock_waits()));
  support::raw_connection other(direct_url());
  other.execute("begin");
  EXPECT_EQ(other.execute("select count(*) from (select pay_no from t_move_pay for update skip "
                          "locked) as p"),
            "999");
  EXPECT_EQ(other.execute("select min(pay_no) from (select pay_no from t_move_pay for update skip "
                          "locked) as p"),
            key_at(1001));
  other.execute("rollback");
  theirs.execute("rollback");
  gathers.join();
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_in_flow, parents_that_others_close_and_make_all_the_time_are_added_to) {
  auto theirs = small_chunks();
  theirs.chunk = 1;
  theirs.source.filter = "move_num = 7";
  many_of_theirs(101);
  auto others = declared(theirs);
  auto const close_and_make = [&] {
    for (auto const& one : others.parents({.state = std::int64_t{1}})) {
      if (one.group == "101") others.close(one.key, alice);
    }
    std::stop_source stop;
    others.aggregate(
        {.stop = stop.get_token(), .on_progress = [&](auto const&) { stop.request_stop(); }});
  };
  close_and_make();
  move({{101, 1}, {102, 2}});
  slow_down(102);
  std::atomic<int> times = 0;
  std::jthread closer([&](std::stop_token const& over) {
    for (; !over.stop_requested(); ++times) close_and_make();
  });
  auto options = aggregating::options();
  options.source.filter = "move_num <> 7";
  int before = 0;
  options.key_of = [&, wait = keys_after([&] { return times > before + 1; })](auto const& group) {
    before = times;
    return wait(group);
  };
  auto const done = database_.open().make_aggregation("pay", options).aggregate();
  closer.request_stop();
  closer.join();
  EXPECT_EQ(done.rows, 2);
  EXPECT_THAT(refused(done), IsEmpty());
  EXPECT_THAT(wrong(others), IsEmpty());
}

TEST_P(gathered_in_flow, rows_that_come_in_among_those_that_are_taken_are_no_hindrance) {
  auto options = aggregating::options();
  options.source.key = "move_no";
  for (int worker = 209; worker < 260; ++worker) move({{worker, 1}});
  declared(options).aggregate();
  move({{209, 1}, {102, 2}});
  database_.execute("update t_move_brick set move_no = 'N01' where id = 52");
  database_.execute("update t_move_brick set move_no = 'N99' where id = 53");
  std::atomic<int> asked = 10;
  std::atomic<int> come = 10;
  std::jthread inserter([&](std::stop_token const& over) {
    while (!over.stop_requested()) {
      if (come == asked || come == 60) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      auto const number = std::to_string(come);
      try {
        database_.execute(
            "insert into t_move_brick (move_no, worker_id, move_num, status) values ('N" + number +
            "', 2" + number + ", 3, 1)");
      } catch (std::runtime_error const&) {
        continue;  // the server ended it for another's sake
      }
      ++come;
    }
  });
  options.key_of = [&, wait = keys_after([&] { return come == asked; })](auto const& group) {
    ++asked;
    return wait(group);
  };
  auto const done = declared(options).aggregate();
  inserter.request_stop();
  inserter.join();
  EXPECT_GE(done.rows, 2);
  EXPECT_THAT(refused(done), IsEmpty());
  EXPECT_EQ(bricks("status = 1 and move_no in ('N01', 'N99')"), "0");
  EXPECT_THAT(wrong(declared(options)), IsEmpty());
}

TEST_P(gathered_in_flow, a_parent_that_another_makes_at_the_same_time_is_added_to) {
  if (on_sqlite()) return;  // one writer: nobody comes between
  move({{101, 1}, {102, 2}, {101, 4}, {103, 8}});
  auto other = database_.open();
  auto theirs = other.make_aggregation("pay", small_chunks());
  std::stop_source one_chunk;
  daybook::aggregate_options const just_one{
      .stop = one_chunk.get_token(), .on_progress = [&](auto const&) { one_chunk.request_stop(); }};
  auto options = small_chunks();
  int made = 0;
  options.key_of = [&](auto const&) {
    if (made == 0) {
      EXPECT_EQ(theirs.aggregate(just_one).rows, 2);
    }
    return "K" + std::to_string(++made);
  };
  auto const done = declared(options).aggregate();
  EXPECT_EQ(done.rows, 2);
  EXPECT_EQ(done.parents, 1) << "that of 102";
  EXPECT_EQ(made, 2);
  EXPECT_EQ(log_.count("retried aggregate"), 0U);
  EXPECT_THAT(pays(),
              ElementsAre("101: 2 rows, 5, money 15, status 1", "102: 1 rows, 2, money 6, status 1",
                          "103: 1 rows, 8, money 24, status 1"));
  EXPECT_THAT(wrong(theirs), IsEmpty());
}

/// Of a table of the application's nobody knows how large it is.
TEST_P(gathered_in_flow, what_reads_or_writes_the_table_is_given_its_time) {
  if (on_sqlite()) return;  // in this process
  auto short_of_time = watched();
  short_of_time.connect_timeout = 2500ms;
  short_of_time.lease = 3s;  // so long a transaction may be idle
  auto book = database_.open(short_of_time);
  move({{101, 1}, {102, 2}});
  auto pay = book.make_aggregation("pay", options());
  pay.aggregate();
  auto const settled = pay_of(101);
  auto const reverted = pay_of(102);
  nap_at_every_update();
  auto const before = std::chrono::steady_clock::now();
  pay.close(settled, alice);
  pay.settle(settled, alice);
  pay.revert(reverted, alice);
  EXPECT_GT(std::chrono::steady_clock::now() - before, 10s) << "two naps";

  auto slowly = options();
  slowly.source.filter = on_mariadb() ? "sleep(6.5) = 0" : "pg_sleep(6.5)::text = ''";
  EXPECT_EQ(book.make_aggregation("slowly", slowly).preview().size(), 1U);
  EXPECT_EQ(log_.count("retried"), 0U);
}

DAYBOOK_ON_EVERY_ENGINE(gathered_in_flow);

}  // namespace
}  // namespace conformance
