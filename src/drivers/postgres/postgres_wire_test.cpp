// What of the driver for PostgreSQL needs no server.
#include "drivers/postgres/postgres_copy.hpp"
#include "drivers/postgres/postgres_wire.hpp"

#include <daybook/error.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace daybook {
inline namespace v1 {
namespace drivers {
namespace {

constexpr std::size_t gib = std::size_t{1} << 30U;

/// Addresses without memory: whoever reads there dies.
class untouchable {
 public:
  explicit untouchable(std::size_t size)
      : size_(size),
        at_(::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (at_ == MAP_FAILED) ADD_FAILURE() << "no addresses";
  }
  untouchable(untouchable const&) = delete;
  untouchable& operator=(untouchable const&) = delete;
  ~untouchable() { ::munmap(at_, size_); }

  [[nodiscard]] std::span<std::byte const> bytes(std::size_t size) const {
    return {static_cast<std::byte const*>(at_), size};
  }
  [[nodiscard]] std::string_view text(std::size_t size) const {
    return {static_cast<char const*>(at_), size};
  }

 private:
  std::size_t size_;
  void* at_;
};

class postgres_values : public testing::Test {
 protected:
  static void expect_refused(std::vector<value> const& values) {
    try {
      parameters const made(values);
      ADD_FAILURE() << "taken";
    } catch (error const& e) {
      EXPECT_EQ(e.kind(), error_code::bad_argument);
      EXPECT_FALSE(e.breaks_connection() || e.retryable() || e.in_doubt());
      EXPECT_NE(std::string_view(e.what()).find("1 GiB"), std::string_view::npos) << e.what();
    }
  }

  untouchable room_{5 * gib};
};

TEST_F(postgres_values, of_one_gib_are_taken_as_they_are) {
  parameters const made(std::vector<value>{room_.bytes(gib - 1), true, room_.bytes(1)});
  EXPECT_EQ(made.lengths()[0], static_cast<int>(gib - 1));
  EXPECT_EQ(made.lengths()[2], 1);
  EXPECT_EQ(made.values()[0], room_.text(1).data());
}

TEST_F(postgres_values, of_more_are_refused_unread) {
  // The last has a length of 16 where only the lower half is looked at.
  for (auto const size : {gib + 1, 2 * gib, 3 * gib, 4 * gib + 16}) {
    SCOPED_TRACE(size);
    expect_refused({room_.bytes(size)});
    expect_refused({room_.text(size)});
  }
  expect_refused({room_.bytes(gib), nullptr, room_.text(1)});
}

TEST_F(postgres_values, of_a_row_are_refused_before_any_is_sent) {
  db::load_target const into{.table = "t", .columns = {"a", "b"}};
  std::vector<value> const cells{true, room_.bytes(gib), room_.bytes(gib), std::string_view("x")};
  // Nobody's connection: asking it anything would fail otherwise.
  connection const none(::PQconnectStart("hostaddr=127.0.0.1 port=1 dbname=none"));
  try {
    static_cast<void>(copy_in(*none, into, cells, [] { return patience(); }));
    ADD_FAILURE() << "taken";
  } catch (error const& e) {
    EXPECT_EQ(e.kind(), error_code::bad_argument);
    EXPECT_NE(std::string_view(e.what()).find("1 GiB"), std::string_view::npos) << e.what();
  }
}

}  // namespace
}  // namespace drivers
}  // namespace v1
}  // namespace daybook
