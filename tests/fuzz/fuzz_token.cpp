// Any text as a run's token: read back to the very same text, or no token.
#include "core/run/token.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  auto const read = daybook::core::read_token(text);
  if (!read) return 0;
  auto const again =
      daybook::core::read_token(daybook::core::write_token(read->identity, read->held));
  if (!again || again->held.uuid != read->held.uuid || again->held.epoch != read->held.epoch ||
      again->identity.process != read->identity.process) {
    std::abort();
  }
  return 0;
}
