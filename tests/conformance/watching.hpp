// A table of the application's, and a queue that follows it, for the suites about both.
#pragma once

#include "conformance/fixture.hpp"

#include <cstdint>
#include <set>

namespace conformance {

class watching : public on_engine {
 protected:
  watching() : clock_(book_) {
    database_.execute("create table product(id int, code " + text() + " not null primary key)" +
                      innodb());
  }
  [[nodiscard]] std::string text() const { return on_sqlite() ? "text" : "varchar(300)"; }

  /// "a,b" -> insert into product(code) values ('a'),('b')
  static std::string adding(std::string const& codes) {
    std::string out = "insert into product(code) values ('";
    for (char const c : codes) out += c == ',' ? std::string("'),('") : std::string(1, c);
    return out + "')";
  }
  /// The keys, which hold no comma.
  [[nodiscard]] std::set<std::string> members() const {
    auto const all =
        database_.query(std::string(on_postgres() ? "select string_agg(member_key, ',')"
                                                  : "select group_concat(member_key)") +
                        " from daybook_member");
    std::set<std::string> out;
    for (std::size_t at = 0; at < all.size();) {
      auto const end = std::min(all.find(',', at), all.size());
      out.insert(all.substr(at, end - at));
      at = end + 1;
    }
    return out;
  }
  /// Each member is in exactly one segment or claim.
  void expect_covered() const {
    auto const n = [&](std::string const& sql) { return database_.query(sql); };
    EXPECT_EQ(n("select count(*) from daybook_member m where 1 <> (select count(*) from "
                "daybook_segment s where s.queue = m.queue and s.lo <= m.id and m.id < s.hi)"),
              "0");
    EXPECT_EQ(n("select count(*) from daybook_segment a join daybook_segment b on a.lo < b.hi and "
                "b.lo < a.hi and a.hi <> b.hi"),
              "0");
  }
  /// Claims and completes until nothing is due; how many tasks there were.
  static int drain(daybook::queue& of, int limit = 1000) {
    int count = 0;
    while (auto batch = of.claim({.limit = limit})) {
      for (auto const& one : batch->tasks()) {
        batch->finish(one, daybook::result::success());
        ++count;
      }
      EXPECT_EQ(std::move(*batch).complete(), outcome::done);
    }
    return count;
  }

  using set = std::set<std::string>;
  daybook::testing::manual_clock clock_;
};

}  // namespace conformance
