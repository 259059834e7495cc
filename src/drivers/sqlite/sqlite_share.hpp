// Group commit: work of several threads of a process in one transaction, done by the one whose
// turn it is. Each within a savepoint: one that fails harms no other.
// Thread safety: the one who does it, while the others wait (passenger).
#pragma once

#include "db/session.hpp"
#include "drivers/sqlite/sqlite_turn.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// So many go into one transaction.
inline constexpr std::size_t most_together = 64;

/// Lifetime: `body` must outlive it.
class shared_work final : public passenger {
 public:
  explicit shared_work(std::function<bool(db::session&)> const& body) : body_(&body) {}
  shared_work(shared_work const&) = delete;
  shared_work& operator=(shared_work const&) = delete;
  ~shared_work() = default;

  /// What the body has returned, when the work was done. On failure: throws what it, or the
  /// COMMIT, has thrown.
  [[nodiscard]] bool result() const;

 private:
  friend void do_together(db::session& session, shared_work& mine,
                          std::vector<passenger*> const& others) noexcept;
  void go(db::session& session);
  void ride(db::session& session);

  std::function<bool(db::session&)> const* body_;
  bool kept_ = false;
  std::exception_ptr failed_;
};

/// Does all of it in the transaction that has begun on `session`, and ends that. Never throws: what
/// went wrong is in result(), a failure of the COMMIT in everybody's.
void do_together(db::session& session, shared_work& mine,
                 std::vector<passenger*> const& others) noexcept;

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
