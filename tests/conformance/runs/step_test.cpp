// Steps: done once, skipped afterwards, and what they carry.
#include "conformance/fixture.hpp"

#include <thread>

namespace conformance {
namespace {

class step : public on_engine {};

TEST_P(step, carries_integers_texts_and_nothing) {
  std::string const text = "ein \"Wert\" mit ' \\ % : ? $1 \n und ä 𝄞";
  auto const all = [&](daybook::run& run, outcome expected) {
    auto const none = run.step("none", insert("none"));
    EXPECT_EQ(none.what(), expected);
    auto const number = run.step("number", [](transaction&) { return std::int64_t{-1} << 62; });
    EXPECT_EQ(number.what(), expected);
    EXPECT_EQ(number.value(), std::int64_t{-1} << 62);
    auto const flag = run.step("flag", [](transaction&) { return true; });
    EXPECT_TRUE(flag.value());
    auto const words = run.step("text", [&](transaction&) { return text; });
    EXPECT_EQ(words.what(), expected);
    EXPECT_EQ(words.value(), text);
    auto const empty = run.step("empty", [](transaction&) { return std::string(); });
    EXPECT_EQ(empty.value(), "");
  };
  auto first = taken(book_.start(nightly_, day_));
  all(first, outcome::done);
  EXPECT_TRUE(std::move(first).fail("later"));
  auto second = taken(book_.start(nightly_, day_));
  all(second, outcome::skipped);
  EXPECT_TRUE(std::move(second).finish());
  EXPECT_EQ(effects("none"), "1");
}

TEST_P(step, that_took_longer_than_its_patience_is_tried_again) {
  auto book = database_.open(watched(1s));
  auto run = taken(book.start(nightly_, day_));
  int calls = 0;
  auto const what = run.step("long", [&](transaction& tx) {
    insert("long")(tx);
    if (++calls > 1) return;
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(400ms);  // less than a transaction may be idle
      tx.exec("update effect set name = 'long'");
    }
    throw daybook::error({.kind = error_code::conflict, .retryable = true},
                         "a deadlock, so to speak");
  });
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(effects("long"), "1");
}

TEST_P(step, a_long_text_is_carried_whole) {
  std::string const text(1'000'000, 'x');
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_TRUE(run.step("long", [&](transaction&) { return text; }));
  EXPECT_TRUE(std::move(run).release("next"));
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_EQ(next.step("long", [](transaction&) { return std::string(); }).value(), text);
}

TEST_P(step, carried_text_must_be_text_on_every_engine) {
  auto run = taken(book_.start(nightly_, day_));
  auto const carry = [&](std::string const& name, std::string const& text) {
    return fault_of([&] {
      static_cast<void>(run.step(name, [&](transaction& tx) {
        insert("bad")(tx);
        return text;
      }));
    });
  };
  EXPECT_EQ(carry("half", "\xc3"), error_code::bad_argument);
  EXPECT_EQ(carry("zero", std::string("a\0b", 3)), error_code::bad_argument);
  EXPECT_EQ(effects("bad"), "0");
  EXPECT_EQ(rows_of("step"), "0");
}

TEST_P(step, the_same_name_twice_in_one_attempt_is_an_error) {
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(run.step("load", insert("load")));
  auto const again = [&] { static_cast<void>(run.step("load", insert("load"))); };
  EXPECT_EQ(fault_of(again), error_code::bad_argument);
  EXPECT_NE(message_of(again).find("'load'"), std::string::npos);
  EXPECT_EQ(fault_of([&] { static_cast<void>(run.record("load")); }), error_code::bad_argument);
  EXPECT_EQ(effects("load"), "1");
  EXPECT_TRUE(run.step("next", insert("next")));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(step, what_the_body_throws_goes_through_after_a_rollback) {
  struct mine {
    int number;
  };
  auto run = taken(book_.start(nightly_, day_));
  try {
    static_cast<void>(run.step("load", [](transaction& tx) {
      insert("load")(tx);
      throw mine{7};
    }));
    FAIL();
  } catch (mine const& e) {
    EXPECT_EQ(e.number, 7);
  }
  EXPECT_EQ(effects("load"), "0");
  EXPECT_EQ(rows_of("step"), "0");
  EXPECT_FALSE(run.done("load"));
  EXPECT_TRUE(run.step("other", insert("other")));
  // Nothing of the step was there, so that the same attempt may try it again.
  EXPECT_EQ(run.step("load", insert("load")).what(), outcome::done);
  EXPECT_EQ(effects("load"), "1");
  EXPECT_TRUE(std::move(run).fail("as expected"));
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_EQ(next.step("load", insert("load")).what(), outcome::skipped);
  EXPECT_TRUE(next.done("other"));
  EXPECT_EQ(effects("load"), "1");
}

TEST_P(step, an_error_that_ends_the_transaction_cannot_be_caught_and_passed_over) {
  if (GetParam().name != "sqlite") return;  // the others refuse all that follows by themselves
  database_.execute("create table once_only(name varchar(40) primary key)");
  auto run = taken(book_.start(nightly_, day_));
  auto const body = [](transaction& tx) {
    insert("before")(tx);
    tx.exec("insert into once_only(name) values ('x')");
    try {
      tx.exec("insert or rollback into once_only(name) values ('x')");
    } catch (daybook::error const&) {
      insert("after")(tx);
    }
  };
  EXPECT_EQ(fault_of([&] { static_cast<void>(run.step("load", body)); }), error_code::statement);
  EXPECT_EQ(effects("before"), "0");
  EXPECT_EQ(effects("after"), "0");
  EXPECT_EQ(rows_of("step"), "0");
  EXPECT_TRUE(run.step("next", insert("next")));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(step, a_doubt_of_another_book_is_not_taken_for_ours) {
  auto run = taken(book_.start(nightly_, day_));
  int calls = 0;
  auto const body = [&](transaction& tx) {
    ++calls;
    insert("load")(tx);
    throw daybook::error({.kind = error_code::unreachable, .in_doubt = true}, "another's");
  };
  EXPECT_EQ(message_of([&] { static_cast<void>(run.step("load", body)); }), "another's");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(run.epoch(), 1);
  EXPECT_EQ(effects("load"), "0");
}

TEST_P(step, the_idempotency_key_is_the_books_own) {
  auto run = taken(book_.start(nightly_, day_));
  auto options = support::fresh_database::manual();
  options.prefix = "other_";
  auto other = database_.open(options);
  auto same = taken(other.start(nightly_, day_));
  EXPECT_NE(run.idempotency_key("mail"), same.idempotency_key("mail"));
  EXPECT_EQ(run.idempotency_key("mail"), run.idempotency_key("mail"));
}

TEST_P(step, a_run_dropped_by_an_exception_is_resumable) {
  EXPECT_THROW(
      {
        auto run = taken(book_.start(nightly_, day_));
        static_cast<void>(run.step("load", insert("load")));
        static_cast<void>(run.step("bad", [](transaction&) { throw std::logic_error("no"); }));
      },
      std::logic_error);
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_EQ(next.attempt(), 2);
  EXPECT_EQ(next.step("load", insert("load")).what(), outcome::skipped);
}

TEST_P(step, a_wrong_statement_is_an_error_of_the_user) {
  auto run = taken(book_.start(nightly_, day_));
  try {
    static_cast<void>(run.step("bad", [](transaction& tx) {
      insert("bad")(tx);
      tx.exec("insert into no_such_table(a) values (1)");
    }));
    FAIL();
  } catch (daybook::error const& e) {
    EXPECT_EQ(e.kind(), error_code::statement);
    EXPECT_EQ(e.statement(), "user");
    EXPECT_FALSE(e.retryable());
    EXPECT_FALSE(e.in_doubt());
  }
  EXPECT_EQ(effects("bad"), "0");
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(step, a_broken_rule_of_the_table_is_a_constraint) {
  auto run = taken(book_.start(nightly_, day_));
  auto const bad = [&] {
    static_cast<void>(run.step(
        "bad", [](transaction& tx) { tx.exec("insert into effect(name) values (:n)", nullptr); }));
  };
  EXPECT_EQ(fault_of(bad), error_code::constraint);
}

TEST_P(step, a_swallowed_error_does_not_leave_half_a_step) {
  auto run = taken(book_.start(nightly_, day_));
  bool done = false;
  try {
    done = static_cast<bool>(run.step("bad", [](transaction& tx) {
      insert("half")(tx);
      try {
        tx.exec("insert into no_such_table(a) values (1)");
      } catch (daybook::error const&) {
        return;  // a careless body
      }
    }));
  } catch (daybook::error const& e) {
    EXPECT_EQ(e.kind(), error_code::statement);
  }
  // PostgreSQL refuses what follows; the others have undone the one statement. Either way the
  // effect is there exactly when the record is.
  EXPECT_EQ(effects("half"), done ? "1" : "0");
  EXPECT_EQ(rows_of("step"), done ? "1" : "0");
}

TEST_P(step, effects_are_seen_inside_and_by_nobody_outside) {
  auto run = taken(book_.start(nightly_, day_));
  std::string outside;
  ASSERT_TRUE(run.step("load", [&](transaction& tx) {
    EXPECT_EQ(tx.exec("insert into effect(name) values (:a), (:b)", "x", "x"), 2);
    EXPECT_EQ(tx.rows<std::int64_t>("select count(*) from effect where name = 'x'").at(0), 2);
    EXPECT_EQ(tx.exec("update effect set name = name where name = 'x'"), 2);
    EXPECT_EQ(tx.exec("delete from effect where name = 'y'"), 0);
    outside = effects("x");
  }));
  EXPECT_EQ(outside, "0");
  EXPECT_EQ(effects("x"), "2");
}

TEST_P(step, record_is_a_step_without_a_body) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(run.record("mailed").what(), outcome::done);
  EXPECT_TRUE(run.done("mailed"));
  EXPECT_TRUE(std::move(run).fail("no"));
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_TRUE(next.done("mailed"));
  EXPECT_EQ(next.record("mailed").what(), outcome::skipped);
  EXPECT_EQ(next.step("again", insert("a")).what(), outcome::done);
}

TEST_P(step, another_process_records_under_the_same_attempt) {
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(run.step("load", insert("load")));
  auto other = database_.open();
  {
    auto attached = other.attach(run.token());
    ASSERT_TRUE(attached);
    EXPECT_EQ(attached->number(), 1);
    EXPECT_EQ(attached->attempt(), 1);
    EXPECT_TRUE(attached->done("load"));
    EXPECT_EQ(fault_of([&] { static_cast<void>(attached->record("load")); }),
              error_code::bad_argument)
        << "it was done in another mode";
    EXPECT_EQ(attached->record("child").what(), outcome::done);
  }
  auto second = other.attach(run.token());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->record("child").what(), outcome::skipped);
  EXPECT_TRUE(run.step("more", insert("more")));
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(rows_of("holder"), "1");
  ASSERT_EQ(seen().steps.size(), 3U);
  EXPECT_EQ(seen().steps[1].name, "child");
  EXPECT_EQ(fault_of([&] { static_cast<void>(other.attach("nonsense")); }),
            error_code::bad_argument);
}

TEST_P(step, idempotency_keys_are_the_same_for_every_attempt) {
  auto first = taken(book_.start(nightly_, day_));
  auto const load = first.idempotency_key("load");
  EXPECT_EQ(load.size(), 52U);
  EXPECT_NE(load, first.idempotency_key("other"));
  EXPECT_TRUE(std::move(first).fail("no"));
  auto second = taken(book_.start(nightly_, day_));
  EXPECT_EQ(second.idempotency_key("load"), load);
  EXPECT_TRUE(std::move(second).finish());
  EXPECT_NE(taken(book_.start(nightly_, day_)).idempotency_key("load"), load);
}

TEST_P(step, fence_first_does_the_same) {
  daybook::step_options const first{.fence = daybook::fence_position::first};
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(run.step("load", first, insert("load")).what(), outcome::done);
  ASSERT_TRUE(daybook::testing::expire(book_, nightly_, day_));
  auto other = database_.open();
  auto heir = taken(other.start(nightly_, day_));
  bool called = false;
  auto const late = run.step("late", first, [&](transaction&) { called = true; });
  EXPECT_EQ(late.what(), outcome::lost);
  EXPECT_FALSE(called);
}

DAYBOOK_ON_EVERY_ENGINE(step);

}  // namespace
}  // namespace conformance
