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

void shared_work::go(db::session& on) { kept_ = (*body_)(on); }

/// Throws only where the whole transaction has come to its end: a full disk, say.
void shared_work::ride(db::session& on) {
  on.run(from_here, {});
  try {
    go(on);
  } catch (...) {
    failed_ = std::current_exception();
  }
  try {
    if (!kept_) on.run(back, {});
    on.run(passed, {});
  } catch (...) {
    if (failed_) std::rethrow_exception(failed_);
    throw;
  }
}

void do_together(db::session& on, shared_work& mine,
                 std::vector<passenger*> const& others) noexcept {
  auto const each = [&](auto const& what) {
    what(mine);
    for (auto* const one : others) what(static_cast<shared_work&>(*one));
  };
  try {
    bool keep = false;
    each([&](shared_work& one) {
      others.empty() ? one.go(on) : one.ride(on);
      keep |= one.kept_;
    });
    keep ? on.commit() : on.rollback();
  } catch (...) {
    each([](shared_work& one) {
      if (!one.failed_) one.failed_ = std::current_exception();
    });
    on.rollback();
  }
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
