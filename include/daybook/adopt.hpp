// Connections of the application's own: a transaction that it has begun, joined; one handle that
// a book borrows; a pool that lends. Nothing is left on a handle: no setting, no prepared
// statement, no open transaction.
// Thread safety: as each says.
//
//   PQexec(shop, "begin");
//   auto tx = book.join(*shop);                              // the same transaction
//   tx.exec("insert into ledger(order_id) values (:o)", order);
//   PQexec(shop, "commit");
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/transaction.hpp>

#include <functional>
#include <memory>
#include <string>

namespace daybook {
inline namespace v1 {

/// An open transaction of the application's, which alone commits it or rolls it back: the
/// library cannot. After an error of the database, roll it back.
/// Thread safety: as the handle's. Lifetime: until the transaction ends; then calls throw
/// daybook::error (error_code::bad_argument). The handle must outlive it, and no result of the
/// application's own statements may be unread when it is used or destroyed.
class DAYBOOK_EXPORT external_transaction : public transaction {
 public:
  external_transaction(std::unique_ptr<db::session> session, db::user_statements& statements,
                       std::string book_id);
  external_transaction(external_transaction const&) = delete;
  external_transaction& operator=(external_transaction const&) = delete;
  ~external_transaction();

  /// The book that it was joined for.
  [[nodiscard]] std::string const& book_id() const noexcept { return book_id_; }
  /// For the other rooms of this library only.
  [[nodiscard]] db::session& internals() const noexcept { return *session_; }

 private:
  std::unique_ptr<db::session> session_;
  std::string book_id_;
};

/// How the application's pool lends connections to a book. Both are called from any thread, the
/// one that renews the lease among them; at most book_options::connections are out at once, and
/// one more for the renewal. Each loan is for one piece of work, at most a step.
template <native_handle N>
struct connection_source {
  /// A connection without an open transaction; waiting is fine. What it throws goes through;
  /// null is error_code::unreachable, and asked for again where that is worth it.
  std::function<N*()> take;
  /// The connection back. `broken`: of no more use, close it. Must not throw.
  std::function<void(N*, bool broken)> give_back;
};

}  // namespace v1
}  // namespace daybook
