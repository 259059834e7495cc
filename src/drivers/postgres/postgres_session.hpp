// A connection to PostgreSQL as the seam has it; postgres.cpp says how.
// Thread safety: as db::session.
#pragma once

#include "db/session.hpp"
#include "db/url.hpp"
#include "drivers/drivers.hpp"
#include "drivers/postgres/postgres_error.hpp"
#include "drivers/postgres/postgres_statements.hpp"
#include "drivers/postgres/postgres_wire.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

class postgres_session final : public db::session {
 public:
  postgres_session(db::url const& url, db::connect_options const& options);
  postgres_session(::PGconn& handle, transactions mode, db::connect_options const& options,
                   give_back<::PGconn> after);
  ~postgres_session() override { connection_.get_deleter().set_broken(!usable()); }

  db::table run(db::statement const& statement, std::span<value const> values) override;
  std::vector<db::table> together(std::span<db::call const> calls) override;
  [[nodiscard]] bool sends_together() const noexcept override { return true; }
  std::int64_t load(db::load_target const& target, std::span<value const> cells) override;
  void script(std::string_view text) override;
  [[nodiscard]] bool listen(std::string_view channel) override;
  [[nodiscard]] bool hear(deadline until, base::bell const& unless) override;
  void stop_listening() override;
  void begin(isolation level) override;
  void commit() override;
  void rollback() noexcept override;
  [[nodiscard]] bool restore() noexcept override;
  void confirm_seen() override;
  [[nodiscard]] bool usable() const noexcept override {
    return !broken_ && ::PQstatus(connection_.get()) == CONNECTION_OK;
  }
  void cut() noexcept override;
  void interrupt() noexcept override;
  [[nodiscard]] db::dialect const& speaks() const noexcept override { return postgres_dialect(); }
  [[nodiscard]] db::native handle() noexcept override;
  [[nodiscard]] std::string schema() override { return "public"; }
  [[nodiscard]] std::vector<db::fact> facts() override;

 private:
  /// Where in a transaction something went wrong: it decides what may have been committed.
  enum class moment { inside, alone, at_commit };

  [[nodiscard]] patience limit(std::string_view statement, bool takes_its_time = false) const;
  void set_up();
  void check_joined();
  void send_begin(round_trip& trip);
  void begin_now();
  void send(round_trip& trip, std::string const& text, parameters const& values);
  /// And which of the answer's results is its own.
  [[nodiscard]] std::size_t send(round_trip& trip, db::statement const& statement,
                                 parameters const& values);
  [[nodiscard]] answer send_commit();
  std::vector<db::table> send_together(std::span<db::call const> calls,
                                       std::span<parameters const> batch);
  void require_connected(std::string const& statement, moment when);
  void require_transaction(std::string const& statement);
  void check(answer const& came, std::string const& statement, moment when);
  void check_replicated(std::string const& statement);
  [[noreturn]] void fail(postgres_failure const& failure, std::string const& statement,
                         moment when);

  db::url url_;
  db::connect_options options_;
  connection connection_;
  cancel_key cancel_;
  prepared_statements statements_;
  postgres_notices heard_;
  std::exception_ptr why_no_begin_;  ///< from handle(), which must not throw
  isolation level_{};
  std::chrono::steady_clock::time_point begun_ =
      std::chrono::steady_clock::now();  ///< the open transaction
  bool open_ = false;                    ///< between begin and its end
  bool begin_sent_ = false;              ///< false while BEGIN waits for its first statement
  bool pooled_ = false;
  bool pooler_ = false;    ///< it was so from the start
  bool joined_ = false;    ///< the transaction is the application's
  bool users_ = false;     ///< statements of a user's are part of the open transaction
  bool settings_ = false;  ///< they may have changed what outlives it
  bool cut_ = false;
  bool broken_ = false;
};

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
