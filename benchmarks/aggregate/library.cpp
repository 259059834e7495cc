#include "benchmarks/aggregate/gatherers.hpp"
#include "proof/stories/pay.hpp"

#include <daybook/book.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// A name for each turn: what is open belongs to tables that are gone.
int turn = 0;
std::string name_of_turn() { return "pay " + std::to_string(turn); }

daybook::aggregation_options options(int chunk) {
  auto out = bricks::declared(chunk);
  out.parent.opening.clear();
  out.parent.following.clear();
  return out;
}

template <class F>
double least_of_three(F const& what) {
  double out = 1e12;
  for (int at = 0; at < 3; ++at) {
    auto const start = clock::now();
    what();
    out = std::min(out, seconds_since(start));
  }
  return out;
}

/// As undoing one pay is written by hand.
std::string undo_text(std::string const& pay) {
  return "begin; update t_move_pay set status = 4, move_count = 0, move_sum = 0 where pay_no = '" +
         pay +
         "' and status = 1; update t_move_brick set status = 1, pay_no = '' where pay_no = '" +
         pay + "' and status = 2; commit";
}

}  // namespace

amount library(field& in, order const& how) {
  ++turn;
  auto const name = name_of_turn();
  std::vector<std::function<long()>> jobs;
  for (int at = 0; at < how.aggregators; ++at) {
    auto book = std::make_shared<daybook::book>(in.url(), daybook::book_options{.connections = 2});
    if (at == 0) book->migrate();
    auto const pay =
        std::make_shared<daybook::aggregation>(book->make_aggregation(name, options(how.chunk)));
    jobs.emplace_back([book, pay] {
      auto const took = pay->aggregate();
      if (!took.refused.empty()) throw std::runtime_error("refused: " + took.refused[0].why);
      return static_cast<long>(took.rows);
    });
  }
  return together(jobs);
}

upkeep undo_and_verify(field& in, int reverts) {
  upkeep out;
  daybook::book book(in.url());
  auto pay = book.make_aggregation(name_of_turn(), options(10'000));
  out.verify_s = least_of_three([&] {
    if (!pay.verify().differences.empty()) throw std::runtime_error("verify tells of differences");
  });
  out.verify_bare_s = least_of_three([&] {
    static_cast<void>(in.number(
        "select count(*) from t_move_pay p left join (select pay_no, count(*) as c, sum(move_num)"
        " as s from t_move_brick where status = 2 group by pay_no) b on b.pay_no = p.pay_no where"
        " p.move_count <> coalesce(b.c, 0) or p.move_sum <> coalesce(b.s, 0)"));
  });
  auto const parents = pay.parents({.limit = 2 * reverts});
  support::raw_connection on(in.url());
  std::vector<double> ours;
  std::vector<double> by_hand;
  for (std::size_t at = 0; at + 1 < parents.size(); at += 2) {
    auto start = clock::now();
    if (pay.revert(parents[at].key, {.actor = "bench", .reason = ""}) != daybook::settling::done) {
      throw std::runtime_error("nothing to revert");
    }
    ours.push_back(seconds_since(start) * 1e3);
    start = clock::now();
    on.execute(undo_text(parents[at + 1].key));
    by_hand.push_back(seconds_since(start) * 1e3);
  }
  if (ours.empty()) throw std::runtime_error("no parents to revert");
  for (auto* const list : {&ours, &by_hand}) std::sort(list->begin(), list->end());
  out.revert_ms = ours[ours.size() / 2];
  out.revert_bare_ms = by_hand[by_hand.size() / 2];
  return out;
}

}  // namespace bench
