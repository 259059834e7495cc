// A look at a large book: which indexes it reads by.
#include "conformance/book/catalogue.hpp"

namespace conformance {
namespace {

class looks : public catalogue {};

/// Rows of 10 000 runs that have ended, a hundredth of them not well; `make` writes one.
template <class Make>
std::string ten_thousand(Make const& make) {
  std::string out;
  for (int i = 0; i < 10'000; ++i) {
    auto const number = std::to_string(i);
    out += (i == 0 ? "(" : ", (") + make(number, i % 100 == 0 ? "-1" : "0") + ")";
  }
  return out;
}

TEST_P(looks, a_look_at_the_book_reads_no_table_whole) {
  if (GetParam().name == "pgbouncer") return;  // as in claim_plan
  auto options = watched();
  options.movable_clock = false;
  options.prefix = "real_";
  auto book = database_.open(options);
  auto q = book.make_queue("stock", {.segment = 1});
  fill(q, 5000);
  database_.execute(
      "insert into real_run (process, run_key, run_no, epoch, version, attempt, steps_done, state, "
      "acquisition, holder, error, first_started_us, started_us, attempt_started_us, ended_us) "
      "values " +
      ten_thousand([](auto const& number, auto const* state) {
        return "'p" + number.substr(number.size() - 1) + "', 'k" + number + "', 1, 1, 1, 1, 0, " +
               state + ", 'a', 'h', '', " + number + ", " + number + ", " + number + ", " + number;
      }));
  database_.execute(
      "insert into real_attempt (process, run_key, epoch, run_no, attempt, acquisition, holder, "
      "started_us, ended_us, state, error) values " +
      ten_thousand([](auto const& number, auto const* state) {
        return "'p" + number.substr(number.size() - 1) + "', 'k" + number + "', 1, 1, 1, 'a', " +
               "'h', " + number + ", " + number + ", " + state + ", ''";
      }));
  for (auto const* table : {"real_run", "real_attempt", "real_segment"}) {
    database_.execute((on_mariadb() ? "analyze table " : "analyze ") + std::string(table));
  }
  auto with = samples{};
  with.numbers = {{"limit", 200}};
  with.by_room = {{"queue. limit", "200"}};
  auto const in = book.internals().ready();
  auto const how = explain();
  daybook::core::read(in, 5s, [&](daybook::db::session& on) {
    for (auto const* name : {"inspect.status", "inspect.open_runs", "queue.stuck", "queue.due"}) {
      auto const looked = accesses(explained(on, how, in.sql[name].parts[0].what, with));
      EXPECT_FALSE(looked.empty()) << name;
      for (auto const& one : looked) {
        bool const by_index = one.find("Index") != one.npos || one.find(" by ") != one.npos ||
                              one.find("USING") != one.npos;
        bool const large = one.find("real_run") != one.npos || one.find("real_att") != one.npos ||
                           one.find("real_segment") != one.npos || one.starts_with("r ") ||
                           one.starts_with("SCAN r");
        // MariaDB has no index of the few segments that wait for a person.
        bool const few = on_mariadb() && std::string(name) == "queue.stuck";
        EXPECT_TRUE(by_index || !large || few) << name << ": " << one;
      }
    }
  });
}

DAYBOOK_ON_EVERY_ENGINE(looks);

}  // namespace
}  // namespace conformance
