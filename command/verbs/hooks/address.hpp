// Which network addresses webhooks may be sent to. A URL in a file or in the environment must not
// reach what only this machine can reach: the metadata of a cloud, with its credentials, above all.
// Thread safety: any thread.
#pragma once

#include <string>

#include <sys/socket.h>

namespace command {

enum class reach {
  encrypted,  ///< https: hosts of any network
  this_host,  ///< http: the loopback addresses only
};

/// Empty: it may be sent there.
[[nodiscard]] std::string why_not_sent_to(sockaddr const& address, reach allowed);

}  // namespace command
