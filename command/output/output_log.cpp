#include "output/output_log.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace command {

namespace {

using json = nlohmann::ordered_json;

/// Bytes that a line counts beside its text, so that empty lines have a limit, too.
constexpr std::size_t line_overhead = 64;
/// Bytes of a text that a warning quotes.
constexpr std::size_t longest_quote = 200;

json joined(json const& fields, json const& more) {
  auto out = fields;
  out.update(more);
  return out;
}

}  // namespace

output_log::output_log(journal& log, json const& fields, std::size_t limit)
    : log_(log), fields_(std::make_unique<json>(fields)), limit_(limit) {}
output_log::~output_log() = default;

bool output_log::has_room(std::size_t size) {
  auto const now = clock::now();
  if (now - renewed_ >= period) {
    finish();
    renewed_ = now;
    room_ = limit_;
  }
  auto const wanted = size + line_overhead;
  if (left_out_ == 0 && wanted <= room_) {
    room_ -= wanted;
    return true;
  }
  left_out_ += size + 1;
  return false;
}

void output_log::take(printed_line const& line) {
  if (!has_room(line.text.size())) return;
  log_.info("output", joined(*fields_, {{"stream", line.stream}, {"text", line.text}}));
}

void output_log::warn(std::string_view event, std::string_view text, std::string_view why) {
  text = text.substr(0, longest_quote);
  if (!has_room(text.size())) return;
  log_.warning(event, joined(*fields_, {{"text", text}, {"why", why}}));
}

void output_log::finish() {
  if (left_out_ == 0) return;
  log_.warning("output_left_out", joined(*fields_, {{"bytes", std::exchange(left_out_, 0)}}));
}

}  // namespace command
