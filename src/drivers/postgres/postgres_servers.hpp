// For tests: the servers of PostgreSQL that are asked for, direct and through PgBouncer.
#pragma once

#include "db/session.hpp"

#include <daybook/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

inline std::string from_environment(char const* name) {
  char const* const found = std::getenv(name);
  return found == nullptr ? std::string() : std::string(found);
}

inline std::int64_t number(db::table const& value) {
  return std::get<std::int64_t>(value.cells.at(0));
}

/// What it throws; empty: nothing.
inline std::optional<error> caught(std::function<void()> const& body) {
  try {
    body();
  } catch (error const& e) {
    return e;
  }
  return std::nullopt;
}

class on_postgres_servers : public testing::TestWithParam<char const*> {
 protected:
  /// Left out only where others were asked for; an engine that is asked for and missing fails.
  void SetUp() override {
    url_ = from_environment(GetParam());
    direct_ = from_environment("DAYBOOK_TEST_POSTGRESQL");
    if (!url_.empty() && !direct_.empty()) return set_up();
    ASSERT_FALSE(from_environment("DAYBOOK_TEST_ENGINES").empty()) << GetParam() << " is not set";
    GTEST_SKIP() << GetParam() << " is not asked for";
  }
  virtual void set_up() {}

  [[nodiscard]] bool pooled() const {
    return GetParam() != std::string_view("DAYBOOK_TEST_POSTGRESQL");
  }

  std::string url_;
  std::string direct_;
};

#define DAYBOOK_ON_POSTGRES_SERVERS(suite)                                                  \
  INSTANTIATE_TEST_SUITE_P(                                                                 \
      servers, suite, testing::Values("DAYBOOK_TEST_POSTGRESQL", "DAYBOOK_TEST_PGBOUNCER"), \
      [](auto const& server) { return std::string(server.index == 0 ? "direct" : "pooled"); })

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
