// daybook::queue, claim, result: what users see of this room.
#include "base/limits.hpp"
#include "base/text.hpp"
#include "queue/claims/batch.hpp"
#include "queue/maintenance/watcher.hpp"
#include "queue/members/import.hpp"
#include "queue/members/people.hpp"
#include "queue/members/store.hpp"

#include <daybook/adopt.hpp>
#include <daybook/error.hpp>
#include <daybook/queue.hpp>
#include <daybook/transaction.hpp>
#include <daybook/table_sync.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {

namespace {

std::optional<claim> claim_of(std::unique_ptr<queues::batch> inside) {
  if (!inside) return std::nullopt;
  return claim(std::move(inside));
}

db::session& session_of(external_transaction& yours, queues::store const& store) {
  if (yours.book_id() != store.with().book_id) {
    throw error(
        {.kind = error_code::bad_argument},
        "the transaction was joined for another book than that of queue '" + store.name() + "'");
  }
  return yours.internals();
}

}  // namespace

std::string_view word_of(task_state state) noexcept {
  switch (state) {
    case task_state::waiting: return "waiting";
    case task_state::running: return "running";
    case task_state::succeeded: return "succeeded";
    case task_state::failed: return "failed";
    case task_state::dead: return "dead";
    case task_state::unknown: return "unknown";
    case task_state::quarantined: return "suspect";
    case task_state::discarded: return "discarded";
  }
  return "";
}

result::result(kind kind, std::string remark, std::chrono::microseconds length)
    : kind_(kind), length_(length), remark_(std::move(remark)) {}

result result::success(std::string remark) { return {kind::success, std::move(remark)}; }
result result::failure(std::string remark) { return {kind::failure, std::move(remark)}; }
result result::cancel(std::string remark) { return {kind::cancel, std::move(remark)}; }
result result::unknown(std::string remark) { return {kind::unknown, std::move(remark)}; }

result result::snooze(std::chrono::milliseconds length, std::string remark) {
  base::limits("a task").between("the length of its snooze", length, std::chrono::milliseconds{1},
                                 std::chrono::hours{24 * 3653});
  return {kind::snooze, std::move(remark), length};
}

claim::claim(std::unique_ptr<queues::batch> inside) : inside_(std::move(inside)) {}
claim::claim(claim&&) noexcept = default;
claim& claim::operator=(claim&&) noexcept = default;
claim::~claim() = default;

std::string const& claim::id() const noexcept { return inside_->id(); }
std::span<task const> claim::tasks() const noexcept { return inside_->tasks(); }
std::string claim::idempotency_key(task const& task) const {
  return inside_->idempotency_key(task);
}
outcome claim::begin(std::span<task const* const> tasks) { return inside_->begin(tasks); }
outcome claim::begin(daybook::task const& task) {
  auto const* const only = &task;
  return begin(std::span(&only, 1));
}
void claim::finish(task const& task, result result) { inside_->finish(task, std::move(result)); }
bool claim::finish_in(external_transaction& yours, task const& task) {
  auto const* const only = &task;
  return finish_in(yours, std::span(&only, 1));
}
bool claim::finish_in(external_transaction& yours, std::span<task const* const> tasks) {
  return inside_->finish_in(session_of(yours, inside_->of()), tasks);
}
outcome claim::perform(task const& task, std::function<void(transaction&)> const& body) {
  auto const* const only = &task;
  return perform(std::span(&only, 1), body);
}
outcome claim::perform(std::span<task const* const> tasks,
                       std::function<void(transaction&)> const& body) {
  return inside_->perform(tasks, body);
}
bool claim::flush() { return inside_->flush(); }
outcome claim::complete() && { return inside_->complete(); }
claim::completed_and_claimed claim::complete_and_claim(int limit) && {
  std::unique_ptr<queues::batch> next;
  auto const options = inside_->options_again(limit);
  auto const ended = inside_->complete_and_claim(options, next);
  if (next && next->tasks().empty()) {  // ids whose members are gone: the claim that looks further
    next.reset();
    next = inside_->of().claim(options);
  }
  return {ended, claim_of(std::move(next))};
}

std::string const& queue::name() const noexcept { return inside_->name(); }
queue_options queue::options() const { return inside_->present().options; }
bool queue::add(key const& key, task_options const& options) { return inside_->add(key, options); }
bool queue::add(transaction& tx, key const& key, task_options const& options) {
  return inside_->add_in(tx.internals(), key, options);
}
bool queue::add(external_transaction& tx, key const& key, task_options const& options) {
  return inside_->add_in(session_of(tx, *inside_), key, options);
}
import_report queue::import(std::function<std::optional<entry>()> const& next,
                            task_options const& options) {
  return inside_->import(next, options);
}
import_report queue::import(std::vector<entry> const& entries, task_options const& options) {
  auto at = entries.begin();
  return inside_->import(
      [&]() -> std::optional<entry> {
        if (at == entries.end()) return std::nullopt;
        return *at++;
      },
      options);
}
import_report queue::import_query(std::string_view query, task_options const& options,
                                  std::function<bool(import_report const&)> const& on_progress) {
  return queues::import_query(*inside_, query, options, on_progress);
}
daybook::table_sync queue::follow(synced_table const& table) {
  return daybook::table_sync(queues::follow(inside_, table, nullptr));
}
daybook::table_sync queue::follow(synced_table const& table, audit_note const& note) {
  return daybook::table_sync(queues::follow(inside_, table, &note));
}
std::optional<daybook::table_sync> queue::followed() const {
  auto found = queues::followed_by(inside_);
  if (!found) return std::nullopt;
  return daybook::table_sync(std::move(found));
}
bool queue::unfollow() { return queues::unfollow(*inside_, nullptr); }
bool queue::unfollow(audit_note const& note) { return queues::unfollow(*inside_, &note); }
bool queue::remove(key const& key) { return inside_->remove(key); }
bool queue::remove(transaction& tx, key const& key) {
  return inside_->remove_in(tx.internals(), key);
}
bool queue::remove(external_transaction& tx, key const& key) {
  return inside_->remove_in(session_of(tx, *inside_), key);
}
bool queue::set_payload(key const& key, std::optional<std::string> const& payload) {
  return inside_->set_payload(key, payload);
}
bool queue::run_now(key const& key) { return inside_->ask(key, queues::asked::run_now); }
bool queue::retry(key const& key) { return inside_->ask(key, queues::asked::retry); }
bool queue::discard(key const& key) { return inside_->ask(key, queues::asked::discard); }
bool queue::resolve(key const& key, effect_state effect) {
  return inside_->ask(
      key, effect == effect_state::done ? queues::asked::was_done : queues::asked::was_not_done);
}
bool queue::ask(key const& key, task_request request, audit_note const& note) {
  return queues::put_request(*inside_, key, request, note);
}
std::int64_t queue::ask(task_state state, task_request request, audit_note const& note,
                        std::function<void(std::int64_t)> const& on_progress) {
  return queues::put_requests(*inside_, state, request, note, on_progress);
}
bool queue::set_priority(key const& task, int priority) {
  return queues::put_priority(*inside_, task, priority, nullptr);
}
bool queue::set_priority(key const& task, int priority, audit_note const& note) {
  return queues::put_priority(*inside_, task, priority, &note);
}
std::int64_t queue::in_front(key const& task) const { return queues::in_front(*inside_, task); }
bool queue::remove(key const& key, audit_note const& note) {
  return queues::remove(*inside_, key, note);
}
bool queue::pause(audit_note const& note) { return queues::pause(*inside_, true, note); }
bool queue::resume(audit_note const& note) { return queues::pause(*inside_, false, note); }
void queue::pause() { inside_->pause(true); }
void queue::resume() { inside_->pause(false); }
bool queue::open_round(timestamp at) { return inside_->open_round(at); }
std::optional<claim> queue::claim(claim_options const& options) {
  return claim_of(inside_->claim(options));
}
std::int64_t queue::reclaim() { return inside_->reclaim(); }
maintenance_report queue::upkeep() { return inside_->upkeep(); }
std::optional<task_info> queue::find(key const& key) const { return inside_->find(key); }
std::vector<task_info> queue::tasks(tasks_query const& query) const {
  return inside_->tasks(query);
}
std::vector<task_outcome> queue::outcomes(key const& key, int limit) const {
  return queues::outcomes(*inside_, key, limit);
}
std::vector<change_info> queue::changes() const { return queues::changes(*inside_, {}); }
std::vector<change_info> queue::changes(key const& key) const {
  return queues::changes(*inside_, key.str());
}
queue_info queue::info() const { return queues::info(*inside_); }
queue_counts queue::counts(counting scope) const { return inside_->counts(scope); }

table_sync_info table_sync::info() const { return inside_->info(); }
std::string table_sync::trigger_sql() const { return inside_->trigger_sql(); }
std::string table_sync::drop_sql() const { return inside_->drop_sql(); }
void table_sync::install() { inside_->install(nullptr); }
void table_sync::uninstall() { inside_->uninstall(nullptr); }
void table_sync::install(audit_note const& note) { inside_->install(&note); }
void table_sync::uninstall(audit_note const& note) { inside_->uninstall(&note); }
reconcile_report table_sync::reconcile(reconcile_callback const& on_progress) {
  return inside_->reconcile(on_progress);
}
table_difference table_sync::compare(std::int64_t at_most) const {
  return inside_->compare(at_most);
}

}  // namespace v1
}  // namespace daybook
