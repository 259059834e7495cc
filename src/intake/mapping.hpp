// Messages as the book takes them: by which name, with which payload, or why not.
// Thread safety: values.
#pragma once

#include <daybook/broker.hpp>
#include <daybook/intake_options.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace intakes {

/// A message of a page. The message's own views are the source's.
struct mapped {
  broker::message message;
  /// By what it is known: the key of its task, and the id that is remembered. Of one that is
  /// refused for want of a name it is made of its text.
  std::string name;
  std::optional<std::string> payload;
  std::string refused;  ///< why; empty: it is not
  bool named = true;    ///< it has a name, and not one made of its text
  int attempts = 0;     ///< how often its effect failed
};

/// `needs_name`: its name is a key, or remembered. `needs_payload`: its body becomes a payload.
[[nodiscard]] mapped map(broker::message const& message, intake_options const& options,
                         bool needs_name, bool needs_payload);

/// Of a message and its place, by which a log that was made anew is known.
[[nodiscard]] std::string anchor_of(broker::message const& message);

[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
