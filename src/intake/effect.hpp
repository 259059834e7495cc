// The effect of a part of a page, in a transaction that the caller has begun.
// Thread safety: one thread.
#pragma once

#include "core/tx/context.hpp"
#include "intake/definition.hpp"
#include "intake/mapping.hpp"
#include "queue/members/store.hpp"

#include <daybook/intake.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace intakes {

using some = std::span<mapped const* const>;

class effect {
 public:
  /// `queue`: null for a body; all is borrowed. On failure: daybook::error
  /// (error_code::bad_argument) where there is neither.
  effect(core::context const& context, definition const& declared, queues::store* queue,
         intake_body const& body);

  /// Whether the names of messages are their keys; or else only remembered.
  [[nodiscard]] bool names_are_keys() const noexcept { return queue_ != nullptr; }
  /// For write(), and before its transaction: as queues::store::reserve().
  [[nodiscard]] std::int64_t reserve(some messages) const;
  /// On failure: throws what the body throws.
  void write(db::session& session, some messages, std::int64_t first) const;
  /// Puts those aside that are refused.
  void put_aside(db::session& session, some messages) const;

 private:
  void add_tasks(db::session& session, some messages, std::int64_t first) const;
  void change_members(db::session& session, some messages, std::int64_t first) const;

  core::context context_;
  definition const* declared_;
  queues::store* queue_;
  intake_body const* body_;
};

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
