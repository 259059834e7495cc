#include <daybook/observer.hpp>

namespace daybook {
inline namespace v1 {

observer::~observer() = default;

}  // namespace v1
}  // namespace daybook
