#include "core/tx/context.hpp"

#include <daybook/error.hpp>

namespace daybook {
inline namespace v1 {
namespace core {

void context::check_process() const {
  if (!forked()) return;
  throw error({.kind = error_code::forked},
              "this book was opened before fork(), in another process: open one of its own in the "
              "child; on SQLite, execute a program there (exec), or open the first book after the "
              "fork");
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
