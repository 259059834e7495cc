// The pulse of a book: a text for each topic, which changes when the topic does. And a short memory
// of answers, so that fifty viewers cost as much as one. Thread safety: any thread.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace daybook {
inline namespace v1 {
class book;
}  // namespace v1
}  // namespace daybook

namespace command {

/// A digest of what the book says of each topic: runs, queues, schedules, ...
[[nodiscard]] nlohmann::ordered_json revisions_of(daybook::book const& book);

/// Answers by their question. A question that is being answered is not asked again meanwhile. Each
/// is kept for a second, and for twenty times as long as it took: no more than a twentieth of the
/// database's time goes into one question.
class kept_answers {
 public:
  using ask = std::function<nlohmann::ordered_json()>;
  /// What `question` throws goes through.
  [[nodiscard]] nlohmann::ordered_json get(std::string const& key, ask const& question);
  /// After an act: its effect is to be seen.
  void forget();

 private:
  using clock = std::chrono::steady_clock;
  struct one {
    std::mutex guard;
    nlohmann::ordered_json answer;
    clock::time_point until{};
    std::size_t age = 0;  ///< how often all were forgotten when it was made
  };
  std::mutex guard_;
  std::size_t age_ = 0;
  std::map<std::string, std::shared_ptr<one>> all_;
};

}  // namespace command
