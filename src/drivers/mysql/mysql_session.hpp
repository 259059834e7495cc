// A connection to MariaDB or MySQL as the seam has it; mysql.cpp says how.
// Thread safety: as db::session.
#pragma once

#include "db/session.hpp"
#include "db/url.hpp"
#include "drivers/drivers.hpp"
#include "drivers/mysql/mysql_connection.hpp"
#include "drivers/mysql/mysql_error.hpp"
#include "drivers/mysql/mysql_statement.hpp"
#include "drivers/mysql/mysql_watch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <mysql.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

class mysql_session final : public db::session {
 public:
  mysql_session(db::url const& url, db::connect_options const& options);
  mysql_session(::MYSQL& handle, transactions mode, give_back<::MYSQL> after);
  ~mysql_session() override { connection_.get_deleter().set_broken(!usable()); }

  db::table run(db::statement const& statement, std::span<value const> values) override;
  std::vector<db::table> together(std::span<db::call const> calls) override;
  [[nodiscard]] bool sends_together() const noexcept override { return compounds_; }
  std::int64_t load(db::load_target const& target, std::span<value const> cells) override;
  void script(std::string_view text) override;
  [[nodiscard]] bool takes_compounds() const noexcept override { return compounds_; }
  void begin(isolation level) override;
  void commit() override;
  void rollback() noexcept override;
  [[nodiscard]] bool restore() noexcept override;
  [[nodiscard]] bool usable() const noexcept override { return !broken_ && !socket_.ended(); }
  void cut() noexcept override;
  void interrupt() noexcept override;
  [[nodiscard]] db::dialect const& speaks() const noexcept override { return mysql_dialect(); }
  [[nodiscard]] db::native handle() noexcept override;
  [[nodiscard]] std::string schema() override { return schema_of(url_); }
  [[nodiscard]] std::vector<db::fact> facts() override;

 private:
  [[noreturn]] void fail(mysql_problem const& problem, mysql_stage stage,
                         std::string_view statement);
  [[nodiscard]] bool ours() const noexcept { return connection_.get_deleter().ours(); }
  db::table run_alone(db::statement const& statement, std::span<value const> values);
  [[nodiscard]] mysql_stage stage_of(db::statement const& statement) const noexcept;
  void check_alive(std::string_view statement);
  [[nodiscard]] std::chrono::milliseconds limit(std::string_view statement,
                                                bool takes_its_time = false) const;
  void check_transaction_goes_on(std::string_view statement);
  [[noreturn]] void refuse_ended(std::string_view statement) const;
  void watch() noexcept;
  void know_settings(db::statement const& statement);
  void send(std::string_view text, mysql_stage stage, std::string_view statement);
  db::table run_text(db::statement const& statement);
  db::table run_prepared(::MYSQL_STMT& handle, db::statement const& statement,
                         std::span<value const> values);
  [[noreturn]] void fail_prepared(mysql_problem const& problem, db::statement const& statement,
                                  std::string_view name);
  ::MYSQL_STMT* prepare(db::statement const& statement);
  void add_clock_difference(std::vector<db::fact>& facts);

  db::url url_;
  db::connect_options options_{};
  std::chrono::milliseconds answer_timeout_{0};
  std::chrono::steady_clock::time_point begun_{};  ///< the open transaction
  mysql_handle connection_;
  mysql_socket socket_;
  mysql_kind server_;
  bool compounds_ = false;  ///< MariaDB, and one that prepares them
  unsigned long id_ = 0;
  std::string where_;  ///< which server answers, for a second connection through a balancer
  /// By text; nothing where the server takes a statement only as text.
  std::unordered_map<std::string, mysql_statement> statements_;
  bool joined_ = false;  ///< the transaction is the application's
  bool in_transaction_ = false;
  bool failed_ = false;  ///< the transaction is only good for a rollback
  mysql_watch watch_;
  bool lent_ = false;      ///< the native handle, in the open transaction
  bool unknown_ = false;   ///< settings that a statement of the open transaction may have changed
  bool settings_ = false;  ///< they may have changed since restore()
  std::atomic<bool> broken_ = false;
};

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
