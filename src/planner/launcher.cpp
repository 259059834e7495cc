#include "planner/launcher.hpp"

#include "base/mutant.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <daybook/error.hpp>
#include <daybook/transaction.hpp>

#include <exception>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

constexpr std::size_t longest_reason = 500;

std::string keys_text(std::span<candidate const> page) {
  base::rows out;
  for (auto const& one : page) out.begin().add(std::string_view(one.key.str()));
  return out.text();
}

decision refusal(std::string why) {
  return {decision::kind::refuse, base::bounded(why, longest_reason)};
}

bool is_launch(decision const& decision) {
  return decision.what == decision::kind::launch || decision.what == decision::kind::again;
}

std::size_t hash_of(candidate const& candidate) {
  return std::hash<std::string>{}(candidate.key.str());
}

bool is_over(task_state state) noexcept {
  return state == task_state::succeeded || state == task_state::failed ||
         state == task_state::dead || state == task_state::discarded;
}

}  // namespace

std::vector<candidate> distinct(std::vector<candidate> page) {
  std::set<std::string, std::less<>> seen;
  std::erase_if(page, [&](candidate const& one) { return !seen.insert(one.key.str()).second; });
  return page;
}

launcher::launcher(core::context const& context, definition const& definition,
                   queues::store const& store, launch_check const& more)
    : context_(context), definition_(&definition), queue_(&store), more_(&more) {
  if (definition.options.check.empty()) return;
  check_ = db::rewrite("user", definition.options.check, context.user_sql.style());
  if (check_->inputs != std::vector<std::string>{"key"}) {
    bad(definition.name, "its check must have :key, and no other parameter");
  }
}

std::vector<decision> launcher::decide(transaction& tx, std::span<candidate> page) const {
  put_earlier(tx.internals(), page);
  std::vector<decision> out;
  out.reserve(page.size());
  for (auto& one : page) {
    auto by = launched_.contains(hash_of(one)) ? decision{decision::kind::pass_over} : by_rule(one);
    if (is_launch(by)) {
      if (auto checked = decide_one(tx, one); checked.what == decision::kind::refuse) {
        by = std::move(checked);
      }
    }
    out.push_back(std::move(by));
  }
  return out;
}

void launcher::put_earlier(db::session& session, std::span<candidate> page) const {
  for (auto& one : page) one.earlier.reset();
  std::map<std::string, earlier_instances, std::less<>> known;
  auto const found =
      db::run(session, context_.sql["planned.of"], {definition_->id, keys_text(page)});
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const row = found.row(i);
    std::string key;
    earlier_instances one;
    decode(row[0], key);
    decode(row[1], one.count);
    if (one.count == 0) continue;
    one.first = db::time_in(row[2]).value_or(timestamp{});
    one.last = db::time_in(row[3]).value_or(timestamp{});
    known.emplace(std::move(key), one);
  }
  if (known.empty()) return;
  bool const matters = rule_of(definition_->options) != launch_rule::once;
  for (auto& one : page) {
    auto const there = known.find(one.key.str());
    if (there == known.end()) continue;
    one.earlier = there->second;
    if (!matters) continue;
    auto const task = queue_->find_in(session, one.key);
    if (!task) continue;
    // What was asked of it and not done yet makes it wait.
    one.earlier->state = is_over(task->state) && queue_->is_asked_in(session, task->id)
                             ? task_state::waiting
                             : task->state;
  }
}

decision launcher::by_rule(candidate const& candidate) const {
  if (candidate.reopened) return {decision::kind::again};
  if (!candidate.earlier) return {};
  auto const state = candidate.earlier->state;
  auto const again = state ? decision::kind::again : decision::kind::launch;
  auto const active = [&] {
    return refusal("an earlier instance is " + std::string(daybook::word_of(*state)));
  };
  switch (rule_of(definition_->options)) {
    case launch_rule::once: break;
    case launch_rule::no_overlap:
      if (state && !is_over(*state)) return active();
      return {again};
    case launch_rule::after_failure:
      if (state && !is_over(*state)) return active();
      if (state == task_state::succeeded) return refusal("the last instance succeeded");
      return {again};
    case launch_rule::always:
      // Whether it was done is for a person to say; one that waits stands for both.
      if (state == task_state::unknown) return active();
      if (state == task_state::waiting || state == task_state::quarantined) {
        return {decision::kind::pass_over};
      }
      return {again};
  }
  return {decision::kind::pass_over};
}

decision launcher::decide_one(transaction& tx, candidate& candidate) const {
  auto const named = [&](std::string const& reason) {
    return "plan '" + definition_->name + "', key '" + candidate.key.str() + "': " + reason;
  };
  if (check_) {
    try {
      std::vector<value> const values{std::string_view(candidate.key.str())};
      if (tx.internals().run(*check_, values).size() == 0) {
        return refusal("its check gave no row");
      }
    } catch (error const& e) {
      if (e.kind() != error_code::statement) throw;
      throw error(e.facts(), named(std::string("its check: ") + e.what()));
    }
  }
  if (!*more_) return {};
  try {
    auto const verdict = (*more_)(tx, candidate);
    return verdict.refused() ? refusal(verdict.why()) : decision{};
  } catch (error const&) {
    throw;  // of the database: it may be one to try again
  } catch (std::exception const& e) {
    throw error({.kind = error_code::bad_argument},
                named(std::string("its check threw: ") + e.what()));
  }
}

page_sum launcher::write(db::session& session, std::span<candidate const> page,
                         std::span<decision const> decisions, std::int64_t first) const {
  page_sum out;
  std::vector<entry> added;
  base::rows launched;
  base::rows refused;
  for (std::size_t i = 0; i < page.size(); ++i) {
    auto const& one = page[i];
    switch (decisions[i].what) {
      case decision::kind::pass_over: continue;
      case decision::kind::refuse:
        refused.begin()
            .add(std::string_view(one.key.str()))
            .add(std::string_view(decisions[i].why));
        ++out.refused;
        continue;
      case decision::kind::launch: added.push_back({one.key, one.payload}); break;
      case decision::kind::again:
        if (!queue_->retry_in(session, one.key)) added.push_back({one.key, one.payload});
        break;
    }
    launched.begin().add(std::string_view(one.key.str()));
    ++out.launched;
  }
  auto const there =
      queue_->add_all_in(session, added, first, {.priority = definition_->options.priority});
  out.present = static_cast<std::int64_t>(added.size()) - there;
  out.launched -= out.present;
  if (!launched.empty() && base::left_out("launched_together")) {
    core::write(context_, {.name = "apart"}, context_.sql["planned.launch"],
                {definition_->id, launched.text()});
  } else if (!launched.empty()) {
    db::run(session, context_.sql["planned.launch"], {definition_->id, launched.text()});
  }
  if (!refused.empty())
    db::run(session, context_.sql["planned.refuse"], {definition_->id, refused.text()});
  if (out.launched > 0)
    db::run(session, context_.sql["planner.launched"], {definition_->id, out.launched});
  return out;
}

void launcher::written(std::span<candidate const> page, std::span<decision const> decisions) {
  if (!std::holds_alternative<query_strategy>(definition_->options.strategy)) return;
  if (rule_of(definition_->options) == launch_rule::once) return;  // the planner itself remembers
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    if (is_launch(decisions[i])) launched_.insert(hash_of(page[i]));
  }
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
