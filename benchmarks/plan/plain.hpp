// A connection as somebody has it who writes a loop by hand: the client library, SQL as text, rows
// as they come. Thread safety: one thread at a time.
#pragma once

#include "support/engines.hpp"

#include <functional>
#include <string>

namespace bench {

class plain {
 public:
  /// As durable as the library's own. On failure, everywhere: std::runtime_error.
  explicit plain(support::fresh_database const& to);

  void execute(std::string const& text) { on_.execute(text); }
  /// Each row of one query: its columns, of which none is null. How many there were.
  long rows(std::string const& query, std::function<void(char const* const*)> const& each);

 private:
  support::raw_connection on_;
};

}  // namespace bench
