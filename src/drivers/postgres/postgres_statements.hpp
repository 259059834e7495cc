// The prepared statements of a connection: each is prepared on the way of its first use, once for
// each row of types.
// Thread safety: one thread at a time.
#pragma once

#include "drivers/postgres/postgres_wire.hpp"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include <libpq-fe.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

class prepared_statements {
 public:
  /// Sends one message, or two where the statement is prepared on the way.
  void send(round_trip& trip, std::string const& text, parameters const& values);
  /// After the round trip: what it has prepared stays, also where executing it failed.
  void keep(answer const& came);
  /// They are made again under other names.
  void forget() noexcept { known_.clear(); }

 private:
  struct prepared {
    std::vector<::Oid> types;
    std::string name;
  };
  struct on_its_way {
    std::string text;
    prepared as;
    std::size_t at;  ///< of the round trip's messages
  };
  [[nodiscard]] prepared const* find(std::string const& text,
                                     std::vector<::Oid> const& types) const;

  std::unordered_map<std::string, std::vector<prepared>> known_;
  std::vector<on_its_way> fresh_;
  std::size_t names_ = 0;
};

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
