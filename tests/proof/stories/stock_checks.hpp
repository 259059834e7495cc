// What must be true at the end of the story of the stock: in the stock system's own log of what it
// was asked, in the shop's tables, and in the book.
// Thread safety: values.
#pragma once

#include "proof/stories/stock_sides.hpp"

#include <daybook/book.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace story {

/// A quantity that the stock system gave.
struct ask {
  std::int64_t at_us = 0;
  std::int64_t turn_us = 0;
  std::string request;  ///< the same for all attempts at one turn
  bool lost = false;    ///< the reply was dropped
};
/// Of each product, in the order of time.
using asks = std::map<std::string, std::vector<ask>>;

/// On failure: throws std::runtime_error, when a line is not as the server writes it.
[[nodiscard]] asks read_log(std::string const& file);

/// What may be wrong; each that is not 0 but the first four is a violation.
struct findings {
  long answers = 0;
  long repeats = 0;      ///< of a turn that had an answer, which no dropped reply explains
  long judged = 0;       ///< pairs of turns of a product that was there from one to the other
  long passed_over = 0;  ///< turns between such without an answer, for an outage or for being late
  long early = 0;        ///< asked before its turn
  long off_beat = 0;     ///< turns of a product that are not whole periods apart
  long left_out = 0;     ///< such without a reason
  long late = 0;         ///< longer without an answer than a period, outages and retries explain
  double worst_gap = 0;  ///< of those who were there all the time, in seconds; outages left out
  std::map<std::string, std::vector<std::string>> examples;  ///< of products, what is wrong
};

/// When the claims ended, as the book has it, that a turn of a product was in: {code, turn} to
/// instant.
using claim_ends = std::map<std::pair<std::string, std::int64_t>, std::int64_t>;
[[nodiscard]] claim_ends claim_ends_in(daybook::book& book);

struct course {
  std::chrono::seconds period{0};
  std::chrono::seconds grain{0};    ///< a first turn, which is due at once, is rounded up to it
  std::chrono::seconds retries{0};  ///< what failures, crashes and others on the machine may cost
  std::chrono::seconds backlog{0};  ///< how long the last may wait where all are due at once
  std::vector<span_us> outages;     ///< of the stock system and of the database
  claim_ends claims;                ///< the next turn is armed when the claim ends
};

[[nodiscard]] findings check_turns(asks const& all, changes const& touched, course const& how);

/// Where the two sides stand when all is quiet.
struct standing {
  long products = 0;
  long without_member = 0;
  long without_product = 0;
  long disagreeing = 0;  ///< of another quantity than the stock system has
  /// Products with a turn that is twice in the history, which nodes of the library write.
  std::vector<std::string> written_twice;
  long unasked = 0;  ///< written for a turn that the stock system was not asked for
  long dead = 0;     ///< or unknown, suspect, discarded, running
  // Turns that had an answer, by who asked.
  long by_nodes = 0;
  long by_daemons = 0;
};

/// What became of a product's turns, as the book has it: a line each, the newest first.
[[nodiscard]] std::vector<std::string> history_of(daybook::book& book, std::string const& code);

[[nodiscard]] standing compare(daybook::book& book, asks const& all,
                               std::map<std::string, std::int64_t> const& stock);

}  // namespace story
