// Metrics as values, and as the text that Prometheus reads (format 0.0.4).
// Thread safety: values.
//
//   prometheus_text({{.name = "daybook_processes", .help = "...", .samples = {{{}, 3}}}})
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace command {

enum class metric_type { gauge, counter };

/// One series at one instant.
struct sample {
  std::vector<std::pair<std::string, std::string>> labels;  ///< name and value
  double value = 0;
};

struct metric {
  std::string name;
  metric_type type = metric_type::gauge;
  std::string help;  ///< one line
  std::vector<sample> samples;
};

/// All of them, in this order; one without a sample is left out. Values of labels are escaped.
[[nodiscard]] std::string prometheus_text(std::vector<metric> const& metrics);

}  // namespace command
