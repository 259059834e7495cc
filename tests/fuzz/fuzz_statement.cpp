// Any text as a statement with parameters: rewritten without a crash, the same number of
// placeholders as it says, and unchanged where there are none.
#include "db/statement.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using daybook::db::placeholder;
  std::string const text(reinterpret_cast<char const*>(data), size);
  for (auto const style :
       {placeholder::dollar, placeholder::question, placeholder::question_digit}) {
    auto const made = daybook::db::rewrite("fuzz", text, style);
    for (auto const index : made.order) {
      if (index >= made.inputs.size()) std::abort();
    }
    if (made.order.empty() && made.text != text) std::abort();
  }
  return 0;
}
