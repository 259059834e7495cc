// One intake of a book: what people ask of it, and its lanes.
// Thread-safe.
#pragma once

#include "core/run/start.hpp"
#include "core/tx/context.hpp"
#include "intake/definition.hpp"
#include "queue/members/store.hpp"

#include <daybook/intake.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace intakes {

/// The book's parts that intakes use. It owns none of them.
struct dependencies {
  core::context context;
  core::holder* lease;
  core::runs* runs;
};

class store {
 public:
  store(dependencies const& parts, definition declared, std::shared_ptr<queues::store> queue)
      : parts_(parts), declared_(std::move(declared)), queue_(std::move(queue)) {}

  /// As it was when this was made.
  [[nodiscard]] definition const& declared() const noexcept { return declared_; }
  [[nodiscard]] core::context const& context() const noexcept { return parts_.context; }
  /// Null: its messages go into no queue.
  [[nodiscard]] queues::store* queue() const noexcept { return queue_.get(); }
  /// As it is declared now, maybe by another process. On failure: daybook::error
  /// (error_code::bad_argument) where it is gone.
  [[nodiscard]] std::unique_ptr<store> now() const;

  /// On failure: daybook::error (error_code::bad_argument) where its messages go into no queue, and
  /// there is no body.
  void check_body(intake_body const& body) const;

  // As intake's verbs.
  take_report take_from(broker::log& source, take_options const& options) const;
  take_report take_from(broker::queue& source, take_options const& options) const;
  /// The same with a source that is opened only when the lane's run is had: what a broker delivers
  /// to a process that may not take it comes again later than what is behind it, and counts as a
  /// delivery that failed.
  take_report take_from(broker::log_factory const& open, take_options const& options) const;
  take_report take_from(broker::queue_factory const& open, take_options const& options) const;
  [[nodiscard]] intake_info info() const;
  [[nodiscard]] std::vector<refused_message> refused(refused_query const& query) const;
  bool retry(std::int64_t number, audit_note const& note, intake_body const& body) const;
  bool discard(std::int64_t number, audit_note const& note) const;
  bool move(broker::log_place const& place, audit_note const& note) const;
  bool set_state(intake_state state, audit_note const& note) const;
  [[nodiscard]] std::vector<change_info> changes() const;

 private:
  template <class Lane, class Open>
  take_report take_with(Open const& open, take_options const& options) const;
  bool change(std::string_view action, std::string_view detail, audit_note const& note,
              std::function<bool(db::session&)> const& guarded) const;

  dependencies parts_;
  definition declared_;
  std::shared_ptr<queues::store> queue_;
};

/// Makes the intake, or changes it to these options.
std::shared_ptr<store> make(dependencies const& parts, std::string_view name,
                            intake_options const& options);
/// Null: there is none of that name.
std::shared_ptr<store> open(dependencies const& parts, std::string_view name);

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
