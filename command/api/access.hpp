// The caller of a request and its rights. There is no default: a request that no rule allows is
// refused. Thread safety: any thread.
#pragma once

#include "http/address.hpp"
#include "http/guesses.hpp"
#include "http/message.hpp"

#include <daybook/access.hpp>
#include <daybook/book.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace command {

/// What a route takes.
enum class permission : std::uint8_t {
  open,  ///< nothing: a health check, the login
  any,   ///< any visitor: what concerns only themselves
  metrics,
  read,
  see_payload,
  work,
  operate,
  admin,
};
[[nodiscard]] bool allows(daybook::role given, permission wanted) noexcept;
/// The role that it takes at least, for people.
[[nodiscard]] std::string_view least_role(permission wanted) noexcept;

/// Who asks, and how the request proves it.
struct visitor {
  enum class proof : std::uint8_t { bearer, session, proxy };
  std::string name;  ///< the actor of what they change
  daybook::role role = daybook::role::metrics;
  proof by = proof::bearer;
  std::string id;  ///< of the token or the session
  std::optional<daybook::timestamp> expires;
};

struct access_options {
  std::vector<std::string> hosts = {};  ///< names of this server beside loopback's
  std::vector<ip_block> proxies = {};   ///< who may say for whom a request is
  std::string user_header = {};         ///< lower case; empty: no proxy logs anybody in
  std::string groups_header = {};       ///< likewise; groups are separated by commas
  std::map<std::string, daybook::role> groups = {};
  std::optional<daybook::role> user_role = {};  ///< of a user of the proxy without such a group
};

class access {
 public:
  access(daybook::book& book, access_options options) : book_(book), options_(std::move(options)) {}

  /// Whether it names this server. On failure: refusal (400, 421).
  void check_host(http_request const& request) const;
  /// Empty: nobody is logged in. On failure: refusal (400: two proofs, 401: a wrong one, 403: a
  /// user of the proxy without a role, 429: too many wrong ones), or daybook::error.
  [[nodiscard]] std::optional<visitor> who_asks(http_request const& request);
  /// That another site did not have the browser send it. On failure: refusal (403).
  void check_same_site(http_request const& request) const;

  /// A session for a token or a one-time code. Returns the cookie to be set. On failure: as
  /// who_asks().
  [[nodiscard]] std::string log_in(http_request const& request, std::string const& token,
                                   std::string const& code);
  /// The cookie that ends one.
  [[nodiscard]] std::string cookie_of_nobody(http_request const& request) const;

  /// The address that the request comes from: a proxy of ours says whose it is.
  [[nodiscard]] std::string client_of(http_request const& request) const;

 private:
  [[nodiscard]] bool is_from_proxy(http_request const& request) const;
  [[nodiscard]] bool is_secure(http_request const& request) const;
  [[nodiscard]] std::optional<std::string> cookie_in(http_request const& request) const;
  [[nodiscard]] visitor must_check(http_request const& request, std::string_view text,
                                   daybook::token_kind kind);
  [[nodiscard]] std::optional<visitor> user_of_proxy(http_request const& request) const;

  daybook::book& book_;
  access_options options_;
  guesses guesses_;
};

}  // namespace command
