#include "proof/torture/runs/outside.hpp"

#include "proof/torture/job.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torture {

namespace {

constexpr std::size_t all_of_it = std::numeric_limits<std::size_t>::max();
constexpr char const* question_mark = "?";

std::vector<call> read_lines(std::string const& text) {
  std::istringstream in(text);
  std::vector<call> out;
  for (call one; in >> one.step >> one.key >> one.run_no >> one.attempt >> one.epoch >> one.pid >>
                 one.idempotency_key;) {
    out.push_back(one);
  }
  return out;
}

/// In their order, without the questions.
std::vector<call> replayed(std::string const& text) {
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::int64_t> asked_by;
  std::vector<call> out;
  for (auto& one : read_lines(text)) {
    bool const asks = one.idempotency_key == question_mark;
    auto& least = asked_by[{one.step, one.key, one.run_no}];
    if (asks) {
      least = std::max(least, one.attempt);
      continue;
    }
    one.refused = one.attempt < least;
    out.push_back(one);
  }
  return out;
}

}  // namespace

outside::outside(std::string file)
    : file_(::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
  if (file_ < 0) throw std::runtime_error("cannot open " + file);
}

outside::~outside() { ::close(file_); }

std::size_t outside::append(std::string const& line) const {
  if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::runtime_error("the world outside is full");
  }
  return static_cast<std::size_t>(::lseek(file_, 0, SEEK_CUR));
}

std::string outside::text(std::size_t size) const {
  struct stat about {};
  if (::fstat(file_, &about) != 0) throw std::runtime_error("the world outside is gone");
  std::string out(std::min(size, static_cast<std::size_t>(about.st_size)), '\0');
  for (std::size_t at = 0; at < out.size();) {
    auto const got = ::pread(file_, out.data() + at, out.size() - at, static_cast<off_t>(at));
    if (got <= 0) throw std::runtime_error("the world outside cannot be read");
    at += static_cast<std::size_t>(got);
  }
  return out;
}

bool outside::accept(call const& what) {
  auto const end = append(what.step + " " + what.key + " " + std::to_string(what.run_no) + " " +
                          std::to_string(what.attempt) + " " + std::to_string(what.epoch) + " " +
                          std::to_string(what.pid) + " " + what.idempotency_key + "\n");
  return !replayed(text(end)).back().refused;
}

bool outside::ask(std::string const& step, std::string const& key, std::int64_t run_no,
                  std::int64_t attempt) {
  auto const end = append(step + " " + key + " " + std::to_string(run_no) + " " +
                          std::to_string(attempt) + " 0 0 " + question_mark + "\n");
  auto const before = replayed(text(end));
  return std::any_of(before.begin(), before.end(), [&](call const& one) {
    return one.step == step && one.key == key && one.run_no == run_no && !one.refused;
  });
}

std::vector<call> outside::calls() const { return replayed(text(all_of_it)); }

std::int64_t outside::questions() const {
  auto const all = read_lines(text(all_of_it));
  return std::count_if(all.begin(), all.end(),
                       [](call const& one) { return one.idempotency_key == question_mark; });
}

bool decide(daybook::book& with, daybook::key const& piece, outside& world) {
  daybook::process const process{process_name};
  auto const seen = with.find(process, piece);
  if (!seen || seen->info.state != daybook::run_state::unknown) return false;
  bool const done = world.ask(paid_step, piece.str(), seen->info.number, seen->info.attempt + 1);
  auto const effect = done ? daybook::effect_state::done : daybook::effect_state::not_done;
  auto const settled =
      with.resolve(process, piece, {.step = paid_step, .effect = effect, .value = "7"},
                   {.actor = "torture", .reason = "asked outside"});
  return settled == daybook::change_outcome::changed;
}

}  // namespace torture
