// A proxy before a database server, in a thread of the test: it knows where requests, replies and
// COMMITs are, and breaks the connection at a chosen one.
// Thread-safe.
//
//   proxy::proxy between(proxy::protocol::postgres, 5432);
//   daybook::book book(between.url_of(url));
//   between.arm({.what = proxy::fault::swallow_reply, .within = "insert into effect"});
#pragma once

#include "proxy/wire.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace proxy {

enum class fault {
  delay,          ///< the request waits for plan::pause
  late_reply,     ///< forwarded; the answer waits for plan::pause
  half_open,      ///< it is accepted and goes nowhere; both sides stay open
  reset,          ///< not forwarded; the client sees a reset (RST)
  cut,            ///< not forwarded; both sides are closed
  swallow_reply,  ///< forwarded; when the server has answered, both sides are closed
  stay_silent,    ///< forwarded; the answer is dropped, and the client waits
  hold,           ///< the client is cut at once, the server's side lives: release() or abandon()
  refuse,         ///< not forwarded (a COMMIT: the server rolls back); answered with plan::code
};

enum class moment { commit, statement };

struct plan {
  fault what = fault::cut;
  moment at = moment::commit;
  std::string within =
      {};        ///< only where the transaction has this text; the statement itself has it
  int skip = 0;  ///< so many before it are let through
  int times = 1;
  std::string code = {};
  std::chrono::milliseconds pause{0};
};

class proxy {
 public:
  /// Listens on a free port of 127.0.0.1, before a server there. On failure: throws
  /// std::system_error.
  proxy(protocol which, std::uint16_t server_port);
  proxy(proxy const&) = delete;
  proxy& operator=(proxy const&) = delete;
  /// Cuts every connection.
  ~proxy();

  /// The same database through this proxy, without TLS.
  [[nodiscard]] std::string url_of(std::string const& direct) const;

  void arm(plan what);
  /// How often an armed fault has acted since arm().
  [[nodiscard]] int hits() const;
  /// Accepts whatever comes, and delivers nothing in either direction, until it ends.
  void mute(bool on);
  /// The COMMITs held are forwarded; returns when the server has answered them. How many.
  int release();
  /// The COMMITs held never come: the server sees the connections end.
  void abandon();

 private:
  using clock = std::chrono::steady_clock;
  enum class mode {
    passes,
    goes_nowhere,
    drops_replies,
    keeps_reply,
    closes_after_reply,
    refuses_after_reply,
  };
  struct link {
    int client = -1;
    int server = -1;
    std::unique_ptr<wire> speaks;
    std::string from_client;
    std::string from_server;
    std::string kept;  ///< the request that is delayed or held, the reply that is late
    std::chrono::milliseconds pause{0};
    std::string refusal;
    mode now = mode::passes;
    bool held = false;
    std::optional<clock::time_point> resumes;
  };

  void serve(std::stop_token const& stop);
  void accept_one();
  void read_from(link& of, bool client);
  void requests_of(link& of);
  void replies_of(link& of);
  /// The fault that this request meets.
  std::optional<plan> meets(request const& what);
  void act(link& on, plan const& how, request const& what);
  void resume(link& one);
  void close_both(link& of);
  void wake() const;
  [[nodiscard]] int wait_time() const;

  protocol which_;
  std::uint16_t server_port_;
  int listener_ = -1;
  int wake_read_ = -1;
  int wake_write_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex guard_;
  std::condition_variable settled_;
  std::list<link> links_;
  std::optional<plan> armed_;
  int hits_ = 0;
  bool muted_ = false;
  std::jthread thread_;
};

}  // namespace proxy
