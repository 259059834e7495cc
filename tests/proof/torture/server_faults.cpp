#include "proof/torture/server_faults.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace torture {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto patience = 60s;

/// Not long: how long the others have while something is stopped.
std::chrono::milliseconds a_while(std::minstd_rand& dice) {
  return std::chrono::milliseconds(std::uniform_int_distribution<int>(20, 150)(dice));
}

std::size_t below(std::size_t end, std::minstd_rand& dice) {
  return std::uniform_int_distribution<std::size_t>(0, end - 1)(dice);
}

void wait_for_end(pid_t of) {
  auto const until = steady_clock::now() + patience;
  while (!support::is_dead(of) && steady_clock::now() < until) std::this_thread::sleep_for(5ms);
}

}  // namespace

server_faults::server_faults(support::engine const& on, support::private_server const& server)
    : server_(&server), postgres_(!on.name.starts_with("mariadb")) {
  kinds_ = {&server_faults::kill_server, &server_faults::restart, &server_faults::kill_session,
            &server_faults::pause_server};
  if (postgres_) {
    kinds_.push_back(&server_faults::stop_at_once);
    kinds_.push_back(&server_faults::pause_session);
  }
}

std::string server_faults::one(std::minstd_rand& dice, std::function<void()> const& jump) {
  if (left_.empty()) {
    left_ = kinds_;
    std::shuffle(left_.begin(), left_.end(), dice);
  }
  auto const which = left_.back();
  left_.pop_back();
  auto out = (this->*which)(dice, jump);
  wait_until_there();
  if (std::find(happened_.begin(), happened_.end(), out) == happened_.end()) {
    happened_.push_back(out);
  }
  return out;
}

std::string server_faults::kill_server(std::minstd_rand&, std::function<void()> const&) {
  auto const first = server_->process();
  ::kill(first, SIGKILL);
  wait_for_end(first);
  server_->restart();
  return "server killed";
}

/// PostgreSQL's "immediate": no clean end, recovery at the next start.
std::string server_faults::stop_at_once(std::minstd_rand&, std::function<void()> const&) {
  auto const first = server_->process();
  ::kill(first, SIGQUIT);
  wait_for_end(first);
  server_->restart();
  return "server stopped at once";
}

std::string server_faults::restart(std::minstd_rand&, std::function<void()> const&) {
  server_->restart();
  return "server restarted";
}

/// On PostgreSQL SIGKILL, upon which the server ends all others and recovers.
std::string server_faults::kill_session(std::minstd_rand& dice, std::function<void()> const&) {
  if (postgres_) {
    if (auto const all = sessions(); !all.empty()) {
      ::kill(all[below(all.size(), dice)], SIGKILL);
      std::this_thread::sleep_for(50ms);  // until the server has seen it
    }
    return "session killed";
  }
  support::raw_connection admin(server_->admin_url());
  for (int tries = 0; tries < 5; ++tries) {
    auto const id = admin.execute(
        "select id from information_schema.processlist where user = 'daybook'"
        " and command <> 'Killed' order by rand() limit 1");
    try {
      if (!id.empty()) admin.execute("kill connection " + id);
    } catch (std::runtime_error const&) {
      continue;  // it has ended by itself
    }
  }
  return "session killed";
}

/// The old backend lives on while its run is given to another, and then goes on. It may hold what
/// the clock needs, so it does not stay stopped for long.
std::string server_faults::pause_session(std::minstd_rand& dice,
                                         std::function<void()> const& jump) {
  auto all = sessions();
  std::shuffle(all.begin(), all.end(), dice);
  all.resize(std::min<std::size_t>(all.size(), 2));
  std::atomic<bool> done = false;
  std::jthread jumper;
  {
    support::stopped const asleep(all);
    jumper = std::jthread([&] {
      jump();
      done = true;
    });
    for (int tries = 0; !done && tries < 100; ++tries) std::this_thread::sleep_for(2ms);
    std::this_thread::sleep_for(a_while(dice) * 2);
  }
  jumper.join();
  return "session paused";
}

std::string server_faults::pause_server(std::minstd_rand& dice, std::function<void()> const& jump) {
  {
    auto const first = server_->process();
    std::vector<pid_t> whole{first};
    for (auto const one : support::children_of(first)) whole.push_back(one);
    support::stopped const asleep(whole);
    std::this_thread::sleep_for(a_while(dice));
  }
  jump();
  return "server paused";
}

std::vector<pid_t> server_faults::sessions() const {
  return support::children_of(server_->process(), ": daybook ");
}

void server_faults::wait_until_there() const {
  auto const until = steady_clock::now() + patience;
  for (;;) {
    try {
      support::raw_connection(server_->url()).execute("select 1");
      return;
    } catch (std::runtime_error const&) {
      if (steady_clock::now() > until) throw;
    }
    std::this_thread::sleep_for(20ms);
  }
}

}  // namespace torture
