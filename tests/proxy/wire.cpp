#include "proxy/wire.hpp"

#include <utility>

namespace proxy {

namespace {

bool has_line(std::string_view lines, std::string_view wanted) {
  while (!lines.empty()) {
    auto const end = lines.find('\n');
    if (lines.substr(0, end) == wanted) return true;
    lines = end == std::string_view::npos ? std::string_view{} : lines.substr(end + 1);
  }
  return false;
}

bool begins(std::string_view text) {
  if (text.starts_with("begin not atomic")) return false;
  return text.starts_with("begin ") || text.starts_with("start transaction");
}

request::kind kind_of(std::string_view text, bool in_transaction) {
  if (text.empty()) return request::kind::other;
  if (has_line(text, "commit")) return request::kind::commit;
  if (has_line(text, "rollback")) return request::kind::rollback;
  if (begins(text)) {
    // A script that ends what it begins is nobody's transaction.
    if (text.find("; commit") != std::string_view::npos) return request::kind::other;
    return text.find('\n') == text.size() - 1 ? request::kind::begin : request::kind::statement;
  }
  if (in_transaction) return request::kind::statement;
  bool const writes = text.starts_with("begin") || text.starts_with("insert") ||
                      text.starts_with("update") || text.starts_with("delete") ||
                      text.starts_with("with");
  return writes ? request::kind::alone : request::kind::other;
}

}  // namespace

std::optional<request> wire::next_request(std::string& from) {
  auto found = take_request(from);
  if (!found) return found;
  found->what = kind_of(found->text, in_transaction_);
  transaction_ += found->text;
  found->transaction = transaction_;
  using enum request::kind;
  bool const goes_on = found->what == statement || found->what == begin;
  if (goes_on && begins(found->text)) in_transaction_ = true;
  if (found->commits() || found->what == rollback) in_transaction_ = false;
  if (!in_transaction_) transaction_.clear();
  return found;
}

std::unique_ptr<wire> make_wire(protocol which) {
  return which == protocol::postgres ? make_postgres_wire() : make_mysql_wire();
}

}  // namespace proxy
