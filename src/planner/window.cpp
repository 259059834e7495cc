#include "planner/strategy.hpp"

namespace daybook {
inline namespace v1 {
namespace planners {

bool feed(store const& of, window_strategy const& how, sink& into) {
  static_cast<void>(how), static_cast<void>(into);
  bad(of.declared().name, "TODO window");
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
