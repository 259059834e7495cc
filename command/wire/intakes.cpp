#include "wire/intakes.hpp"

#include "cli/format.hpp"

#include <daybook/words.hpp>

#include <nlohmann/json.hpp>

namespace command {

using json = nlohmann::ordered_json;

std::string_view target_word(daybook::intake_options const& options) noexcept {
  if (!options.into.empty()) return "tasks";
  return options.members.empty() ? "body" : "members";
}

json json_of(daybook::intake_info const& intake) {
  json places = json::array();
  for (auto const& one : intake.places) {
    places.push_back({{"topic", one.topic},
                      {"partition", one.partition},
                      {"next", one.next},
                      {"moved", iso(one.moved)},
                      {"taken", one.taken},
                      {"refused", one.refused},
                      {"skipped", one.skipped}});
  }
  auto const& options = intake.options;
  return {{"name", intake.name},
          {"target", target_word(options)},
          {"queue", options.into.empty() ? options.members : options.into},
          {"lanes", options.lanes},
          {"page", options.page},
          {"state", word_of(intake.state)},
          {"error", intake.error},
          {"refused", intake.refused},
          {"places", places}};
}

json json_of(daybook::refused_message const& message) {
  return {{"number", message.number},
          {"at", iso(message.at)},
          {"topic", message.topic},
          {"partition", message.partition},
          {"position", message.position ? json(*message.position) : json(nullptr)},
          {"id", message.id},
          {"key", message.key},
          {"attempts", message.attempts},
          {"reason", message.reason},
          {"body", message.body}};
}

}  // namespace command
