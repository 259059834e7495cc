#include "proof/torture/driver.hpp"

#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace torture {

namespace {

template <class T>
bool number(std::string const& text, T& into) {
  auto const* const end = text.data() + text.size();
  auto const [stop, problem] = std::from_chars(text.data(), end, into);
  return problem == std::errc{} && stop == end;
}

}  // namespace

switches::switches(driver_settings& to, std::span<std::string_view const> flaws)
    : to_(&to), flaws_(flaws) {
  add("--engine", &to.engine);
  add("--only", &to.only);
  add("--worker", &to.worker);
  add("--faults", &to.faults);
  add("--server-faults", &to.server_faults);
  add("--lanes", &to.lanes);
  add("--seed", &to.seed);
}

bool switches::take(std::string const& name, std::string const& value) {
  if (name == "--expect") {
    auto const found = std::find(flaws_.begin(), flaws_.end(), value);
    if (found == flaws_.end()) return false;
    to_->expected.push_back(static_cast<std::size_t>(found - flaws_.begin()));
    return true;
  }
  auto const known = known_.find(name);
  if (known == known_.end()) return false;
  if (auto* const* const text = std::get_if<std::string*>(&known->second)) {
    **text = value;
    return true;
  }
  if (auto* const* const whole = std::get_if<int*>(&known->second)) return number(value, **whole);
  if (auto* const* const natural = std::get_if<unsigned*>(&known->second)) {
    return number(value, **natural);
  }
  return false;
}

bool switches::read(std::span<char* const> words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    auto const known = known_.find(words[at]);
    if (known != known_.end() && std::holds_alternative<bool*>(known->second)) {
      *std::get<bool*>(known->second) = true;
      continue;
    }
    if (at + 1 == words.size() || !take(words[at], words[at + 1])) return false;
    ++at;
  }
  return !to_->engine.empty() && to_->lanes > 0;
}

support::engine find_engine(std::string const& name) {
  for (auto const& one : support::engines()) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no engine is named " + name + " (see DAYBOOK_TEST_ENGINES)");
}

std::string worker_path(std::string const& name) {
  auto const own = std::filesystem::read_symlink("/proc/self/exe");
  return (own.parent_path() / name).string();
}

}  // namespace torture
