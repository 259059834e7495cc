#include "drivers/sqlite/sqlite_share.hpp"

#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

db::statement words(std::string text) { return {"share", std::move(text), {}, {}}; }
db::statement const from_here = words("savepoint shared_work");
db::statement const back = words("rollback to shared_work");
db::statement const passed = words("release shared_work");

}  // namespace

bool shared_work::result() const {
  if (failed_) std::rethrow_exception(failed_);
  return kept_;
}

void shared_work::go(db::session& session) { kept_ = (*body_)(session); }

/// Throws only where the whole transaction has come to its end: a full disk, say.
void shared_work::ride(db::session& session) {
  session.run(from_here, {});
  try {
    go(session);
  } catch (...) {
    failed_ = std::current_exception();
  }
  try {
    if (!kept_) session.run(back, {});
    session.run(passed, {});
  } catch (...) {
    if (failed_) std::rethrow_exception(failed_);
    throw;
  }
}

void do_together(db::session& session, shared_work& mine,
                 std::vector<passenger*> const& others) noexcept {
  auto const each = [&](auto const& what) {
    what(mine);
    for (auto* const one : others) what(static_cast<shared_work&>(*one));
  };
  try {
    bool keep = false;
    each([&](shared_work& one) {
      others.empty() ? one.go(session) : one.ride(session);
      keep |= one.kept_;
    });
    keep ? session.commit() : session.rollback();
  } catch (...) {
    each([](shared_work& one) {
      if (!one.failed_) one.failed_ = std::current_exception();
    });
    session.rollback();
  }
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
