#include "base/rows.hpp"

#include "base/text.hpp"

#include <daybook/error.hpp>

#include <system_error>

namespace daybook {
inline namespace v1 {
namespace base {

rows& rows::add(std::string_view text) {
  next();
  add_json_text(text_, text);
  return *this;
}

std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> out;
  auto const* at = text.data();
  auto const* const end = at + text.size();
  while (at != end) {
    if (*at == '[' || *at == ']' || *at == ',' || *at == ' ') {
      ++at;
      continue;
    }
    auto const [next, failed] = std::from_chars(at, end, out.emplace_back());
    if (failed != std::errc()) {
      throw error({.kind = error_code::internal},
                  "a claim's ranges are not numbers: it was changed by "
                  "something else than this library");
    }
    at = next;
  }
  return out;
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
