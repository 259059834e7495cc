// Writes a command's output into the log. Each minute has a limit, so that a command that prints a
// gigabyte does not fill the disk; a line then says how much was left out.
// Thread safety: one thread.
//
//   output_log told(log, {{"queue", "stock"}, {"key", "product/42"}}, 65536);
//   told.take(line);
//   told.finish();
#pragma once

#include "output/capture.hpp"
#include "output/journal.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace command {

class output_log {
 public:
  /// `fields`: the first fields of each line. `limit`: bytes for each minute; a line counts as its
  /// length and a little more.
  output_log(journal& log, nlohmann::ordered_json const& fields, std::size_t limit);
  output_log(output_log const&) = delete;
  output_log& operator=(output_log const&) = delete;
  ~output_log();

  void take(printed_line const& line);
  /// Logs another event under the same limit; a long text is cut at its end.
  void warn(std::string_view event, std::string_view text, std::string_view why);
  void finish();

 private:
  using clock = std::chrono::steady_clock;
  static constexpr auto period = std::chrono::minutes{1};
  /// Whether the minute has room for a line of this size; counts the line where it has none.
  bool has_room(std::size_t size);

  journal& log_;
  std::unique_ptr<nlohmann::ordered_json> fields_;
  std::size_t limit_;
  std::size_t room_ = limit_;
  clock::time_point renewed_ = clock::now();
  std::uint64_t left_out_ = 0;
};

}  // namespace command
