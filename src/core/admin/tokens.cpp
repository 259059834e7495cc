#include "core/admin/tokens.hpp"

#include "base/limits.hpp"
#include "core/admin/operate.hpp"
#include "core/lease/memory.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <daybook/error.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

namespace daybook {
inline namespace v1 {

std::string_view word_of(role one) noexcept {
  switch (one) {
    case role::metrics: return "metrics";
    case role::read: return "read";
    case role::work: return "work";
    case role::operate: return "operate";
    case role::admin: return "admin";
  }
  return "?";
}

std::string_view word_of(token_kind kind) noexcept {
  switch (kind) {
    case token_kind::token: return "token";
    case token_kind::session: return "session";
    case token_kind::code: return "code";
  }
  return "?";
}

namespace core {

namespace {

constexpr std::string_view mark = "dbk_";
constexpr std::size_t id_size = 16;
constexpr std::size_t secret_size = 64;
constexpr std::size_t check_size = 8;
constexpr std::size_t text_size = mark.size() + id_size + 1 + secret_size + check_size;

std::string hex_of(std::span<unsigned char const> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (auto const byte : bytes) {
    out.push_back(digits[byte >> 4U]);
    out.push_back(digits[byte & 15U]);
  }
  return out;
}

std::string random_hex(std::size_t digits) {
  std::array<unsigned char, secret_size / 2> bytes{};
  auto const some = std::span(bytes).first(digits / 2);
  if (RAND_bytes(some.data(), static_cast<int>(some.size())) != 1) {
    throw error({.kind = error_code::io}, "the system gives no random bytes for a token");
  }
  return hex_of(some);
}

std::string sha256(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> out{};
  SHA256(reinterpret_cast<unsigned char const*>(text.data()), text.size(), out.data());
  return hex_of(out);
}

/// The id in a text; empty: it is no text of ours, or a digit of it is wrong.
std::string_view id_in(std::string_view text) {
  if (text.size() != text_size || !text.starts_with(mark) || text[mark.size() + id_size] != '_') {
    return {};
  }
  auto const before = text.substr(0, text_size - check_size);
  if (sha256(before).substr(0, check_size) != text.substr(before.size())) return {};
  return text.substr(mark.size(), id_size);
}

token_info info_of(std::span<cell const> row) {
  token_info out;
  decode(row[0], out.id);
  out.kind = static_cast<token_kind>(db::get<std::int64_t>(row[1]));
  out.role = static_cast<role>(db::get<std::int64_t>(row[2]));
  decode(row[3], out.name);
  decode(row[4], out.made_by);
  out.created = db::time_of(db::get<std::int64_t>(row[5]));
  out.expires = db::time_in(row[6]);
  out.used = db::time_in(row[7]);
  return out;
}

/// The process of changes to tokens.
std::string const tokens_process = "tokens";

}  // namespace

std::string make_token(context const& context, token_options const& options,
                       audit_note const& note) {
  base::limits const given("token_options");
  given.between("the length of the name", options.name.size(), 1U, 255U);
  check_text("the name of a token", options.name);
  std::optional<std::int64_t> lifetime;
  if (options.lifetime) {
    given.between("the lifetime", *options.lifetime, std::chrono::seconds{1},
                  std::chrono::hours{24 * 3660});
    lifetime = std::chrono::microseconds(*options.lifetime).count();
  }
  auto const id = random_hex(id_size);
  auto text = std::string(mark) + id + "_" + random_hex(secret_size);
  text += sha256(text).substr(0, check_size);
  auto const hash = sha256(text);
  change const what{context, tokens_process, id, "make", bounded_remark(note)};
  auto const put = [&](db::session& session) {
    db::run(session, context.sql["token.forget"], {});
    return db::run(
               session, context.sql["token.add"],
               {lifetime ? value(*lifetime) : value(nullptr),
                static_cast<std::int64_t>(options.kind), static_cast<std::int64_t>(options.role),
                std::string_view(id), std::string_view(hash), std::string_view(options.name),
                std::string_view(what.by.actor)})
               .affected == 1;
  };
  auto const detail = std::string(word_of(options.kind)) + " " + options.name + ", role " +
                      std::string(word_of(options.role));
  make(what, detail, put);
  return text;
}

std::optional<token_info> check_token(context const& context, std::string_view text,
                                      token_kind kind) {
  auto const id = id_in(text);
  auto const hash = sha256(text);
  std::optional<token_info> out;
  bool matches = false;
  read(context, [&](db::session& session) {
    out.reset();
    matches = false;
    auto const rows = db::run(session, context.sql["token.find"], {id});
    // The comparison is made in any case, so that its absence tells nothing.
    auto kept = std::string(hash.size(), '-');
    if (rows.size() == 1) {
      out = info_of(rows.row(0));
      decode(rows.row(0)[8], kept);
    }
    matches =
        kept.size() == hash.size() && CRYPTO_memcmp(kept.data(), hash.data(), hash.size()) == 0;
  });
  if (!matches || !out || out->kind != kind) return std::nullopt;
  if (kind == token_kind::code) {
    // Of two logins with one code the first has it.
    bool const first = insist([&] {
      bool mine = false;
      transact(context, {.name = "operate"}, [&](db::session& session) {
        mine =
            db::run(session, context.sql["token.revoke"], {id, std::string_view("-")}).affected ==
            1;
        return mine ? decision::commit : decision::rollback;
      });
      return mine;
    });
    return first ? out : std::nullopt;
  }
  auto const now = std::chrono::system_clock::now();
  if (!out->used || now - *out->used > std::chrono::hours{1}) {
    insist([&] { write(context, {.name = "operate"}, context.sql["token.use"], {id}); });
  }
  return out;
}

std::vector<token_info> list_tokens(context const& context) {
  std::vector<token_info> out;
  read(context, [&](db::session& session) {
    out.clear();
    auto const rows = db::run(session, context.sql["token.all"], {});
    for (std::size_t at = 0; at < rows.size(); ++at) out.push_back(info_of(rows.row(at)));
  });
  return out;
}

bool revoke_token(context const& context, std::string_view id, audit_note const& note) {
  std::string const key(id);
  change const what{context, tokens_process, key, "revoke", bounded_remark(note)};
  return make(what, "revoked", [&](db::session& session) {
    // With the sessions that it made.
    auto const maker = "token:" + key;
    return db::run(session, context.sql["token.revoke"], {id, std::string_view(maker)}).affected >=
           1;
  });
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
