// Some tasks of one claim, finished in the transaction of their effect. While it lives nobody else
// may finish them; unless it says that they are in the ledger, they are open again after that.
// Thread safety: one thread at a time. Lifetime: the batch must outlive it.
#pragma once

#include "db/session.hpp"
#include "queue/model/settle.hpp"

#include <daybook/outcome.hpp>
#include <daybook/task.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {

class transaction;

namespace queues {

class batch;

class share {
 public:
  /// On failure: daybook::error (error_code::bad_argument) where there is none, one is not of this
  /// claim or is finished already; then all are as they were.
  share(batch& batch, std::span<task const* const> tasks);
  share(share&& other) noexcept
      : batch_(std::exchange(other.batch_, nullptr)),
        places_(std::move(other.places_)),
        lost_(other.lost_) {}
  share& operator=(share&&) = delete;
  ~share();

  /// Within a transaction: all have succeeded. False: the claim is lost.
  [[nodiscard]] bool write(db::session& session);
  /// The same, where each ends by its verdict, in the order they were given in.
  [[nodiscard]] bool write(db::session& session, std::span<verdict const> verdicts);
  /// Whether the last write said so, or the end of a doubt.
  [[nodiscard]] bool lost() const noexcept { return lost_; }
  /// What has become of a transaction that wrote this and whose COMMIT reply was lost. After it
  /// that will not be committed, where it is not by now. On failure: daybook::error
  /// (error_code::bad_argument) where it finished only some of these.
  enum class fate : std::uint8_t { committed, never_will, lost };
  [[nodiscard]] fate resolve();
  /// The same of all before it of which nobody could find out; without a question where there was
  /// none.
  [[nodiscard]] fate before();
  /// Their transaction may have to be found out about later.
  void doubt() noexcept;

  /// They are in the ledger for good.
  void keep() noexcept;
  /// They are in the ledger of a transaction that is the application's to commit.
  void leave() noexcept { batch_ = nullptr; }

  [[nodiscard]] batch& of() const noexcept { return *batch_; }
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  [[nodiscard]] task const& first() const;

 private:
  void reopen() noexcept;
  [[nodiscard]] fate told();

  batch* batch_;
  std::vector<std::size_t> places_;
  bool lost_ = false;
};

/// Runs `body` in a transaction that finishes all of them, whatever claims of this process they are
/// of. As claim::perform().
outcome perform(std::span<share> all, std::function<void(transaction&)> const& body);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
