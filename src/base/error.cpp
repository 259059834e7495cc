#include <daybook/error.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {

error::error(error_facts facts, std::string const& message, source_location where)
    : std::runtime_error(message), facts_(std::move(facts)), where_(where) {}

}  // namespace v1
}  // namespace daybook
