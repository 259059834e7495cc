#include "verbs/metrics/prometheus.hpp"

#include <fmt/format.h>

#include <string_view>

namespace command {

namespace {

/// A quotation mark, a backslash and a line feed end nothing in a label.
std::string escaped(std::string_view text) {
  std::string out;
  for (char const one : text) {
    if (one == '\\' || one == '"') out += '\\';
    out += one == '\n' ? "\\n" : std::string(1, one);
  }
  return out;
}

std::string line_of(std::string const& name, sample const& one) {
  std::string labels;
  for (auto const& [label, value] : one.labels) {
    labels += fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", label, escaped(value));
  }
  return fmt::format("{}{}{}{} {}\n", name, labels.empty() ? "" : "{", labels,
                     labels.empty() ? "" : "}", one.value);
}

}  // namespace

std::string prometheus_text(std::vector<metric> const& metrics) {
  std::string out;
  for (auto const& one : metrics) {
    if (one.samples.empty()) continue;
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", one.name, one.help, one.name,
                       one.type == metric_type::counter ? "counter" : "gauge");
    for (auto const& each : one.samples) out += line_of(one.name, each);
  }
  return out;
}

}  // namespace command
