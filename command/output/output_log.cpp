#include "output/output_log.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace command {

namespace {

using json = nlohmann::ordered_json;

/// An empty line is a line, too.
constexpr std::size_t least = 64;
/// To know what was meant.
constexpr std::size_t enough = 200;

json with(json const& who, json const& more) {
  auto out = who;
  out.update(more);
  return out;
}

}  // namespace

output_log::output_log(journal& log, json const& who, std::size_t limit)
    : log_(log), who_(std::make_unique<json>(who)), limit_(limit) {}
output_log::~output_log() = default;

bool output_log::has_room(std::size_t size) {
  auto const now = clock::now();
  if (now - renewed_ >= period) {
    finish();
    renewed_ = now;
    room_ = limit_;
  }
  auto const wanted = size + least;
  if (left_out_ == 0 && wanted <= room_) {
    room_ -= wanted;
    return true;
  }
  left_out_ += size + 1;
  return false;
}

void output_log::take(printed_line const& one) {
  if (!has_room(one.text.size())) return;
  log_.info("output", with(*who_, {{"stream", one.stream}, {"text", one.text}}));
}

void output_log::warn(std::string_view event, std::string_view text, std::string_view why) {
  text = text.substr(0, enough);
  if (!has_room(text.size())) return;
  log_.warning(event, with(*who_, {{"text", text}, {"why", why}}));
}

void output_log::finish() {
  if (left_out_ == 0) return;
  log_.warning("output_left_out", with(*who_, {{"bytes", std::exchange(left_out_, 0)}}));
}

}  // namespace command
