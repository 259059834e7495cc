// The console's page, as it is built and committed in console/dist: part of this program.
// Thread safety: values that never change.
#pragma once

#include <string>
#include <string_view>

namespace command {

struct page_file {
  std::string_view name;  ///< "app.js"
  std::string_view type;
  std::string_view bytes;
  std::string etag;  ///< with its quotes
};

/// Null: there is none of that name. "" is index.html.
[[nodiscard]] page_file const* find_page(std::string_view name);

}  // namespace command
