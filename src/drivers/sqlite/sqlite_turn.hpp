// Turns of those who write one SQLite file. SQLite lets in one writer at a time and leaves it to
// chance who that is. Here they stand in line: threads of a process in the order in which they
// came, processes by a lock on a side file, FILE-turn.
//
//   auto const line = turnstile::before("shop.db");
//   auto const mine = line->take(std::chrono::seconds{1});   // then BEGIN IMMEDIATE, COMMIT
//
// It is a courtesy and no more: SQLite's own lock decides who writes. Whoever waits too long, for
// one who was stopped or for a child that inherited the lock, goes on without a turn.
// Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace drivers {

class turnstile;

/// Work that waits for its turn, and that somebody whose turn it is may do as well.
/// Lifetime: until it has come back from take().
class passenger {
 public:
  passenger() = default;
  passenger(passenger const&) = delete;
  passenger& operator=(passenger const&) = delete;
  /// Another has done it.
  [[nodiscard]] bool arrived() const noexcept { return where_ == place::arrived; }

 protected:
  ~passenger() = default;

 private:
  friend class turnstile;
  enum class place : std::uint8_t { waits, taken_along, arrived };
  place where_ = place::waits;
};

/// One's turn, until given back or destroyed, on any thread. Empty: there was none to be had.
class turn {
 public:
  turn() = default;
  explicit turn(std::shared_ptr<turnstile> turnstile) noexcept : turnstile_(std::move(turnstile)) {}
  turn(turn&& other) noexcept = default;
  turn& operator=(turn&& other) noexcept {
    give_back();
    turnstile_ = std::move(other.turnstile_);
    return *this;
  }
  ~turn() { give_back(); }

  explicit operator bool() const noexcept { return turnstile_ != nullptr; }
  void give_back() noexcept;

 private:
  std::shared_ptr<turnstile> turnstile_;
};

class turnstile : public std::enable_shared_from_this<turnstile> {
 public:
  /// That of the file, shared by everybody in this process who writes it; kept as long as anybody
  /// has it. `database` must exist. Where no side file can be had, threads take turns all the same.
  [[nodiscard]] static std::shared_ptr<turnstile> before(std::string const& database);

  /// Waits at most so long; empty where that was not enough. Where whoever has the turn has had it
  /// for longer than that already, it is not waited for at all.
  /// Empty also where another has taken `passenger` along: it has arrived then.
  [[nodiscard]] turn take(std::chrono::milliseconds at_most, passenger* passenger = nullptr);

  /// For the one whose turn it is: passengers who wait in this process, in their order, at most so
  /// many. They wait on, whatever their limit is, until arrived() is called with them.
  [[nodiscard]] std::vector<passenger*> take_along(std::size_t at_most);
  void arrived(std::vector<passenger*> const& passengers) noexcept;

  /// So many of this process.
  [[nodiscard]] std::size_t waiting() const;

  explicit turnstile(std::string const& database);
  turnstile(turnstile const&) = delete;
  turnstile& operator=(turnstile const&) = delete;
  ~turnstile();

 private:
  friend class turn;
  class line;
  void give_back() noexcept;

  std::shared_ptr<line> line_;
};

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
