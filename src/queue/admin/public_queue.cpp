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
#include <daybook/watch.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {

namespace {

std::optional<claim> claim_of(std::unique_ptr<queues::batch> inside) {
  if (!inside) return std::nullopt;
  return claim(std::move(inside));
}

db::session& session_of(external_transaction& yours, queues::store const& of) {
  if (yours.book_id() != of.with().book_id) {
    throw error(
        {.kind = error_code::bad_argument},
        "the transaction was joined for another book than that of queue '" + of.name() + "'");
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
    case task_state::suspect: return "suspect";
    case task_state::discarded: return "discarded";
  }
  return "";
}

result::result(kind what, std::string remark, std::chrono::microseconds length)
    : what_(what), length_(length), remark_(std::move(remark)) {}

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
std::string claim::idempotency_key(task const& of) const { return inside_->idempotency_key(of); }
outcome claim::begin(std::span<task const* const> tasks) { return inside_->begin(tasks); }
outcome claim::begin(daybook::task const& task) {
  auto const* const only = &task;
  return begin(std::span(&only, 1));
}
void claim::finish(task const& of, result how) { inside_->finish(of, std::move(how)); }
bool claim::finish_in(external_transaction& yours, task const& of) {
  auto const* const only = &of;
  return finish_in(yours, std::span(&only, 1));
}
bool claim::finish_in(external_transaction& yours, std::span<task const* const> of) {
  return inside_->finish_in(session_of(yours, inside_->of()), of);
}
outcome claim::perform(task const& of, std::function<void(transaction&)> const& body) {
  auto const* const only = &of;
  return perform(std::span(&only, 1), body);
}
outcome claim::perform(std::span<task const* const> of,
                       std::function<void(transaction&)> const& body) {
  return inside_->perform(of, body);
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
bool queue::add(key const& of, task_options const& how) { return inside_->add(of, how); }
bool queue::add(transaction& in, key const& of, task_options const& how) {
  return inside_->add_in(in.internals(), of, how);
}
bool queue::add(external_transaction& in, key const& of, task_options const& how) {
  return inside_->add_in(session_of(in, *inside_), of, how);
}
import_report queue::import(std::function<std::optional<entry>()> const& next,
                            task_options const& how) {
  return inside_->import(next, how);
}
import_report queue::import(std::vector<entry> const& entries, task_options const& how) {
  auto at = entries.begin();
  return inside_->import(
      [&]() -> std::optional<entry> {
        if (at == entries.end()) return std::nullopt;
        return *at++;
      },
      how);
}
import_report queue::import_query(std::string_view query, task_options const& how,
                                  std::function<bool(import_report const&)> const& told) {
  return queues::import_query(*inside_, query, how, told);
}
daybook::watch queue::watch(synced_table const& of) {
  return daybook::watch(queues::follow(inside_, of, nullptr));
}
daybook::watch queue::watch(synced_table const& of, audit_note const& by) {
  return daybook::watch(queues::follow(inside_, of, &by));
}
std::optional<daybook::watch> queue::watched() const {
  auto found = queues::followed_by(inside_);
  if (!found) return std::nullopt;
  return daybook::watch(std::move(found));
}
bool queue::unwatch() { return queues::unfollow(*inside_, nullptr); }
bool queue::unwatch(audit_note const& by) { return queues::unfollow(*inside_, &by); }
bool queue::remove(key const& of) { return inside_->remove(of); }
bool queue::remove(transaction& in, key const& of) {
  return inside_->remove_in(in.internals(), of);
}
bool queue::remove(external_transaction& in, key const& of) {
  return inside_->remove_in(session_of(in, *inside_), of);
}
bool queue::set_payload(key const& of, std::optional<std::string> const& payload) {
  return inside_->set_payload(of, payload);
}
bool queue::run_now(key const& of) { return inside_->ask(of, queues::asked::run_now); }
bool queue::retry(key const& of) { return inside_->ask(of, queues::asked::retry); }
bool queue::discard(key const& of) { return inside_->ask(of, queues::asked::discard); }
bool queue::resolve(key const& of, bool done) {
  return inside_->ask(of, done ? queues::asked::was_done : queues::asked::was_not_done);
}
bool queue::ask(key const& of, task_request what, audit_note const& by) {
  return queues::put_request(*inside_, of, what, by);
}
std::int64_t queue::ask(task_state in, task_request what, audit_note const& by,
                        std::function<void(std::int64_t)> const& told) {
  return queues::put_requests(*inside_, in, what, by, told);
}
bool queue::set_priority(key const& task, int priority) {
  return queues::put_priority(*inside_, task, priority, nullptr);
}
bool queue::set_priority(key const& task, int priority, audit_note const& by) {
  return queues::put_priority(*inside_, task, priority, &by);
}
std::int64_t queue::in_front(key const& task) const { return queues::in_front(*inside_, task); }
bool queue::remove(key const& of, audit_note const& by) { return queues::remove(*inside_, of, by); }
bool queue::pause(audit_note const& by) { return queues::pause(*inside_, true, by); }
bool queue::resume(audit_note const& by) { return queues::pause(*inside_, false, by); }
void queue::pause() { inside_->pause(true); }
void queue::resume() { inside_->pause(false); }
bool queue::open_round(timestamp at) { return inside_->open_round(at); }
std::optional<claim> queue::claim(claim_options const& how) {
  return claim_of(inside_->claim(how));
}
std::int64_t queue::reclaim() { return inside_->reclaim(); }
maintenance_report queue::upkeep() { return inside_->upkeep(); }
std::optional<task_info> queue::find(key const& of) const { return inside_->find(of); }
std::vector<task_info> queue::tasks(tasks_query const& what) const { return inside_->tasks(what); }
std::vector<task_outcome> queue::outcomes(key const& of, int limit) const {
  return queues::outcomes(*inside_, of, limit);
}
std::vector<change_info> queue::changes() const { return queues::changes(*inside_, {}); }
std::vector<change_info> queue::changes(key const& of) const {
  return queues::changes(*inside_, of.str());
}
queue_info queue::info() const { return queues::info(*inside_); }
queue_counts queue::counts(counting things) const { return inside_->counts(things); }

watch_info watch::info() const { return inside_->info(); }
std::string watch::trigger_sql() const { return inside_->trigger_sql(); }
std::string watch::drop_sql() const { return inside_->drop_sql(); }
void watch::install() { inside_->install(nullptr); }
void watch::uninstall() { inside_->uninstall(nullptr); }
void watch::install(audit_note const& by) { inside_->install(&by); }
void watch::uninstall(audit_note const& by) { inside_->uninstall(&by); }
reconcile_report watch::reconcile(watch_told const& told) { return inside_->reconcile(told); }
table_difference watch::compare(std::int64_t at_most) const { return inside_->compare(at_most); }

}  // namespace v1
}  // namespace daybook
