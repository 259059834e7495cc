// Making an aggregation, and what its transactions write down of themselves.
#include "aggregation/store.hpp"

#include "base/numbers.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"
#include "core/admin/operate.hpp"
#include "core/run/run.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {
namespace aggregations {

namespace {

struct known {
  std::int64_t id = 0;
  std::string declared;
  std::int64_t open = 0;
};

std::optional<known> look(db::session& session, core::context const& context,
                          std::string_view name) {
  auto const found = db::run(session, context.sql["aggregation.look"], {name});
  if (found.size() == 0) return std::nullopt;
  known out;
  decode(found.row(0)[0], out.id);
  decode(found.row(0)[1], out.declared);
  decode(found.row(0)[2], out.open);
  return out;
}

std::optional<known> look(core::context const& context, std::string_view name) {
  std::optional<known> out;
  core::read(context, [&](db::session& session) { out = look(session, context, name); });
  return out;
}

/// The first lines that are not the same.
std::string first_difference(std::string_view before, std::string_view now) {
  while (!before.empty() || !now.empty()) {
    auto const one = before.substr(0, before.find('\n'));
    auto const other = now.substr(0, now.find('\n'));
    if (one != other) return "'" + std::string(other) + "', and before '" + std::string(one) + "'";
    before.remove_prefix(std::min(before.size(), one.size() + 1));
    now.remove_prefix(std::min(now.size(), other.size() + 1));
  }
  return {};
}

/// Where nobody else has declared it since. Who writes by the one before has ended, or sees this
/// one.
void declare(core::context const& context, std::string_view name, std::string_view declared,
             std::optional<known> const& before) {
  core::transact(
      context, {.name = "declare", .level = isolation::read_committed}, [&](db::session& session) {
        if (!before) {
          db::run(session, context.sql["aggregation.make"], {name, declared});
          return core::decision::commit;
        }
        db::run(session, context.sql["aggregation.lock"], {name});
        auto const now = look(session, context, name);
        if (!now || now->declared != before->declared) return core::decision::rollback;
        if (now->open > 0) {
          throw error({.kind = error_code::configuration},
                      "aggregation '" + std::string(name) + "' was declared otherwise, and " +
                          std::to_string(now->open) + " of its parents are not settled or void: " +
                          first_difference(now->declared, declared));
        }
        db::run(session, context.sql["aggregation.declare"],
                {name, declared, std::string_view(before->declared)});
        return core::decision::commit;
      });
}

}  // namespace

std::shared_ptr<store> make(core::context const& context, std::string_view name,
                            aggregation_options const& options) {
  auto made = checked(context, name, options);
  made.declared = structure_of(options);
  auto const attempt = [&]() -> std::optional<std::shared_ptr<store>> {
    auto const found = look(context, name);
    if (found && found->declared == made.declared) {
      made.id = found->id;
      return std::make_shared<store>(context, std::move(made));
    }
    declare(context, name, made.declared, found);
    return std::nullopt;
  };
  return core::repeat_if_changed(
      attempt, [&] { bad(name, "it is being declared all the time, by others"); });
}

std::vector<std::string> names(core::context const& context) {
  std::vector<std::string> out;
  core::read(context, [&](db::session& session) {
    auto const found = db::run(session, context.sql["aggregation.names"], {});
    out.assign(found.size(), {});
    for (std::size_t i = 0; i < out.size(); ++i) decode(found.row(i)[0], out[i]);
  });
  return out;
}

bool was_done(db::session& session, core::context const& context, std::int64_t aggregation,
              aggregation_event::kind kind, std::string_view call,
              std::optional<std::string_view> parent, audit_note const& note) {
  core::bounded_remark const bounded(note);
  return db::run(session, context.sql["aggregation.begin"],
                 {aggregation, static_cast<std::int64_t>(kind), call, to_value(parent),
                  std::string_view(bounded.actor), std::string_view(bounded.reason)})
             .affected == 0;
}

void write_done(db::session& session, core::context const& context, std::string_view call,
                std::optional<std::string_view> parent, std::int64_t rows,
                std::string_view detail) {
  db::run(session, context.sql["aggregation.done"], {call, to_value(parent), rows, detail});
}

void store::hold(db::session& session) const {
  db::run(session, context_.sql["aggregation.hold"], {std::string_view(definition_.name)});
  auto const found = db::run(session, context_.sql["aggregation.stands"],
                             {definition_.id, std::string_view(definition_.declared)});
  if (found.size() > 0) return;
  throw error({.kind = error_code::configuration},
              "aggregation '" + definition_.name +
                  "' was declared otherwise since this program declared it: go on with the one "
                  "that declares it so, or declare it again when all its parents are settled or "
                  "void");
}

std::optional<value> store::key_value(std::string_view key, bool is_number) {
  if (!is_number) return value(key);
  auto const number = base::number_of(key);
  return number ? std::optional<value>(*number) : std::nullopt;
}

std::string store::one_parent(std::string_view parent) const {
  base::rows out;
  out.begin();
  auto const key = key_value(parent, definition_.number_parents).value();
  if (auto const* const number = std::get_if<std::int64_t>(&key)) {
    out.add(*number);
  } else {
    out.add(parent);
  }
  return out.text();
}

std::vector<std::string> store::new_keys(
    numbers& drawn, std::int64_t now_us, std::size_t count,
    std::function<std::string(std::size_t)> const& group) const {
  std::vector<std::string> out;
  if (definition_.options.key_of) {
    for (std::size_t i = 0; i < count; ++i) {
      auto const key = definition_.options.key_of(keys_of(group(i)));
      check_key(key);
      out.push_back(key);
    }
  } else if (definition_.number_parents) {
    for (auto const one : drawn.next(now_us, count)) out.push_back(std::to_string(one));
  } else {
    for (auto const& one : new_texts(now_us, count))
      out.push_back(definition_.options.key_prefix + one);
  }
  return out;
}

void store::check_key(std::string const& key) const {
  auto const what = "key_of has given '" + base::bounded(key, 100) + "', which ";
  if (definition_.number_parents) {
    if (!key_value(key, true)) bad(definition_.name, what + "is no number");
    return;
  }
  core::check_text("aggregation '" + definition_.name + "': the key that key_of has given", key);
  if (key.empty() || key.size() > 255 || base::first_control(key) != std::string::npos) {
    bad(definition_.name, what + "is no key: 1 to 255 bytes without control characters");
  }
}

bool store::shut(db::session& session, std::string_view parent, bool ended) const {
  return db::run(session, context_.sql["aggregation.shut"],
                 {definition_.id, parent, std::int64_t{ended ? 1 : 0}})
             .affected == 1;
}

void store::follow(db::session& session, std::string_view rows) const {
  if (!definition_.sql.follow.parts.empty()) db::run(session, definition_.sql.follow, {rows});
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
