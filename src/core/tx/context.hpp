// What every room works with: sessions, SQL, the observer; and what a book keeps for the rooms
// above. Lifetime: borrowed from the engine, which outlives them all.
#pragma once

#include "base/platform.hpp"
#include "db/catalogue.hpp"
#include "db/pool.hpp"

#include <daybook/observer.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace core {

class background;
class doorbells;
class registry;

struct context {
  db::pool& sessions;
  db::catalogue const& sql;
  db::user_statements& user_sql;
  db::dialect const& dialect;
  observer& watch;
  std::chrono::milliseconds lease;
  std::int64_t process;      ///< that opened the book
  std::string_view book_id;  ///< made with the book; empty before it is known
  /// On one handle of the application's: no thread renews, so that every step does, and no other
  /// connection is to be had when it breaks.
  bool borrowed = false;
  core::background* asynchronous = nullptr;  ///< the threads of asynchronous calls
  /// For those who wait for words; null: the connections are the application's.
  db::pool* listeners = nullptr;
  core::doorbells* doorbells = nullptr;
  core::registry* queues = nullptr;  ///< what this book keeps of each queue

  /// A child of fork() has copies of the parent's connections, and must not touch them.
  [[nodiscard]] bool forked() const noexcept { return base::process_id() != process; }
  /// Throws daybook::error (error_code::forked) in such a child.
  void check_process() const;
};

}  // namespace core
}  // namespace v1
}  // namespace daybook
