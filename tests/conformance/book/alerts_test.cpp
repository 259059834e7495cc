// What people are told of problems: remembered in the book, with what is written of it.
#include "conformance/scheduling.hpp"

#include <daybook/alerts.hpp>
#include <daybook/transaction.hpp>

namespace conformance {
namespace {

class alerting : public scheduling {
 protected:
  alerting() {
    book_.make_queue("stock", {}).add(key{"a"});
    book_.queue("stock")->pause({.actor = "anna", .reason = ""});
    clock_.advance(2min);
    EXPECT_EQ(book_.renew(), daybook::lease_state::held);
  }
  /// Of the looks: "stands queue stock", in order. Each is written into a queue.
  std::vector<std::string> look(daybook::book& book) {
    auto hooks = book.make_queue("hooks", {});
    std::vector<std::string> out;
    auto const write = [&](daybook::transaction& tx, daybook::alert const& one) {
      hooks.add(tx, key{one.print + std::to_string(one.at.time_since_epoch().count())},
                {.at = one.at + 24h * 365});
    };
    for (auto const& one : book.look_for_alerts({}, write)) {
      out.push_back((one.state == daybook::alert_state::ended ? "ended " : "stands ") +
                    one.problem.subject);
      EXPECT_EQ(one.print.size(), 52U);
    }
    return out;
  }
  [[nodiscard]] std::int64_t written() const { return book_.queue("hooks")->counts().members; }
};

using strings = std::vector<std::string>;

TEST_P(alerting, every_process_of_a_book_goes_on_with_the_looks_of_the_others) {
  auto other = database_.open();
  EXPECT_EQ(look(book_), strings{});
  EXPECT_EQ(look(other), strings{"stands queue stock"});
  EXPECT_EQ(written(), 1);
  EXPECT_EQ(look(book_), strings{});
  clock_.advance(4h);
  EXPECT_EQ(book_.renew(), daybook::lease_state::held);
  EXPECT_EQ(look(book_).size(), 1U) << "it stands still";
  book_.queue("stock")->discard(key{"a"});
  book_.queue("stock")->resume({.actor = "anna", .reason = ""});
  static_cast<void>(book_.queue("stock")->claim());
  EXPECT_EQ(look(book_), strings{});
  EXPECT_EQ(look(other), strings{"ended queue stock"});
  EXPECT_EQ(database_.query("select count(*) from daybook_problem"), "0");
}

TEST_P(alerting, what_cannot_be_written_down_is_told_by_a_later_look) {
  EXPECT_EQ(look(book_), strings{});
  auto const fails = [&] {
    book_.look_for_alerts({}, [](auto&, auto const&) { throw std::runtime_error("no"); });
  };
  EXPECT_THROW(fails(), std::runtime_error);
  EXPECT_EQ(look(book_), strings{"stands queue stock"});
  EXPECT_EQ(written(), 1);
}

TEST_P(alerting, options_out_of_their_range_are_refused) {
  EXPECT_EQ(fault_of([&] { book_.look_for_alerts({.looks = 0}, {}); }), error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { book_.look_for_alerts({.repeat_after = 1s}, {}); }),
            error_code::bad_argument);
}

DAYBOOK_ON_EVERY_ENGINE(alerting);

}  // namespace
}  // namespace conformance
