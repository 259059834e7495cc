// As much of a protocol as the proxy's faults need: where a request and a reply end, and what a
// request does. Nothing is decrypted: the connection must be without TLS.
// Thread safety: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace proxy {

enum class protocol { postgres, mysql };

/// What the client sends before it waits for an answer.
struct request {
  /// `alone`: a statement that writes outside a transaction and so commits by itself.
  enum class kind { other, begin, statement, commit, rollback, alone };

  kind what = kind::other;
  std::string bytes;
  std::string text;         ///< of its statements, one after the other
  std::string transaction;  ///< and of those before it in the same transaction

  /// From here on nobody but the server knows what became of the transaction.
  [[nodiscard]] bool commits() const { return what == kind::commit || what == kind::alone; }
  [[nodiscard]] bool executes() const { return what == kind::statement || what == kind::alone; }
};

struct reply {
  std::string bytes;
  bool ends = false;  ///< the request is answered
};

/// One connection's state.
class wire {
 public:
  virtual ~wire() = default;

  /// Takes the next whole request off `from`; nothing when more bytes are needed.
  std::optional<request> next_request(std::string& from);
  virtual std::optional<reply> next_reply(std::string& from) = 0;

  /// What a server answers that refuses a request: an SQLSTATE, or a number of MariaDB.
  [[nodiscard]] virtual std::string refusal(std::string const& code) const = 0;
  /// Whether the server ends the connection with it.
  [[nodiscard]] virtual bool ends_connection(std::string const& code) const = 0;
  [[nodiscard]] virtual std::string rollback() const = 0;

 protected:
  /// The same, with bytes and text filled in.
  virtual std::optional<request> take_request(std::string& from) = 0;
  [[nodiscard]] bool in_transaction() const noexcept { return in_transaction_; }

 private:
  bool in_transaction_ = false;
  std::string transaction_;
};

std::unique_ptr<wire> make_wire(protocol which);
std::unique_ptr<wire> make_postgres_wire();
std::unique_ptr<wire> make_mysql_wire();

}  // namespace proxy
