#include "proof/stories/stock_checks.hpp"

#include <daybook/queue.hpp>
#include <daybook/transaction.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace story {

namespace {

constexpr std::size_t most_examples = 5;
/// From the last answer for a claim until the book has its end, and until a product that came
/// behind the triggers' back is a member.
constexpr std::int64_t soon_us = 4'000'000;

/// Answers for one turn, in the order of time.
struct turn_of {
  std::int64_t turn_us = 0;
  std::int64_t first_us = 0;
  std::int64_t last_us = 0;
};

std::int64_t overlap(std::vector<span_us> const& of, std::int64_t from, std::int64_t to) {
  std::int64_t out = 0;
  for (auto const& one : of) {
    out += std::max<std::int64_t>(0, std::min(to, one.to) - std::max(from, one.from));
  }
  return out;
}

class product_check {
 public:
  product_check(std::string const& code, changes const& touched, course const& how, findings& to)
      : code_(&code),
        touched_(&touched),
        how_(&how),
        period_us_(std::chrono::microseconds(how.period).count()),
        grain_us_(std::chrono::microseconds(how.grain).count()),
        retries_us_(std::chrono::microseconds(how.retries).count()),
        backlog_us_(std::chrono::microseconds(how.backlog).count()),
        to_(&to) {}

  void look(std::vector<ask> const& all) {
    auto const turns = by_turn(all);
    for (std::size_t at = 1; at < turns.size(); ++at) pair(turns[at - 1], turns[at]);
  }

 private:
  void wrong(long& count, std::string const& what, std::int64_t turn_us) {
    ++count;
    if (to_->examples.size() < most_examples || to_->examples.contains(*code_)) {
      to_->examples[*code_].push_back(what + ", turn " + std::to_string(turn_us));
    }
  }

  std::vector<turn_of> by_turn(std::vector<ask> const& all) {
    std::vector<turn_of> out;
    std::map<std::string, bool> answered;  // and whether its last reply was dropped
    for (auto const& one : all) {
      ++to_->answers;
      if (one.at_us < one.turn_us - grain_us_) wrong(to_->early, "was asked early", one.turn_us);
      auto const [before, first] = answered.emplace(one.request, one.lost);
      if (!first) {
        if (!before->second) ++to_->repeats;
        before->second = one.lost;
      }
      auto const same = std::find_if(out.begin(), out.end(), [&](turn_of const& other) {
        return other.turn_us == one.turn_us;
      });
      if (same != out.end()) {
        same->last_us = one.at_us;
      } else {
        out.push_back({one.turn_us, one.at_us, one.at_us});
      }
    }
    return out;
  }

  void pair(turn_of const& a, turn_of const& b) {
    // Who comes or goes at this time may have been another member.
    if (touched_->any(*code_, a.turn_us - soon_us, b.last_us)) return;
    ++to_->judged;
    if (b.first_us < b.turn_us) wrong(to_->early, "was asked early", b.turn_us);
    auto const apart = b.turn_us - a.turn_us;
    if (apart <= 0 || apart % period_us_ != 0) {
      return wrong(to_->off_beat, "is off its beat by " + std::to_string(apart), b.turn_us);
    }
    auto const claim = how_->claims.find({*code_, a.turn_us});
    auto const done = claim == how_->claims.end() ? a.last_us : std::max(a.last_us, claim->second);
    for (auto turn = a.turn_us + period_us_; turn < b.turn_us; turn += period_us_) {
      // It was over when the one before was done, with all that was in the same claim; or its
      // attempts were over in an outage.
      bool const outage = overlap(how_->outages, turn, turn + period_us_ + retries_us_) > 0;
      if (outage || done + soon_us >= turn) {
        ++to_->passed_over;
      } else {
        wrong(to_->left_out, "was not asked", turn);
      }
    }
    auto const gap = b.first_us - a.last_us;
    auto const without = gap - overlap(how_->outages, a.last_us, b.first_us);
    to_->worst_gap = std::max(to_->worst_gap, static_cast<double>(without) / 1e6);
    auto const longest = period_us_ + (apart > period_us_ ? period_us_ : 0) + backlog_us_;
    if (without > longest + retries_us_) {
      wrong(to_->late, "was left alone for " + std::to_string(gap) + " us", b.turn_us);
    }
  }

  std::string const* code_;
  changes const* touched_;
  course const* how_;
  std::int64_t period_us_;
  std::int64_t grain_us_;
  std::int64_t retries_us_;
  std::int64_t backlog_us_;
  findings* to_;
};

}  // namespace

asks read_log(std::string const& file) {
  asks out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    ask one;
    std::string how;
    std::string code;
    std::int64_t quantity = 0;
    char slash = 0;
    if (!(words >> one.at_us >> how >> code >> quantity >> one.turn_us >> slash >> one.request)) {
      throw std::runtime_error("the stock system wrote: " + line);
    }
    one.lost = how == "L";
    out[code].push_back(std::move(one));
  }
  for (auto& [code, all] : out) {
    std::stable_sort(all.begin(), all.end(),
                     [](ask const& a, ask const& b) { return a.at_us < b.at_us; });
  }
  return out;
}

findings check_turns(asks const& all, changes const& touched, course const& how) {
  findings out;
  for (auto const& [code, its] : all) product_check(code, touched, how, out).look(its);
  return out;
}

claim_ends claim_ends_in(daybook::book& book) {
  using member = std::tuple<std::int64_t, std::string>;
  using range = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  claim_ends out;
  std::vector<member> members;
  std::vector<range> ranges;
  book.transact([&](daybook::transaction& tx) {
    members = tx.rows<member>("select id, member_key from daybook_member order by id");
    ranges = tx.rows<range>(
        "select o.lo, o.hi, o.turn_us, e.ended_us from daybook_outcome o join (select claim, "
        "max(finished_us) as ended_us from daybook_outcome group by claim) e on e.claim = o.claim");
  });
  // Here, because no index serves a join with ranges.
  for (auto const& [lo, hi, turn, end] : ranges) {
    auto one = std::lower_bound(members.begin(), members.end(), member(lo, ""));
    for (; one != members.end() && std::get<0>(*one) < hi; ++one) {
      auto& last = out[{std::get<1>(*one), turn}];
      last = std::max(last, end);
    }
  }
  return out;
}

std::vector<std::string> history_of(daybook::book& book, std::string const& code) {
  auto const us = [](std::optional<daybook::timestamp> const& at) {
    return at ? std::to_string(at->time_since_epoch().count()) : "?";
  };
  std::vector<std::string> out;
  for (auto const& one : book.queue("stock").value().outcomes(daybook::key(code))) {
    out.push_back("turn " + us(one.turn) + ": " + std::string(daybook::word_of(one.state)) +
                  " after " + std::to_string(one.attempts) + " attempts, from " + us(one.started) +
                  " to " + us(one.finished) + ": " + one.remark);
  }
  return out;
}

standing compare(daybook::book& book, asks const& all,
                 std::map<std::string, std::int64_t> const& stock) {
  standing out;
  using product = std::tuple<std::string, std::optional<std::int64_t>>;
  using written = std::tuple<std::string, std::int64_t, std::string>;
  std::vector<product> products;
  std::vector<std::string> keys;
  std::vector<written> history;
  book.transact([&](daybook::transaction& tx) {
    products = tx.rows<product>("select code, quantity from product");
    keys = tx.rows<std::string>("select member_key from daybook_member");
    history = tx.rows<written>("select code, turn_us, request from quantity_history");
  });
  std::set<std::string> members(keys.begin(), keys.end());
  out.products = static_cast<long>(products.size());
  for (auto const& [code, quantity] : products) {
    out.without_member += members.erase(code) == 0 ? 1 : 0;
    out.disagreeing += !quantity || *quantity != stock.at(code) ? 1 : 0;
  }
  out.without_product = static_cast<long>(members.size());

  std::set<written> asked;
  std::set<written> answered;
  for (auto const& [code, its] : all) {
    for (auto const& one : its) {
      asked.emplace(code, one.turn_us, one.request);
      if (!one.lost) answered.emplace(code, one.turn_us, one.request);
    }
  }
  std::set<written> once;
  for (auto const& one : history) {
    if (!once.insert(one).second) out.written_twice.push_back(std::get<0>(one));
    out.unasked += asked.contains(one) ? 0 : 1;
    answered.erase(one);
  }
  out.by_nodes = static_cast<long>(once.size());
  out.by_daemons = static_cast<long>(answered.size());
  auto const stands = book.queue("stock").value().counts();
  out.dead = stands.dead + stands.unknown + stands.quarantined + stands.discarded + stands.running;
  return out;
}

}  // namespace story
