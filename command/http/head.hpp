// The head of a request, checked byte by byte before anything else looks at it: what a parser or a
// proxy might read in two ways is refused.
// Thread safety: any thread.
#pragma once

#include "http/message.hpp"

#include <cstddef>
#include <string_view>

namespace command {

inline constexpr std::size_t longest_head = 8192;
inline constexpr std::size_t most_headers = 64;

/// Up to and with the empty line. Refused are: bytes that are not printable ASCII, bare CR or LF,
/// folded or nameless headers, more than one Host or none, two of any header that decides
/// something, transfer codings other than chunked, targets that do not begin with / or have //, ..,
/// \ or an encoded slash, backslash or NUL. On failure: throws refusal (400, 431).
[[nodiscard]] http_request read_head(std::string_view head);

}  // namespace command
