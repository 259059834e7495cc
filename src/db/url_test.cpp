#include "db/url.hpp"

#include <daybook/error.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace daybook {
namespace {

using db::scheme;

TEST(url, files) {
  struct row {
    std::string text, path;
  };
  for (auto const& [text, path] : std::vector<row>{
           {"sqlite:shop.db", "shop.db"},
           {"sqlite:/var/shop.db", "/var/shop.db"},
           {"sqlite:./a b%20c.db", "./a b%20c.db"},
           {"sqlite:///relative.db", "relative.db"},
           {"sqlite:////absolute.db", "/absolute.db"},
           {"sqlite3:shop.db", "shop.db"},
           {"sqlite::memory:", ":memory:"},
           {"sqlite:a@b:c", "a@b:c"},
       }) {
    auto const made = db::parse_url(text);
    EXPECT_EQ(made.scheme, scheme::sqlite);
    EXPECT_EQ(made.path, path) << text;
    EXPECT_EQ(made.shown, "sqlite:" + path);
  }
}

TEST(url, servers) {
  struct row {
    std::string text, user, password, host;
    int port;
    std::string path, shown;
  };
  for (auto const& one : std::vector<row>{
           {"mysql://h/d", "", "", "h", 0, "d", "mysql://h/d"},
           {"mariadb://h/d", "", "", "h", 0, "d", "mariadb://h/d"},
           {"mysql://u@h/d", "u", "", "h", 0, "d", "mysql://u@h/d"},
           {"mysql://u:@h/d", "u", "", "h", 0, "d", "mysql://u:***@h/d"},
           {"mysql://u:p@h:3307/d", "u", "p", "h", 3307, "d", "mysql://u:***@h:3307/d"},
           {"mysql://u%40x:p%40ss%2Fw%3Ard@h/d", "u@x", "p@ss/w:rd", "h", 0, "d",
            "mysql://u%40x:***@h/d"},
           {"mysql://u:a:b@h/d", "u", "a:b", "h", 0, "d", "mysql://u:***@h/d"},
           {"mysql://[::1]:3306/d", "", "", "::1", 3306, "d", "mysql://[::1]:3306/d"},
           {"mysql://[::1]/d", "", "", "::1", 0, "d", "mysql://[::1]/d"},
           {"mysql://h/d%2Fe", "", "", "h", 0, "d/e", "mysql://h/d%2Fe"},
           {"mysql://h", "", "", "h", 0, "", "mysql://h"},
           {"mysql://%C3%A4/d", "", "", "\xc3\xa4", 0, "d", "mysql://%C3%A4/d"},
       }) {
    auto const made = db::parse_url(one.text);
    EXPECT_EQ(made.scheme, scheme::mysql);
    EXPECT_EQ(made.user, one.user) << one.text;
    EXPECT_EQ(made.password, one.password) << one.text;
    EXPECT_EQ(made.host, one.host) << one.text;
    EXPECT_EQ(made.port, one.port) << one.text;
    EXPECT_EQ(made.path, one.path) << one.text;
    EXPECT_EQ(made.shown, one.shown) << one.text;
  }
}

TEST(url, postgresql_goes_to_libpq_whole) {
  for (std::string const text :
       {"postgresql:///shop", "postgres://h1,h2:5433/d?target_session_attrs=read-write",
        "postgresql://%2Ftmp%2Fsockets:5432/d", "postgresql://u@[::1]:5432,h:,/d"}) {
    auto const made = db::parse_url(text);
    EXPECT_EQ(made.scheme, scheme::postgres);
    EXPECT_EQ(made.original, text);
    EXPECT_EQ(made.shown, text);
  }
}

TEST(url, parameters_and_their_secrets) {
  auto const made = db::parse_url(
      "postgresql://u:geheim@h/d?sslmode=require&password=other%20one&sslpassword=third");
  EXPECT_EQ(made.shown, "postgresql://u:***@h/d?sslmode=require&password=***&sslpassword=***");
  EXPECT_EQ(made.parameters.at("sslmode"), "require");
  EXPECT_EQ(made.parameters.at("password"), "other one");
  // A name may be written with % too.
  EXPECT_EQ(db::parse_url("postgresql://h/d?pass%77ord=x").shown,
            "postgresql://h/d?pass%77ord=***");
}

TEST(url, a_parameter_is_shown_only_where_it_is_known_to_be_harmless) {
  auto const shown = [](std::string const& text) { return db::parse_url(text).shown; };
  for (std::string const name : {"Password", "PASSWORD", "pass", "pwd", "passwd", "sslpassword",
                                 "ssl-passphrase", "oauth_client_secret", "scram_client_key",
                                 "sslkey", "options", "nonsense", "SSLMODE", "sslmode%20"}) {
    for (std::string const server : {"postgresql://h/d", "mysql://u@h/d"}) {
      EXPECT_EQ(shown(server + "?" + name + "=geheim&port=5433"),
                server + "?" + name + "=***&port=5433");
    }
  }
  for (std::string const text :
       {"postgresql:///d?host=/run/pg&port=5433&sslmode=verify-full&sslrootcert=/ca.pem",
        "postgresql://h/d?connect_timeout=3&application_name=shop&target_session_attrs=any",
        "postgresql:///d?hostaddr=10.0.0.1&user=shop&service=shop&keepalives=1",
        "mysql:///d?socket=/run/m.sock&ssl-mode=required",
        "mysql://h/d?ssl-ca=/a&ssl-cert=/b&ssl-key=/c"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(url, what_cannot_be_meant_is_refused_without_a_password) {
  for (std::string const bad : {"",
                                "shop.db",
                                "//u:geheim@h/d",
                                "u:geheim@h/d",
                                "Geheim:x",
                                "oracle://u:geheim@h/d",
                                "sqlite:",
                                "sqlite:///",
                                "sqlite://geheim",
                                "sqlite:a?b=geheim",
                                "mysql:u:geheim@h",
                                "mysql:/geheim",
                                "postgresql:geheim",
                                "mysql://u:ge@heim@h/d",
                                "mysql://u:ge/heim@h/d",
                                "mysql://u:geheim@h:0/d",
                                "mysql://u:geheim@h:65536/d",
                                "mysql://u:geheim@h:x/d",
                                "mysql://u:geheim@h:1x/d",
                                "mysql://u:geheim%@h/d",
                                "mysql://u:geheim%4@h/d",
                                "mysql://u:geheim%zz@h/d",
                                "mysql://u:geheim%00@h/d",
                                "postgresql://shop:geheim/d",
                                "postgresql://shop:99999/geheim",
                                "postgresql://shop:ge,heim/d",
                                "postgresql://shop:5432,h:geheim/d",
                                "postgresql://shop:geheim?sslmode=require",
                                "postgresql://shop:1:geheim",
                                "postgresql://u@h:geheim/d",
                                "postgresql://[::1]geheim/d",
                                "postgresql://[geheim/d",
                                "postgresql://geheim%zz/d",
                                "mysql://shop:geheim/d",
                                "mysql://u:geheim@[::1/d",
                                "mysql://u:geheim@[::1]x/d",
                                "postgresql://u:ge?heim@h/d?sslmode=require",
                                "mysql://u:33?geheim=1@h/d",
                                "mysql://u:geheim@h/d?a",
                                "mysql://u:geheim@h/d?=b",
                                "mysql://u:geheim@h/d\n",
                                "mysql://u:geheim@h/d\x7f"}) {
    try {
      static_cast<void>(db::parse_url(bad));
      ADD_FAILURE() << bad;
    } catch (error const& e) {
      EXPECT_EQ(e.kind(), error_code::bad_argument);
      std::string const text = e.what();
      EXPECT_TRUE(text.starts_with("database URL: ")) << text;
      for (auto const* secret : {"geheim", "heim", "Geheim"}) {
        EXPECT_EQ(text.find(secret), std::string::npos) << text;
      }
    }
  }
  EXPECT_THROW(static_cast<void>(db::parse_url("mysql://h/" + std::string(5000, 'x'))), error);
}

TEST(url, messages_of_others_are_masked) {
  auto const of = db::parse_url("mysql://u:p%40ss%2Fw%3Ard@h/d?passwd=second");
  EXPECT_EQ(db::without_password("bad 'p@ss/w:rd' and p%40ss%2Fw%3Ard, 'second'", of),
            "bad '***' and ***, '***'");
  EXPECT_EQ(db::without_password("nothing", of), "nothing");
  EXPECT_EQ(db::without_password("in " + of.original + "!", of), "in ***!");
  auto const misspelt = db::parse_url("postgresql://h/d?Password=third&sslmode=prefer");
  EXPECT_EQ(db::without_password("not \"third\", prefer", misspelt), "not \"***\", prefer");
  auto const open = db::parse_url("mysql://u@h:3306/d");
  EXPECT_EQ(db::without_password("h:3306", open), "h:3306");
  auto const file = db::parse_url("sqlite:a:b@c");
  EXPECT_EQ(db::without_password("b", file), "b");
}

TEST(url, a_password_that_could_be_a_word_is_masked_only_where_it_is_a_value) {
  auto const short_one = db::parse_url("postgresql://u:a@h/d");
  EXPECT_EQ(db::without_password("a database on a host, 'a', password=a: u:a@h", short_one),
            "a database on a host, '***', password=***: u:***@h");
  auto const word = db::parse_url("postgresql://u:connection@h/d");
  EXPECT_EQ(db::without_password("the connection to \"connection\" failed", word),
            "the connection to \"***\" failed");
  auto const number = db::parse_url("mysql://u:3306@h/d?passwd=13");
  EXPECT_EQ(db::without_password("port 3306 in 13 s; '13'", number), "port 3306 in 13 s; '***'");
  auto const long_one = db::parse_url("postgresql://u:ge4heim@h/d");
  EXPECT_EQ(db::without_password("xge4heimx", long_one), "x***x");
}

}  // namespace
}  // namespace daybook
