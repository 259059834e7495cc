#include "drivers/postgres/postgres_adopt.hpp"

#include "drivers/postgres/postgres_error.hpp"

#include <daybook/error.hpp>

#include <string_view>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

[[noreturn]] void refuse(error_code kind, std::string const& where, std::string_view reason) {
  throw error({.kind = kind}, where + ": " + std::string(reason));
}

/// A setting that the server reports by itself.
bool reports(::PGconn& handle, char const* setting, std::string_view wanted) {
  char const* const found = ::PQparameterStatus(&handle, setting);
  return found == nullptr || wanted == found;
}

void check_transaction(::PGconn& handle, transactions mode, std::string const& where) {
  bool const joined = mode == transactions::applications;
  switch (::PQtransactionStatus(&handle)) {
    case PQTRANS_IDLE:
      if (!joined) return;
      refuse(error_code::bad_argument, where,
             "no transaction is open on the connection, or not any more: send BEGIN, then join it");
    case PQTRANS_INTRANS:
      if (joined) return;
      refuse(error_code::bad_argument, where,
             "a transaction of the application is open on the connection: end it first, or join it "
             "(book::join)");
    case PQTRANS_INERROR:
      refuse(error_code::bad_argument, where,
             "the transaction was already aborted by an earlier error: roll it back and begin "
             "again");
    case PQTRANS_ACTIVE:
      refuse(error_code::bad_argument, where,
             "a command of the application is under way, or its results are unread: call "
             "PQgetResult() until it gives null");
    case PQTRANS_UNKNOWN: break;
  }
  throw error({.kind = error_code::unreachable, .breaks_connection = true},
              where + ": the application's connection is broken: reset it, or take another");
}

}  // namespace

void check_postgres_handle(::PGconn& handle, transactions mode) {
  auto const where = shown(handle);
  if (::PQpipelineStatus(&handle) != PQ_PIPELINE_OFF) {
    refuse(error_code::bad_argument, where,
           "the connection is in pipeline mode: leave it (PQexitPipelineMode)");
  }
  check_transaction(handle, mode, where);
  if (::PQisnonblocking(&handle) != 0) {
    refuse(error_code::bad_argument, where,
           "the connection does not block: set PQsetnonblocking(connection, 0) meanwhile");
  }
  if (!reports(handle, "client_encoding", "UTF8")) {
    refuse(error_code::configuration, where,
           "the connection's encoding is not UTF8: call PQsetClientEncoding(connection, \"UTF8\")");
  }
  if (!reports(handle, "standard_conforming_strings", "on")) {
    refuse(error_code::configuration, where,
           "standard_conforming_strings is off, so that a backslash changes what a statement "
           "says: set it on");
  }
}

db::statement joined_postgres_facts() {
  return {"join",
          "select pg_catalog.pg_is_in_recovery(), "
          "pg_catalog.current_setting('transaction_read_only'), "
          "pg_catalog.current_setting('synchronous_commit')",
          {},
          {}};
}

void check_joined_postgres(std::span<cell const> row, std::string const& where) {
  bool standby = false;
  decode(row[0], standby);
  if (standby) {
    refuse(error_code::read_only, where,
           "the transaction is on a standby, which takes no writes: connect to the primary "
           "(target_session_attrs=read-write)");
  }
  if (row[1] != cell(std::string("off"))) {
    refuse(error_code::read_only, where,
           "the transaction is read only: roll it back, and begin it READ WRITE");
  }
  if (row[2] == cell(std::string("off"))) {
    refuse(error_code::configuration, where,
           "the transaction's COMMIT may be lost in a crash of the server (synchronous_commit is "
           "off): send 'set local synchronous_commit = on' in it");
  }
}

std::string shown(::pg_conn& handle) {
  auto const text = [](char const* raw) { return std::string(raw == nullptr ? "" : raw); };
  return "postgresql://" + text(::PQuser(&handle)) + "@" + text(::PQhost(&handle)) + ":" +
         text(::PQport(&handle)) + "/" + text(::PQdb(&handle));
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
