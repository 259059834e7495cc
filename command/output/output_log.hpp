// What a command prints, as lines of the log: so much of it in a minute that a gigabyte harms
// nobody, and then how much more there was.
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
  /// `who`: the first fields of each line. `limit`: so many bytes in each minute; each line counts
  /// as some more than it has.
  output_log(journal& log, nlohmann::ordered_json const& who, std::size_t limit);
  output_log(output_log const&) = delete;
  output_log& operator=(output_log const&) = delete;
  ~output_log();

  void take(printed_line const& one);
  /// A line of another event, of the same measure; the beginning of the text is enough.
  void warn(std::string_view event, std::string_view text, std::string_view why);
  void finish();

 private:
  using clock = std::chrono::steady_clock;
  static constexpr auto period = std::chrono::minutes{1};
  /// Whether there is room for it; else it is counted.
  bool has_room(std::size_t size);

  journal& log_;
  std::unique_ptr<nlohmann::ordered_json> who_;
  std::size_t limit_;
  std::size_t room_ = limit_;
  clock::time_point renewed_ = clock::now();
  std::uint64_t left_out_ = 0;
};

}  // namespace command
