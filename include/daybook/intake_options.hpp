// How an intake is declared: where a broker's messages go, what names them, and what becomes of
// those that cannot be taken. See docs/guides/intakes.md.
// Thread safety: values.
//
//   daybook::intake_options const paid{.into = "events"};
//   daybook::intake_options const catalogue{.members = "stock",
//                                           .id = {daybook::message_identity::from::key}};
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace daybook {
inline namespace v1 {

class transaction;
namespace broker {
struct message;
}  // namespace broker

/// What names a message: the key of its task or member, and, of a broker's queue, what tells that
/// it came before. A message without it is refused.
struct message_identity {
  enum class from : std::uint8_t {
    id = 0,        ///< the message's own
    key = 1,       ///< the message's key
    position = 2,  ///< of a log: TOPIC/PARTITION/POSITION
    header = 3,    ///< the header `name`
    digest = 4,    ///< of key and body: two equal messages are one
  };
  from source = from::id;
  std::string name = {};
  friend bool operator==(message_identity const&, message_identity const&) = default;
};

/// How a body becomes a payload, which is text.
enum class payload_form : std::uint8_t {
  text = 0,    ///< as it is; one that is not UTF-8 is refused
  base64 = 1,  ///< any bytes
};

/// Where an intake begins in a log that it has never read. A partition that is new later is read
/// from its first message.
enum class log_begin : std::uint8_t { beginning = 0, end = 1 };

/// What happens when messages that were not read are gone from the log.
enum class gap_policy : std::uint8_t {
  stop = 0,  ///< a person decides
  skip = 1,  ///< goes on with the first message that is there; the place counts those skipped
};

/// What happens to a message whose effect fails again and again.
enum class failure_policy : std::uint8_t {
  stop = 0,    ///< the intake stops in front of it
  refuse = 1,  ///< it is put aside, and the intake goes on
};

struct intake_options {
  /// A message is a task of this queue, which has no period. Its payload is the body.
  std::string into = {};
  /// A message adds a member to this queue, or changes its payload; one without a body removes it.
  std::string members = {};
  // Neither: the program gives a body, which is called with the messages (take_options::body).

  message_identity id = {};
  payload_form payload = payload_form::text;
  log_begin begin = log_begin::beginning;
  gap_policy on_gap = gap_policy::stop;
  /// Empty: stop for a log, refuse for a queue.
  std::optional<failure_policy> on_error = {};
  /// How often to try a message whose effect fails, 1 to 100. Messages behind it wait meanwhile.
  int attempts = 5;
  /// The pause after the first failure, doubled after each; at most a minute is waited.
  std::chrono::milliseconds backoff{1000};
  /// The intake stops when more messages than this are put aside. 0 to a million.
  int refused_limit = 1000;
  /// The most messages in one transaction, 1 to 10 000, and about the most bytes of their bodies.
  int page = 1000;
  std::int64_t page_bytes = 4 << 20;
  /// How long to wait for more messages after the first. At most 10 s.
  std::chrono::milliseconds gather{20};
  /// How many processes read at a time, 1 to 64. A partition P of a log is read by lane P modulo
  /// `lanes`.
  int lanes = 1;
  /// How long the ids of a broker's queue are remembered: a message that comes again after that
  /// counts as new. A minute to 10 years.
  std::chrono::seconds remember = std::chrono::hours{24 * 7};
  friend bool operator==(intake_options const&, intake_options const&) = default;
};

/// The effect of messages that were not taken before, in the transaction that records that they
/// were. It may be called again, also with some of them; no effect outside of the transaction. What
/// it throws undoes all; then it is called for fewer messages at a time, to find the one at fault.
using intake_body = std::function<void(transaction& tx, std::span<broker::message const> messages)>;

}  // namespace v1
}  // namespace daybook
