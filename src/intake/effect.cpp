#include "intake/effect.hpp"

#include "base/text.hpp"
#include "queue/members/changes.hpp"

#include <daybook/error.hpp>
#include <daybook/transaction.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace intakes {

namespace {

constexpr std::size_t longest_reason = 2000;

std::span<std::byte const> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

effect::effect(core::context const& context, definition const& declared, queues::store* queue,
               intake_body const& body)
    : context_(context), declared_(&declared), queue_(queue), body_(&body) {
  if (queue_ == nullptr && !*body_) {
    refuse(declared.name,
           "its messages go into no queue, and there is no body for them: give one (body)");
  }
}

std::int64_t effect::reserve(some messages) const {
  if (queue_ == nullptr || messages.empty()) return 0;
  return queue_->reserve(static_cast<std::int64_t>(messages.size()));
}

void effect::write(db::session& session, some messages, std::int64_t first) const {
  if (messages.empty()) return;
  switch (target_of(declared_->options)) {
    case target::tasks: return add_tasks(session, messages, first);
    case target::members: return change_members(session, messages, first);
    case target::body: break;
  }
  std::vector<broker::message> all;
  all.reserve(messages.size());
  for (auto const* const one : messages) all.push_back(one->message);
  transaction tx(session, context_.user_sql, "the body of intake '" + declared_->name + "'");
  (*body_)(tx, all);
}

void effect::add_tasks(db::session& session, some messages, std::int64_t first) const {
  std::vector<entry> all;
  all.reserve(messages.size());
  for (auto const* const one : messages) all.push_back({key(one->name), one->payload});
  queue_->add_all_in(session, all, first, {});
}

/// What a key's messages come to: its last word, and whether it was gone in between, so that what
/// is there now is another member.
void effect::change_members(db::session& session, some messages, std::int64_t first) const {
  struct change {
    bool removed = false;
    std::optional<std::string> payload = {};  ///< empty: it is gone at the end
  };
  std::map<std::string_view, change> keys;
  for (auto const* const one : messages) {
    auto& change = keys[one->name];
    change.payload = one->payload;
    if (!one->payload) change.removed = true;
  }
  std::vector<key> removed;
  std::vector<entry> there;
  for (auto const& [name, change] : keys) {
    if (change.removed) removed.emplace_back(std::string(name));
    if (change.payload) there.push_back({key(std::string(name)), change.payload});
  }
  queues::remove_all_in(*queue_, session, removed);
  // What a message says replaces what was there: also where the key was added by others.
  queues::set_payloads_in(*queue_, session, there);
  queue_->add_all_in(session, there, first, {});
}

void effect::put_aside(db::session& session, some messages) const {
  for (auto const* const one : messages) {
    auto const& message = one->message;
    auto const position =
        message.position < 0 ? value(nullptr) : value(std::int64_t{message.position});
    // By which retry() knows it.
    bool const has_name = one->named && !one->name.empty();
    auto const id = base::bounded(has_name ? one->name : message.id, longest_reason);
    auto const key = base::bounded(message.key, longest_reason);
    auto const reason = base::bounded(one->refused, longest_reason);
    db::run(session, context_.sql["intake.refuse"],
            {declared_->id, message.topic, std::int64_t{message.partition}, position,
             std::int64_t{one->attempts}, std::string_view(id), std::string_view(key),
             std::string_view(reason), bytes_of(message.body)});
  }
}

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
