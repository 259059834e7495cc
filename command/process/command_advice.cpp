#include "process/command_advice.hpp"

#include "cli/format.hpp"
#include "process/child.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace command {

namespace {

using words = std::vector<pattern>;

/// What people or programs put into a queue, and we into a command.
struct untrusted {
  std::string_view place;
  std::string_view variable;
};
constexpr std::array<untrusted, 2> untrusted_places{
    {{"key", "DAYBOOK_KEY"}, {"payload", "DAYBOOK_PAYLOAD"}}};

constexpr std::array<std::string_view, 7> shells{"sh", "bash", "dash", "ash", "ksh", "zsh", "fish"};

std::string plain_text(pattern const& word) { return word.is_plain() ? word.filled({}) : ""; }

bool is_shell(pattern const& word) {
  auto const text = plain_text(word);
  auto const name = std::string_view(text).substr(text.rfind('/') + 1);
  return std::find(shells.begin(), shells.end(), name) != shells.end();
}

/// "-c", "-ec"
bool hands_script(pattern const& word) {
  auto const text = plain_text(word);
  return text.size() > 1 && text[0] == '-' && text[1] != '-' && text.ends_with('c');
}

/// The word that a shell reads as a script.
std::optional<std::size_t> script_in(words const& all) {
  auto const shell = std::find_if(all.begin(), all.end(), is_shell);
  auto const flag = std::find_if(shell, all.end(), hands_script);
  if (all.end() - flag < 2) return {};
  return static_cast<std::size_t>(flag - all.begin()) + 1;
}

std::optional<std::string> harm_of(words const& all, untrusted const& untrusted) {
  auto const place = static_cast<std::size_t>(
      std::find(task_places.begin(), task_places.end(), untrusted.place) - task_places.begin());
  auto const script = script_in(all);
  if (script && all[*script].has(place)) {
    return fmt::format(
        "the shell would execute what is in a {0}: write \"${1}\" in the place of "
        "{{{0}}}",
        untrusted.place, untrusted.variable);
  }
  bool options_over = script.has_value();  // what follows a script are its arguments
  for (std::size_t i = 1; i < all.size(); ++i) {
    options_over = options_over || plain_text(all[i]) == "--";
    if (options_over || !all[i].begins_with(place)) continue;
    return fmt::format(
        "a {0} that begins with - would be read as an option: put \"--\" before "
        "{{{0}}} where the program knows that, or let it read ${1}",
        untrusted.place, untrusted.variable);
  }
  return {};
}

void add_missing(std::vector<command_advice>& advice, std::string owner, words const& all,
                 std::string const& place) {
  if (!all.front().is_plain()) return;  // known with the task only
  auto const word = plain_text(all.front());
  auto why = why_not_started(word);
  if (why.empty()) return;
  advice.push_back({command_advice::hazard::missing_program, std::move(owner), place,
                    fmt::format("{}: {}", printable(word), why)});
}

}  // namespace

std::vector<command_advice> advice_on_commands(settings const& file) {
  std::vector<command_advice> out;
  for (auto const& one : file.schedules) {
    add_missing(out, "schedule " + one.name, one.command, one.command_place);
  }
  for (auto const& one : file.queues) {
    auto const owner = "queue " + one.name;
    add_missing(out, owner, one.command, one.command_place);
    if (one.batch > 0) continue;  // its tasks come as lines of JSON
    for (auto const& from : untrusted_places) {
      auto const harm = harm_of(one.command, from);
      if (harm) {
        out.push_back({command_advice::hazard::unsafe_key, owner, one.command_place, *harm});
      }
    }
  }
  return out;
}

}  // namespace command
