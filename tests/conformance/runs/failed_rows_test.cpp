// A statement that fails after its first row was on its way: its session can call it again, and the
// connection has nothing left to wait for. (As in a deadlock of a `select ... for update`.)
#include "conformance/fixture.hpp"

#include "service/engine.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace conformance {
namespace {

namespace db = daybook::db;

using daybook::cell;

class failed_rows : public on_engine {
 protected:
  failed_rows() {
    database_.execute("create table number(id int not null primary key, n bigint)" + innodb());
    database_.execute("insert into number values (1, 7), (2, -9223372036854775807 - 1)");
  }

  void on_session(std::function<void(db::session&)> const& body) {
    auto const in = book_.internals().ready();
    // By a name of the library's own, so that there is a limit to its time.
    absolute_ = in.user_sql.of("select abs(n) from number where id <= :last order by id");
    absolute_.name = "absolute";
    auto from_pool = in.sessions.lend(1s);
    body(*from_pool);
  }
  [[nodiscard]] db::call up_to(std::int64_t last) const { return {&absolute_, {last}}; }
  /// There is no absolute value of the second.
  static void fails(std::function<void()> const& calling) {
    try {
      calling();
      ADD_FAILURE() << "nothing was thrown";
    } catch (daybook::error const& e) {
      EXPECT_EQ(e.statement(), "absolute") << e.what();
      EXPECT_FALSE(e.breaks_connection() || e.in_doubt()) << e.what();
    }
  }
  void goes_on(db::session& on) const {
    EXPECT_EQ(on.run(absolute_, up_to(1).values).cells, std::vector<cell>{std::int64_t{7}});
    EXPECT_TRUE(on.usable());
  }

  db::statement absolute_;
};

TEST_P(failed_rows, alone) {
  on_session([&](db::session& on) {
    for (int again = 0; again < 2; ++again) {
      fails([&] { static_cast<void>(on.run(absolute_, up_to(2).values)); });
      goes_on(on);
    }
  });
}

TEST_P(failed_rows, in_transactions_that_follow_each_other) {
  on_session([&](db::session& on) {
    for (int again = 0; again < 2; ++again) {
      on.begin(daybook::isolation::read_committed);
      fails([&] { static_cast<void>(on.run(absolute_, up_to(2).values)); });
      on.rollback();
    }
    on.begin(daybook::isolation::read_committed);
    goes_on(on);
    on.commit();
  });
}

TEST_P(failed_rows, of_one_of_several_together) {
  on_session([&](db::session& on) {
    for (std::int64_t const last : {2, 2, 1, 2, 1}) {
      std::vector<db::call> const calls{up_to(1), up_to(last), up_to(1)};
      if (last == 2) {
        fails([&] { static_cast<void>(on.together(calls)); });
      } else {
        EXPECT_EQ(on.together(calls).size(), calls.size());
      }
      goes_on(on);
    }
  });
}

DAYBOOK_ON_EVERY_ENGINE(failed_rows);

}  // namespace
}  // namespace conformance
