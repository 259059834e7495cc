// The story that paying out comes from: what was gathered is paid by a bank that no transaction
// reaches, and whoever pays dies at every point there is: killed, cut from the database, refused by
// it. Each payment must be made once, of what its rows say, and be settled with them. The bank
// drops what it has seen before; that it is asked twice, at times, is what makes this a test.
//   story_pay --engine postgresql
#define main pay_workers_main
#include "../../../examples/pay_workers.cpp"
#undef main

#include "proof/torture/child.hpp"
#include "support/engines.hpp"

#include <daybook/testing.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace story {
namespace {

namespace fs = std::filesystem;
using std::chrono_literals::operator""s;

/// So often the same point is passed in one run: once for each payment.
constexpr int most_skips = 3;

struct counts {
  int died = 0;
  int payments = 0;
  int asked_again = 0;
};

std::string text_of(fs::path const& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string tables_of(std::string_view url) {
  std::string_view const dialect = url.starts_with("sqlite")     ? "sqlite"
                                   : url.starts_with("postgres") ? "postgres"
                                                                 : "mysql";
  return text_of(fs::path(EXAMPLES) / "pay" / (std::string(dialect) + ".sql"));
}

/// Each statement for itself: a line that ends with a semicolon ends one.
void make_tables(support::raw_connection& on, std::string const& script) {
  for (std::size_t at = 0; at < script.size();) {
    auto const end = std::min(script.find(";\n", at), script.size());
    auto const one = script.substr(at, end - at);
    if (one.find_first_not_of(" \n") != std::string::npos) on.execute(one);
    at = end + 2;
  }
}

/// The points that a payer may pass.
std::vector<std::string> points() {
  using daybook::testing::failpoint_room;
  std::set<std::string_view> others{"migrate.begun", "migrate.before_commit", "migrate.committed"};
  for (auto const room :
       {failpoint_room::queues, failpoint_room::schedules, failpoint_room::intakes}) {
    auto const names = daybook::testing::failpoints(room);
    others.insert(names.begin(), names.end());
  }
  std::vector<std::string> out;
  for (auto const one : daybook::testing::failpoints()) {
    if (!others.contains(one)) out.emplace_back(one);
  }
  return out;
}

class payday {
 public:
  explicit payday(support::engine const& on)
      : database_(on),
        folder_(fs::temp_directory_path() / ("daybook_pay_" + std::to_string(::getpid()))),
        book_(database_.url()),
        on_(database_.url()) {
    book_.migrate();
    make_tables(on_, tables_of(database_.url()));
  }
  ~payday() { fs::remove_all(folder_); }

  /// Payers that die at a point, the first, second and third time they pass it; then one that does
  /// not.
  void die_at(std::string const& point, std::string const& how) {
    for (int skip = 0; skip < most_skips; ++skip) {
      more_bricks();
      auto const end = pay({{"DAYBOOK_FAILPOINT", point + "=" + how + ":" + std::to_string(skip)}});
      if (end.what == torture::child::state::exited && end.code == 0) break;
      ++seen_.died;
      // As a person would who does not want to wait for the lease.
      book_.release(daybook::process{"pay-workers"}, daybook::key{},
                    {.actor = "story", .reason = "died"});
      if (auto const again = pay({});
          again.what != torture::child::state::exited || again.code != 0) {
        throw std::runtime_error("after " + point + "=" + how + " the next one " + again.text());
      }
    }
    look(point + "=" + how);
  }

  [[nodiscard]] counts seen() {
    std::map<std::string, int> calls;
    std::ifstream in(folder_ / "calls");
    for (std::string key; in >> key;) ++calls[key];
    for (auto const& [key, times] : calls) seen_.asked_again += times - 1;
    seen_.payments = static_cast<int>(calls.size());
    return seen_;
  }

 private:
  torture::child::change pay(torture::environment const& more) {
    torture::child one({"/proc/self/exe", "pay", database_.url(), folder_.string()}, more);
    return one.wait(60s);
  }

  void more_bricks() {
    std::string values;
    for (int worker = 101; worker <= 103; ++worker) {
      ++moves_;
      values += (values.empty() ? "" : ", ") + ("('M" + std::to_string(moves_)) + "', " +
                std::to_string(worker) + ", " + std::to_string(moves_ % 90 + 1) + ", 1)";
    }
    on_.execute("insert into t_move_brick (move_no, worker_id, move_num, status) values " + values);
  }

  [[nodiscard]] std::string one_of(std::string const& query) { return on_.execute(query); }

  void expect(std::string const& what, std::string const& wanted, std::string const& found) {
    if (wanted == found) return;
    throw std::runtime_error(what + ": " + found + " and not " + wanted);
  }

  /// Everything is paid and settled, and the bank has given out what was carried, worker by worker.
  void look(std::string const& after) {
    expect(after + ": rows not settled", "0",
           one_of("select count(*) from t_move_brick where status <> 3"));
    expect(after + ": payments not settled", "0",
           one_of("select count(*) from t_move_pay where status <> 3"));
    std::map<std::string, std::int64_t> given;
    int orders = 0;
    for (auto const& one : fs::directory_iterator(folder_)) {
      if (one.path().extension() != ".order") continue;
      ++orders;
      std::ifstream in(one.path());
      std::string worker;
      std::int64_t cents = 0;
      in >> worker >> cents;
      given[worker] += cents;
    }
    expect(after + ": orders", one_of("select count(*) from t_move_pay"), std::to_string(orders));
    for (auto const& [worker, cents] : given) {
      expect(after + ": what " + worker + " got",
             one_of("select 12 * sum(move_num) from t_move_brick where worker_id = " + worker),
             std::to_string(cents));
    }
    auto pay = declare(book_);
    expect(after + ": differences", "0", std::to_string(pay.verify().differences.size()));
  }

  support::fresh_database database_;
  fs::path folder_;
  daybook::book book_;
  support::raw_connection on_;
  int moves_ = 0;
  counts seen_;
};

int tell(support::engine const& on) {
  payday day(on);
  for (auto const& point : points()) {
    for (auto const* how : {"kill", "cut", "fail"}) day.die_at(point, how);
  }
  auto const seen = day.seen();
  std::printf(
      "%-11s %d payers died, %d payments, each made once; the bank was asked %d times more\n",
      on.name.c_str(), seen.died, seen.payments, seen.asked_again);
  return seen.died > 0 && seen.asked_again > 0 ? 0 : 1;
}

int main_of(std::vector<std::string> const& words) {
  if (words.size() != 2 || words[0] != "--engine") {
    throw std::runtime_error("story_pay --engine NAME");
  }
  for (auto const& on : support::engines()) {
    if (on.name == words[1]) return tell(on);
  }
  throw std::runtime_error("no engine is named " + words[1]);
}

}  // namespace
}  // namespace story

int main(int count, char** words) try {
  if (count == 4 && std::string_view(words[1]) == "pay") {
    daybook::testing::arm_from_environment();
    return pay_workers_main(count - 1, words + 1);
  }
  return story::main_of({words + 1, words + count});
} catch (std::exception const& e) {
  std::fprintf(stderr, "story_pay: %s\n", e.what());
  return 70;
}
