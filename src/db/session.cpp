// What a driver need not do itself: it may know a faster way.
#include "db/session.hpp"

namespace daybook {
inline namespace v1 {
namespace db {

std::vector<table> session::together(std::span<call const> calls) {
  std::vector<table> out;
  if (calls.empty()) return out;
  out.reserve(calls.size());
  begin(isolation::read_committed);
  try {
    for (auto const& one : calls) out.push_back(run(*one.what, one.values));
    commit();
  } catch (...) {
    rollback();
    throw;
  }
  return out;
}

}  // namespace db
}  // namespace v1
}  // namespace daybook
