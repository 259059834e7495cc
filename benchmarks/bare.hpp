// A client library and nothing else: what a program sends that was written by hand. The yardstick.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace bench {

using parameter = std::variant<std::int64_t, std::string_view>;

struct reply {
  std::int64_t affected = 0;
  std::int64_t number = 0;  ///< the first cell, or MariaDB's last_insert_id()
};

/// One connection. On failure: throws std::runtime_error.
class bare {
 public:
  bare() = default;
  bare(bare const&) = delete;
  bare& operator=(bare const&) = delete;
  virtual ~bare() = default;

  /// Prepared once, executed by its number.
  virtual int prepare(std::string const& text) = 0;
  virtual reply execute(int statement, std::span<parameter const> values) = 0;
};

std::unique_ptr<bare> open_bare(std::string const& url);

}  // namespace bench
