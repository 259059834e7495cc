// The intakes that a node serves. Each lane has a thread of its own, which makes its source, takes
// the lane's run if no other node has it, and takes messages until the node stops.
// Thread-safe.
#pragma once

#include "intake/store.hpp"
#include "service/engine.hpp"

#include <daybook/broker.hpp>
#include <daybook/intake.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace work {

[[nodiscard]] intakes::dependencies dependencies_of(engine& book);

class intake_service {
 public:
  using source_factory = std::variant<broker::log_factory, broker::queue_factory>;

  intake_service(engine& book, std::chrono::milliseconds poll) : engine_(&book), poll_(poll) {}
  intake_service(intake_service const&) = delete;
  intake_service& operator=(intake_service const&) = delete;
  ~intake_service() { stop(); }

  // As node's verbs.
  void take_in(std::string_view intake, source_factory source, intake_body body);
  void remove_intake(std::string_view intake);
  void start();
  void wake() noexcept;
  /// The first half of stop().
  void ask_to_stop() noexcept;
  void stop() noexcept;
  /// Takes all messages that are there, in this thread. Returns their number.
  std::int64_t drain();

 private:
  /// An intake, and the threads of its lanes.
  struct served {
    std::string name;
    source_factory source;
    intake_body body;
    std::mutex guard;
    std::condition_variable_any changed;
    std::int64_t wakes = 0;
    std::mutex ending;  ///< held while joining the threads
    std::vector<std::jthread> threads;
  };
  using intake_ref = std::shared_ptr<served>;

  void spawn(intake_ref const& intake);
  void serve(served& intake, int lane, std::stop_token const& stop) const;
  [[nodiscard]] take_report take(served& intake, take_options options) const;
  [[nodiscard]] std::vector<intake_ref> all() const;
  static void end(served& intake) noexcept;

  engine* engine_;
  std::chrono::milliseconds poll_;
  mutable std::mutex guard_;
  std::map<std::string, intake_ref, std::less<>> intakes_;
  bool started_ = false;
  std::stop_source stopping_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
