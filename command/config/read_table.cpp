#include "config/read_table.hpp"

#include "config/options.hpp"

#include <daybook/zone.hpp>

namespace command {

namespace {

constexpr std::string_view ours = "DAYBOOK_";

}  // namespace

std::vector<pattern> command_of(toml_value const& given, place_names known) {
  std::vector<pattern> out;
  for (auto const& [text, value] : given.texts()) {
    if (text.find('\0') != std::string::npos) value.wrong("a word cannot hold a zero byte");
    out.push_back(value.checked([&text = text, known] { return pattern(text, known); }));
    if (out.size() == 1 && text.empty()) value.wrong("its first word names the program");
  }
  if (out.empty()) given.wrong("its first word names the program");
  return out;
}

std::vector<std::pair<std::string, std::string>> environment_of(toml_value const& value) {
  auto out = value.named_texts();
  for (auto const& [name, text] : out) {
    bool const possible =
        !name.empty() && name.find_first_of(std::string_view("=\0", 2)) == std::string::npos;
    if (!possible || text.find('\0') != std::string::npos) {
      value.wrong(fmt::format("'{}' cannot be in an environment", name));
    }
    if (name.starts_with(ours)) value.wrong(fmt::format("{}... is set by us", ours));
  }
  return out;
}

std::string zone_of(toml_value const& value) {
  auto out = value.text();
  value.checked([&] { return daybook::zone(out); });
  return out;
}

void settle_backoff(toml::table const& table, std::string_view file,
                    std::chrono::milliseconds first, std::chrono::milliseconds& longest) {
  auto const* const node = table.get("longest_backoff");
  if (node == nullptr) {
    longest = std::max(longest, first);
  } else if (longest < first) {
    toml_value(file, "longest_backoff", *node)
        .wrong(fmt::format("shorter than the first one, {}", text_of(first)));
  }
}

}  // namespace command
