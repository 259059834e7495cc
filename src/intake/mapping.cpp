#include "intake/mapping.hpp"

#include "base/digest.hpp"
#include "base/text.hpp"

#include <daybook/names.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace intakes {

namespace {

constexpr std::size_t longest_payload = 1 << 20;

/// Of one without a name: what comes again unsettled is still known.
std::string name_by_text(broker::message const& message) {
  return "refused " + base::digest({message.topic, message.id, message.key, message.body});
}

std::string name_of(broker::message const& message, message_identity const& identity) {
  using from = message_identity::from;
  switch (identity.source) {
    case from::id: return std::string(message.id);
    case from::key: return std::string(message.key);
    case from::position:
      if (message.position < 0) return {};
      return std::string(message.topic) + "/" + std::to_string(message.partition) + "/" +
             std::to_string(message.position);
    case from::header:
      for (auto const& one : message.headers) {
        if (one.name == identity.name) return std::string(one.value);
      }
      return {};
    case from::digest: return base::digest({message.key, message.body});
  }
  return {};
}

std::string word_of(message_identity const& identity) {
  using from = message_identity::from;
  switch (identity.source) {
    case from::id: return "id";
    case from::key: return "key";
    case from::position: return "position in a log";
    case from::header: return "header '" + identity.name + "'";
    case from::digest: return "digest";
  }
  return {};
}

/// Why a text cannot be a name; empty: it can.
std::string name_fault(std::string_view name, message_identity const& identity) {
  auto const its = "its " + word_of(identity);
  if (name.empty()) return "it has no " + word_of(identity);
  if (name.size() > longest_name) {
    return its + " has " + std::to_string(name.size()) + " bytes: a name has at most " +
           std::to_string(longest_name);
  }
  if (base::first_invalid_utf8(name) != std::string_view::npos) return its + " is not UTF-8";
  if (base::first_control(name) != std::string_view::npos) return its + " has a control character";
  return {};
}

std::string payload_fault(std::string_view payload) {
  if (payload.size() > longest_payload) {
    return "its payload has " + std::to_string(payload.size()) + " bytes: the limit is 1 MiB";
  }
  if (payload.find('\0') != std::string_view::npos) {
    return "its body has a zero byte: declare the intake with payload base64";
  }
  if (base::first_invalid_utf8(payload) != std::string_view::npos) {
    return "its body is not UTF-8: declare the intake with payload base64";
  }
  return {};
}

}  // namespace

std::string base64(std::string_view bytes) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    auto const there = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < there ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out.push_back(i <= there ? digits[group >> (18 - 6 * i) & 63U] : '=');
    }
  }
  return out;
}

mapped map(broker::message const& message, intake_options const& options, bool needs_name,
           bool needs_payload) {
  mapped out{.message = message, .name = {}, .payload = {}, .refused = {}};
  if (needs_name) {
    out.name = name_of(message, options.id);
    out.refused = name_fault(out.name, options.id);
    out.named = out.refused.empty();
    if (!out.named) out.name = name_by_text(message);
  }
  if (needs_payload && !message.body.empty() && out.refused.empty()) {
    bool const text = options.payload == payload_form::text;
    auto payload = text ? std::string(message.body) : base64(message.body);
    out.refused = payload_fault(payload);
    if (out.refused.empty()) out.payload = std::move(payload);
  }
  return out;
}

std::string anchor_of(broker::message const& message) {
  return base::digest({message.topic, std::to_string(message.partition),
                       std::to_string(message.position), message.id, message.key, message.body});
}

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
