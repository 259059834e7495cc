// Faults: what each is called, how fast it comes, and that no message holds a password.
#include "conformance/fixture.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace conformance {
namespace {

class errors : public on_engine {
 protected:
  [[nodiscard]] std::string with_password(std::string const& password) const {
    auto const& url = database_.url();
    auto const colon = url.find(':', url.find("//") + 2);
    return url.substr(0, colon + 1) + password + url.substr(url.find('@'));
  }
  [[nodiscard]] std::string with_port(std::string const& port) const {
    auto const& url = database_.url();
    auto const colon = url.find(':', url.find('@'));
    return url.substr(0, colon + 1) + port + url.substr(url.find('/', colon));
  }
  [[nodiscard]] std::string with_database(std::string const& name) const {
    return database_.url().substr(0, database_.url().rfind('/') + 1) + name;
  }
  /// As written in the URL, and decoded.
  [[nodiscard]] static std::vector<std::string> secrets() {
    std::string const url = std::getenv("DAYBOOK_TEST_POSTGRESQL");
    auto const colon = url.find(':', url.find("//") + 2);
    auto const written = url.substr(colon + 1, url.find('@') - colon - 1);
    // p@ss/w:rd and what only the servers of this test know.
    return {written, "p@ss", "p%40ss", "w:rd", "w%3Ard", written.substr(written.size() - 16)};
  }
  static void expect_no_secret(std::string const& text) {
    if (std::getenv("DAYBOOK_TEST_POSTGRESQL") == nullptr) return;
    for (auto const& secret : secrets()) EXPECT_EQ(text.find(secret), std::string::npos) << text;
  }
  static daybook::error opening(std::string const& url, daybook::book_options options = {}) {
    try {
      daybook::book const book(url, std::move(options));
    } catch (daybook::error const& e) {
      expect_no_secret(e.what());
      return e;
    }
    ADD_FAILURE() << "opened";
    return {{}, "none"};
  }
};

TEST_P(errors, urls_that_cannot_be_meant) {
  for (std::string const bad :
       {"", "shop.db", "oracle://x/y", "http://x", "sqlite:", "sqlite://x", "postgresql:/x",
        "mysql:x", "mysql://host:0/x", "mysql://h:99999/x", "postgresql://u:p@ss/w:rd@h/x",
        "mysql://u:p@ss/w:rd@h/x", "mysql://u:p%40ss%2Fw%3Ard@h:port/x", "sqlite:a?b=c",
        "postgresql://u:p%40ss%2Fw%3Ard@h/x?nonsense=1", "postgresql://u:p%40ss%2Fw%3Ard@h/x?a",
        "mysql://u:p%4@h/x"}) {
    auto const e = opening(bad);
    EXPECT_EQ(e.kind(), error_code::bad_argument) << bad << ": " << e.what();
    EXPECT_EQ(std::string(e.what()).find("w:rd"), std::string::npos) << e.what();
    EXPECT_EQ(std::string(e.what()).find("w%3Ard"), std::string::npos) << e.what();
  }
}

TEST_P(errors, options_that_cannot_be_meant) {
  auto const refused = [&](auto const& change) {
    auto options = support::fresh_database::manual();
    change(options);
    EXPECT_EQ(opening(database_.url(), options).kind(), error_code::bad_argument);
  };
  refused([](auto& o) { o.lease = 0ms; });
  refused([](auto& o) { o.lease = 1ms; });
  refused([](auto& o) { o.lease = -1s; });
  refused([](auto& o) { o.lease = 24h + 1ms; });
  refused([](auto& o) { o.lease = 24h * 1000; });
  refused([](auto& o) { o.connections = 0; });
  refused([](auto& o) { o.connections = 1001; });
  refused([](auto& o) { o.connect_timeout = 0ms; });
  refused([](auto& o) { o.connect_timeout = 24h + 1ms; });
  refused([](auto& o) { o.connect_timeout = std::chrono::milliseconds::max(); });
  for (std::string const bad : {"", "a b", "x;drop table y", "1a", "A", "a.b", "\xc3\xa4", "a'b"}) {
    refused([&](auto& o) { o.prefix = bad; });
    if (!bad.empty()) refused([&](auto& o) { o.schema = bad; });
  }
  refused([](auto& o) { o.prefix = std::string(41, 'a'); });
  if (on_sqlite()) refused([](auto& o) { o.schema = "other"; });
}

TEST_P(errors, of_a_users_statement_name_its_place_and_its_text) {
  auto const complaint = [](auto const& what) -> std::string {
    try {
      what();
    } catch (daybook::error const& e) {
      EXPECT_EQ(e.statement(), "user");
      return e.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  };
  auto const expect_names = [](std::string const& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  };
  auto const wrong = [](transaction& tx) {
    tx.exec("insert into  no_such_table(a)\n  values (:given)", "s3cret");
  };
  constexpr std::string_view shown = "\"insert into no_such_table(a) values (:given)\"";
  auto run = taken(book_.start(nightly_, day_));
  auto const in_step = [&](auto const& body) {
    return complaint([&] { static_cast<void>(run.step("post", body)); });
  };
  auto const place = "step 'post' of " + nightly_.str() + " / " + day_.str();
  auto text = in_step(wrong);
  expect_names(text, place);
  expect_names(text, shown);
  EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
  text = in_step([](transaction& tx) { static_cast<void>(tx.rows<std::int64_t>("select null")); });
  expect_names(text, place);
  expect_names(text, "holds NULL");
  expect_names(text, "\"select null\"");
  text = in_step([](transaction& tx) { static_cast<void>(tx.rows<std::int64_t>("select 1, 2")); });
  expect_names(text, place);
  expect_names(text, "gives 2 columns");
  text = in_step([](transaction& tx) {
    constexpr daybook::sql pair = "insert into effect(name, note) values (:name, :note)";
    tx.exec(pair, "one");
  });
  expect_names(text, place);
  expect_names(text, "2 parameters (:name, :note)");
  text = complaint([&] { book_.transact(wrong); });
  expect_names(text, shown);
  auto q = book_.make_queue("mail");
  for (auto const* name : {"a", "b"}) q.add(key(name));
  auto batch = q.claim().value();
  text = complaint([&] { static_cast<void>(batch.perform(batch.tasks()[0], wrong)); });
  expect_names(text, "task 'a' of queue 'mail'");
  expect_names(text, shown);
  std::array const both{&batch.tasks()[0], &batch.tasks()[1]};
  text = complaint([&] { static_cast<void>(batch.perform(both, wrong)); });
  expect_names(text, "task 'a' and 1 more of queue 'mail'");
}

TEST_P(errors, a_port_nobody_answers_on) {
  if (on_sqlite()) return;
  auto const before = std::chrono::steady_clock::now();
  auto const e = opening(with_port("1"));
  EXPECT_EQ(e.kind(), error_code::unreachable) << e.what();
  EXPECT_TRUE(e.breaks_connection());
  EXPECT_FALSE(e.in_doubt());
  EXPECT_LT(std::chrono::steady_clock::now() - before, 9s) << "connect_timeout is 10 s";
}

TEST_P(errors, a_host_that_is_none) {
  if (on_sqlite()) return;
  auto url = with_port("1");
  url.replace(url.find("127.0.0.1"), 9, "no-such-host.invalid");
  EXPECT_EQ(opening(url, {.connect_timeout = 5s}).kind(), error_code::unreachable);
}

TEST_P(errors, a_host_that_is_silent) {
  if (on_sqlite()) return;
  auto url = with_port("1");
  url.replace(url.find("127.0.0.1"), 9, "192.0.2.1");  // for documentation: routed nowhere
  auto const before = std::chrono::steady_clock::now();
  EXPECT_EQ(opening(url, {.connect_timeout = 1s}).kind(), error_code::unreachable);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 9s) << "10 s, were it not for the option";
}

TEST_P(errors, a_wrong_password_and_no_password) {
  if (on_sqlite()) return;
  auto const wrong = opening(with_password("S3cr%40t%2Fxyz"));
  EXPECT_EQ(wrong.kind(), error_code::not_permitted) << wrong.what();
  EXPECT_EQ(std::string(wrong.what()).find("S3cr"), std::string::npos) << wrong.what();
  EXPECT_NE(std::string(wrong.what()).find("***"), std::string::npos) << wrong.what();
  EXPECT_EQ(opening(with_password("")).kind(), error_code::not_permitted);
}

TEST_P(errors, a_database_that_is_not_there) {
  if (on_sqlite()) return;
  auto const e = opening(with_database("no_such_database"));
  EXPECT_EQ(e.kind(), error_code::configuration) << e.what();
  EXPECT_NE(std::string(e.what()).find("no_such_database"), std::string::npos);
}

TEST_P(errors, a_schema_that_is_not_there) {
  if (on_sqlite()) return;
  auto options = support::fresh_database::manual();
  options.schema = "no_such_schema";
  daybook::book book(database_.url(), options);
  EXPECT_EQ(fault_of([&] { static_cast<void>(book.runs()); }), error_code::configuration);
  EXPECT_EQ(fault_of([&] { book.migrate(); }), error_code::configuration);
}

TEST_P(errors, a_book_in_another_schema) {
  if (!on_postgres()) return;
  database_.execute("drop schema if exists books cascade; create schema books");
  auto options = support::fresh_database::manual();
  options.schema = "books";
  auto book = database_.open(options);
  EXPECT_TRUE(taken(book.start(nightly_, day_)).finish());
  EXPECT_EQ(database_.query("select count(*) from books.daybook_run"), "1");
  EXPECT_EQ(rows_of("run"), "0");
}

TEST_P(errors, the_url_is_shown_without_its_password) {
  expect_no_secret(book_.url());
  EXPECT_FALSE(book_.url().empty());
}

TEST_P(errors, files_that_are_no_database) {
  if (!on_sqlite()) return;
  namespace fs = std::filesystem;
  auto const folder = fs::temp_directory_path() / ("daybook_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  EXPECT_EQ(opening("sqlite:" + folder.string()).kind(), error_code::unreachable);
  EXPECT_EQ(opening("sqlite:" + (folder / "no" / "file.db").string()).kind(),
            error_code::unreachable);
  std::ofstream(folder / "text") << std::string(5000, 'x');
  EXPECT_EQ(opening("sqlite:" + (folder / "text").string()).kind(), error_code::configuration);
  fs::remove_all(folder);
}

TEST_P(errors, a_file_that_may_not_be_written) {
  if (!on_sqlite() || ::geteuid() != 0) return;  // as who we are, it could be made writable
  auto const file = database_.url().substr(7);
  ::chmod(file.c_str(), 0444);
  { auto const closed = std::move(book_); }  // a child of fork() opens none beside its parent's
  auto const pid = ::fork();
  if (pid == 0) {
    // Root may write everything: as nobody.
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(3);
    try {
      daybook::book book(database_.url(), support::fresh_database::manual());
      static_cast<void>(book.start(nightly_, day_));
      ::_exit(1);
    } catch (daybook::error const& e) {
      ::_exit(e.kind() == error_code::read_only ? 0 : 2);
    }
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
}

TEST_P(errors, a_transaction_that_may_not_write) {
  if (on_sqlite()) return;
  auto options = watched();
  options.lease = 3s;
  options.prefix = "short_";
  auto book = database_.open(options);
  auto run = taken(book.start(nightly_, day_));
  auto const read_only = [&] {
    static_cast<void>(run.step("bad", [&](transaction& tx) {
      if (on_postgres()) {
        tx.exec("set transaction_read_only = on");
      } else {
        throw daybook::error({.kind = error_code::read_only}, "as a replica would");
      }
      insert("bad")(tx);
    }));
  };
  EXPECT_EQ(fault_of(read_only), error_code::read_only);
  EXPECT_EQ(effects("bad"), "0");
  EXPECT_TRUE(run.step("good", insert("good")));
}

TEST_P(errors, a_full_database_leaves_nothing_half_written) {
  if (!on_sqlite()) return;
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(run.step("one", insert("one")));
  auto const fill = [&] {
    static_cast<void>(run.step("fill", [](transaction& tx) {
      // What is there already is the least it takes.
      static_cast<void>(tx.rows<std::int64_t>("pragma max_page_count = 1"));
      for (int i = 0; i < 10'000; ++i) insert("fill")(tx);
    }));
  };
  EXPECT_EQ(fault_of(fill), error_code::full);
  EXPECT_EQ(effects("fill"), "0");
  EXPECT_EQ(rows_of("step"), "1");
  book_.transact([](transaction& tx) {
    static_cast<void>(tx.rows<std::int64_t>("pragma max_page_count = 1000000"));
  });
  ASSERT_TRUE(run.step("two", insert("two")));
  EXPECT_TRUE(std::move(run).fail("full"));
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_EQ(next.step("one", insert("one")).what(), outcome::skipped);
}

TEST_P(errors, a_full_disk_leaves_nothing_half_written) {
  if (!on_sqlite()) return;
  namespace fs = std::filesystem;
  auto const folder = fs::temp_directory_path() / ("daybook_full_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") != 0) {
    fs::remove_all(folder);
    return;  // not permitted here
  }
  {
    daybook::book book("sqlite:" + (folder / "book.db").string(), watched());
    book.migrate();
    book.transact([](transaction& tx) { tx.exec("create table filler(t text not null)"); });
    auto run = taken(book.start(nightly_, day_));
    auto const one = [](transaction& tx) { tx.exec("insert into filler values ('')"); };
    ASSERT_TRUE(run.step("one", one));
    auto const fill = [&] {
      static_cast<void>(run.step("fill", [](transaction& tx) {
        std::string const text(10'000, 'x');
        for (int i = 0; i < 500; ++i) tx.exec("insert into filler values (:t)", text);
      }));
    };
    auto const kind = fault_of(fill);
    EXPECT_TRUE(kind == error_code::full || kind == error_code::io) << static_cast<int>(kind);
    auto const found = book.find(nightly_, day_).value();
    EXPECT_EQ(found.steps.size(), 1U);
    EXPECT_TRUE(std::move(run).fail("full"));
    EXPECT_EQ(taken(book.start(nightly_, day_)).step("one", [](transaction&) {}).what(),
              outcome::skipped);
  }
  ::umount(folder.c_str());
  fs::remove_all(folder);
}

TEST_P(errors, the_connections_are_all_in_use) {
  auto options = watched();
  options.connections = 1;
  options.connect_timeout = 2s;
  options.lease = 1s;
  options.prefix = "one_";
  auto book = database_.open(options);
  auto run = taken(book.start(nightly_, day_));
  auto const nested = [&] {
    static_cast<void>(
        run.step("outer", [&](transaction&) { static_cast<void>(daybook::testing::renew(book)); }));
  };
  auto const text = message_of(nested);
  EXPECT_NE(text.find("book_options::connections"), std::string::npos) << text;
}

TEST_P(errors, wrong_arguments_of_a_statement) {
  EXPECT_EQ(fault_of([&] {
              book_.transact([](transaction& tx) {
                constexpr daybook::sql one = "insert into effect(name) values (:a)";
                tx.exec(one, "x", "y");
              });
            }),
            error_code::bad_argument);
  EXPECT_EQ(fault_of([&] {
              book_.transact([](transaction& tx) {
                static_cast<void>(tx.rows<std::string>("select name, name from effect"));
              });
            }),
            error_code::bad_argument);
  EXPECT_EQ(fault_of([&] {
              book_.transact([](transaction& tx) {
                insert("text")(tx);
                static_cast<void>(tx.rows<std::int64_t>("select name from effect"));
              });
            }),
            error_code::bad_argument);
  EXPECT_EQ(effects("text"), "0");
}

DAYBOOK_ON_EVERY_ENGINE(errors);

}  // namespace
}  // namespace conformance
