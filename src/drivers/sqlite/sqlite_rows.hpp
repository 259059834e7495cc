// Rows that come as one text, read as a table: in SQL, `daybook_rows(:rows)` has the columns c0 to
// c9, those that a row is too short for being null. The text is a JSON array of arrays of integers,
// texts and nulls, as the library writes it; SQLite's own json_each would take each row apart once
// for every column.
// Thread safety: that of the connection; of several connections, any thread.
#pragma once

struct sqlite3;

namespace daybook {
inline namespace v1 {
namespace drivers {

/// That a connection knows the table. A statement fails with SQLITE_MISMATCH where the text is none
/// of ours.
class rows_table {
 public:
  rows_table() = default;
  rows_table(rows_table const&) = delete;
  rows_table& operator=(rows_table const&) = delete;
  /// With the last of those who have added it, it is gone: an application's handle is as it was.
  ~rows_table();

  /// Once. The connection must outlive this. Returns SQLite's result code.
  [[nodiscard]] int add(::sqlite3& handle);

 private:
  ::sqlite3* handle_ = nullptr;
};

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
