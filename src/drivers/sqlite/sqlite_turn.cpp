#include "drivers/sqlite/sqlite_turn.hpp"

#include "base/platform.hpp"
#include "drivers/sqlite/sqlite_side_file.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>

#include <sys/stat.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// Who waits in this process, and a thread that waits for the side file in their place: a lock
/// that is waited for cannot be given up, and those who wait have a limit. The thread comes with
/// the first who must wait. It shares the line, so that neither has to wait for the other's end:
/// where the lock never comes, the thread stays behind until the process ends.
class turnstile::line {
 public:
  explicit line(std::string const& database) : file_(database, "-turn") {}

  bool take(std::shared_ptr<line> const& me, std::chrono::milliseconds at_most,
            passenger* passenger);
  void give_back() noexcept;
  std::vector<passenger*> take_along(std::size_t at_most);
  void arrived(std::vector<passenger*> const& passengers) noexcept;
  void close() noexcept;
  std::size_t waiting();

 private:
  using clock = std::chrono::steady_clock;
  enum class lock : std::uint8_t {
    free,   ///< nobody of this process wants it
    asked,  ///< the thread waits for it
    ours,   ///< somebody of this process has the turn
  };
  struct waiter {
    passenger* who = nullptr;  ///< null: one who goes alone
    std::condition_variable called;
    bool has_turn = false;
  };

  void serve();
  void set(lock lock) noexcept;
  void ask() noexcept;
  void call_the_first() noexcept;

  side_file const file_;
  std::mutex guard_;
  std::condition_variable asked_;
  std::condition_variable arrived_;
  std::list<waiter*> waiting_;
  lock lock_ = lock::free;
  clock::time_point since_{};
  bool has_thread_ = false;
  bool closed_ = false;
};

bool turnstile::line::take(std::shared_ptr<line> const& me, std::chrono::milliseconds at_most,
                           passenger* passenger) {
  std::unique_lock hold(guard_);
  if (lock_ == lock::free && (!file_.open() || file_.try_lock())) {
    set(lock::ours);
    return true;
  }
  if (lock_ != lock::free && clock::now() - since_ >= at_most) return false;
  if (!has_thread_) {
    std::thread([me] { me->serve(); }).detach();
    has_thread_ = true;
  }
  waiter mine;
  mine.who = passenger;
  auto const place = waiting_.insert(waiting_.end(), &mine);
  if (lock_ == lock::free) ask();
  auto const taken = [&] {
    return passenger != nullptr && passenger->where_ != passenger::place::waits;
  };
  mine.called.wait_for(hold, at_most, [&] { return mine.has_turn || taken(); });
  if (taken()) {
    arrived_.wait(hold, [&] { return passenger->arrived(); });
  } else if (!mine.has_turn) {
    waiting_.erase(place);
  }
  return mine.has_turn;
}

std::vector<passenger*> turnstile::line::take_along(std::size_t at_most) {
  std::vector<passenger*> out;
  std::lock_guard const hold(guard_);
  out.reserve(std::min(at_most, waiting_.size()));  // who is taken along must not be left behind
  for (auto at = waiting_.begin(); at != waiting_.end() && out.size() < at_most;) {
    auto& one = **at;
    if (one.who == nullptr) {
      ++at;
      continue;
    }
    out.push_back(one.who);
    one.who->where_ = passenger::place::taken_along;
    at = waiting_.erase(at);
    one.called.notify_one();
  }
  return out;
}

void turnstile::line::arrived(std::vector<passenger*> const& passengers) noexcept {
  {
    std::lock_guard const hold(guard_);
    for (auto* const one : passengers) one->where_ = passenger::place::arrived;
  }
  arrived_.notify_all();
}

void turnstile::line::give_back() noexcept {
  std::lock_guard const hold(guard_);
  // Other processes first: the thread asks behind those who wait there already.
  file_.unlock();
  set(lock::free);
  if (!waiting_.empty()) ask();
}

void turnstile::line::close() noexcept {
  {
    std::lock_guard const hold(guard_);
    closed_ = true;
  }
  asked_.notify_one();
}

std::size_t turnstile::line::waiting() {
  std::lock_guard const hold(guard_);
  return waiting_.size();
}

void turnstile::line::set(lock lock) noexcept {
  lock_ = lock;
  since_ = clock::now();
}

void turnstile::line::ask() noexcept {
  set(lock::asked);
  asked_.notify_one();
}

void turnstile::line::call_the_first() noexcept {
  if (waiting_.empty()) {
    file_.unlock();
    set(lock::free);
    return;
  }
  auto& first = *waiting_.front();
  waiting_.pop_front();
  set(lock::ours);
  first.has_turn = true;
  first.called.notify_one();
}

void turnstile::line::serve() {
  std::unique_lock hold(guard_);
  for (;;) {
    asked_.wait(hold, [&] { return closed_ || lock_ == lock::asked; });
    if (lock_ != lock::asked) return;
    hold.unlock();
    file_.lock();
    hold.lock();
    call_the_first();
  }
}

turnstile::turnstile(std::string const& database) : line_(std::make_shared<line>(database)) {}

turnstile::~turnstile() { line_->close(); }

std::shared_ptr<turnstile> turnstile::before(std::string const& database) {
  // By the process too: a child of fork() has none of its parent's threads.
  using place = std::tuple<std::int64_t, ::dev_t, ::ino_t>;
  struct everywhere {
    std::mutex guard;
    std::map<place, std::weak_ptr<turnstile>> known;
  };
  static auto& all = *new everywhere;  // sessions may outlive what is destroyed at exit

  struct stat about {};
  if (::stat(database.c_str(), &about) != 0) return std::make_shared<turnstile>(database);
  std::lock_guard const hold(all.guard);
  std::erase_if(all.known, [](auto const& one) { return one.second.expired(); });
  auto& there = all.known[{base::process_id(), about.st_dev, about.st_ino}];
  auto out = there.lock();
  if (!out) there = out = std::make_shared<turnstile>(database);
  return out;
}

turn turnstile::take(std::chrono::milliseconds at_most, passenger* passenger) {
  try {
    return line_->take(line_, at_most, passenger) ? turn(shared_from_this()) : turn();
  } catch (std::system_error const&) {
    return {};  // no thread to be had: nothing that a writer should fail of
  }
}

std::size_t turnstile::waiting() const { return line_->waiting(); }

void turnstile::give_back() noexcept { line_->give_back(); }

std::vector<passenger*> turnstile::take_along(std::size_t at_most) {
  return line_->take_along(at_most);
}

void turnstile::arrived(std::vector<passenger*> const& passengers) noexcept {
  line_->arrived(passengers);
}

void turn::give_back() noexcept {
  if (!turnstile_) return;
  turnstile_->give_back();
  turnstile_.reset();
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
