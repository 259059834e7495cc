// The steps that bring a book to a version.
// Thread safety: values.
#pragma once

#include <string>

namespace daybook {
inline namespace v1 {

/// One migration, as SQL that a person may read, keep and run.
struct migration_info {
  int version = 0;
  std::string name;
  std::string text;
  bool applied = false;
};

}  // namespace v1
}  // namespace daybook
