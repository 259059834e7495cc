#include "config/settings.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/nearest.hpp"
#include "config/read_aggregate.hpp"
#include "config/read_hook.hpp"
#include "config/read_plan.hpp"
#include "config/read_queue.hpp"
#include "config/read_schedule.hpp"
#include "config/toml_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace command {

namespace {

constexpr std::size_t largest_file = std::size_t{8} << 20U;

toml::table parsed(std::string const& text, std::string const& file) {
  try {
    return toml::parse(std::string_view(text), std::string_view(file));
  } catch (toml::parse_error const& e) {
    wrong_in_file(file, e.source(), e.description());
  }
}

std::string one_of(std::string_view kind) {
  return fmt::format("{} {}", kind.starts_with('a') ? "an" : "a", kind);
}

/// Each table of [[kind]]: what `read` makes of it, none with another's name.
template <class T>
void read_all(std::vector<T>& vector, toml::node const& node, std::string const& file,
              std::string_view kind, T (*read)(toml::table const&, std::string_view)) {
  auto const* const all = node.as_array();
  if (all == nullptr || !all->is_homogeneous<toml::table>()) {
    wrong_in_file(file, node.source(),
                  fmt::format("{} is a table in double brackets: [[{}]]", one_of(kind), kind));
  }
  for (auto const& one : *all) {
    auto declared = read(*one.as_table(), file);
    bool const known = std::any_of(vector.begin(), vector.end(),
                                   [&](auto const& other) { return other.name == declared.name; });
    if (known) {
      wrong_in_file(file, one.as_table()->get("name")->source(),
                    fmt::format("name: there is {} '{}' above", one_of(kind), declared.name));
    }
    vector.push_back(std::move(declared));
  }
}

/// The schedules of queues and aggregations have names of their own.
void refuse_taken_names(settings const& settings, toml::table const& table,
                        std::string const& file) {
  for (std::size_t i = 0; i < settings.schedules.size(); ++i) {
    auto const& name = settings.schedules[i].name;
    for (auto const& of : settings.queues) {
      bool const taken = (of.rounds && name == of.rounds_schedule()) ||
                         (of.reconcile && name == of.reconcile_schedule());
      if (!taken) continue;
      wrong_in_file(file, table["schedule"][i]["name"].node()->source(),
                    fmt::format("name: it is that of a schedule of the queue '{}'", of.name));
    }
    for (auto const& of : settings.aggregates) {
      if (!of.cron || name != of.schedule()) continue;
      wrong_in_file(file, table["schedule"][i]["name"].node()->source(),
                    fmt::format("name: it is that of the aggregate '{}'", of.name));
    }
  }
}

}  // namespace

settings read_settings(std::string const& file) {
  errno = 0;
  std::ifstream input(file);
  if (!input) {
    if (errno == ENOENT) return {};
    throw complaint(exit_code::io, fmt::format("{}: {}", printable(file), std::strerror(errno)));
  }
  std::string text;
  std::array<char, 65536> piece{};
  // Not by iterators: they throw what the stream knows nothing of, of a folder for instance.
  while (input.read(piece.data(), piece.size()) || input.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(input.gcount()));
    if (text.size() > largest_file) {
      throw complaint(exit_code::bad_data,
                      fmt::format("{}: longer than {} MiB: no file of settings", printable(file),
                                  largest_file >> 20U));
    }
  }
  if (input.bad()) {
    throw complaint(exit_code::io,
                    fmt::format("{}: {}", printable(file),
                                errno == 0 ? "cannot be read" : std::strerror(errno)));
  }
  settings out;
  auto const all = parsed(text, file);
  out.is_empty = all.empty();
  for (auto const& [name, value] : all) {
    if (name == "database") {
      out.database = value.value_exact<std::string>();
      if (!out.database) {
        wrong_in_file(file, value.source(), "database is a URL: database = \"sqlite:shop.db\"");
      }
    } else if (name == "schedule") {
      read_all(out.schedules, value, file, "schedule", read_schedule);
    } else if (name == "queue") {
      read_all(out.queues, value, file, "queue", read_queue);
    } else if (name == "aggregate") {
      read_all(out.aggregates, value, file, "aggregate", read_aggregate);
    } else if (name == "plan") {
      read_all(out.plans, value, file, "plan", read_plan);
    } else if (name == "hook") {
      read_all(out.alerts.hooks, value, file, "hook", read_hook);
    } else if (name == "on_problem") {
      read_on_problem(out.alerts, toml_value(file, "on_problem", value));
    } else if (name == "alerts") {
      read_alerts(out.alerts, toml_value(file, "alerts", value));
    } else {
      static std::vector<std::string> const known{"database",  "schedule", "queue",      "plan",
                                                  "aggregate", "hook",     "on_problem", "alerts"};
      wrong_in_file(file, name.source(),
                    fmt::format("'{}' is not known; {}", name.str(),
                                list_of(name.str(), known,
                                        "database, [[schedule]], [[queue]], [[plan]], "
                                        "[[aggregate]], [[hook]], on_problem and [alerts]")));
    }
  }
  refuse_taken_names(out, all, file);
  return out;
}

}  // namespace command
