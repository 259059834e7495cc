// The server: it listens, reads requests, has them answered, and writes the answers. One thread
// does that for all connections and waits for none; who answers does it on threads of its own.
// Limits: 8 KiB of head in 10 s, 1 MiB of body in 30 s, 60 s without a request, 30 s for who reads
// slowly; 1000 connections, 50 of an address.
// Thread safety: run() on one thread, stop() from any.
//
//   listener server({.address = "127.0.0.1", .port = 7717}, answer);
//   server.run();
#pragma once

#include "http/message.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace command {

struct listen_options {
  std::string address = "127.0.0.1";
  unsigned short port = 7717;  ///< 0: any that is free
  std::string cert_file = {};  ///< PEM, with its chain; empty: without TLS
  std::string key_file = {};
  std::size_t connections = 1000;
  std::size_t connections_of_address = 50;
  /// As many for whoever has a proxy's address: all of its users come from there.
  std::function<bool(std::string const& peer)> is_proxy = {};
};

/// To be called once, from any thread.
using answer_callback = std::function<void(http_answer)>;
/// Must not block and must not throw. Called on the thread of run().
using request_handler = std::function<void(http_request, answer_callback)>;

class listener {
 public:
  /// Listens. On failure: complaint (69: the address is in use or not ours, 78: the certificate).
  listener(listen_options const& options, request_handler handler);
  listener(listener const&) = delete;
  listener& operator=(listener const&) = delete;
  ~listener();

  [[nodiscard]] unsigned short port() const noexcept;
  /// Until stop().
  void run();
  void stop() noexcept;

  class inside;

 private:
  std::shared_ptr<inside> inside_;
};

}  // namespace command
