#include "api/requests.hpp"

namespace command {

namespace {

constexpr std::chrono::hours kept{1};
constexpr std::size_t most = 10'000;

}  // namespace

std::optional<http_answer> named_requests::begin(std::string const& name,
                                                 std::string const& print) {
  std::lock_guard const locked(guard_);
  auto const now = clock::now();
  if (all_.size() >= most) {
    std::erase_if(all_,
                  [&](auto const& two) { return two.second.answer && now - two.second.at > kept; });
    // Else the book's own record of names has to do: nothing happens twice.
    if (all_.size() >= most)
      std::erase_if(all_, [](auto const& two) { return two.second.answer.has_value(); });
  }
  auto const [at, is_new] = all_.try_emplace(name, one{print, {}, now});
  if (is_new) return std::nullopt;
  if (at->second.print != print) {
    throw refusal(422, "other-body", "Another request was sent with this Idempotency-Key.");
  }
  if (!at->second.answer) {
    throw refusal(409, "in-progress", "The request is under way. Send it again in a while.");
  }
  return at->second.answer;
}

void named_requests::end(std::string const& name, http_answer const& answer) {
  std::lock_guard const locked(guard_);
  auto const found = all_.find(name);
  if (found != all_.end()) found->second.answer = answer;
}

void named_requests::give_up(std::string const& name) {
  std::lock_guard const locked(guard_);
  all_.erase(name);
}

}  // namespace command
