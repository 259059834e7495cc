// One aggregation of a book: what people ask of it.
// Thread-safe.
#pragma once

#include "aggregation/amounts.hpp"
#include "aggregation/definition.hpp"
#include "aggregation/keys.hpp"
#include "core/tx/context.hpp"
#include "db/session.hpp"

#include <daybook/aggregation.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace aggregations {

/// What a verb on a parent has come to within its transaction.
struct step {
  settling how = settling::done;
  std::int64_t rows = 0;
  std::string parent;
  std::string detail = {};
};

class store {
 public:
  store(core::context const& context, definition aggregation)
      : context_(context), definition_(std::move(aggregation)) {}

  [[nodiscard]] definition const& declared() const noexcept { return definition_; }
  [[nodiscard]] core::context const& with() const noexcept { return context_; }

  // As aggregation's verbs.
  [[nodiscard]] std::vector<group_preview> preview(int limit) const;
  settling close(std::string_view parent, audit_note const& note) const;
  std::int64_t close_all(audit_note const& note) const;
  settling settle(std::string_view parent, audit_note const& note) const;
  settling revert(std::string_view parent, audit_note const& note) const;
  settling remove(std::string_view row, audit_note const& note) const;
  [[nodiscard]] std::optional<parent_info> find(std::string_view parent) const;
  [[nodiscard]] std::vector<parent_info> parents(parents_query const& query) const;
  [[nodiscard]] std::vector<aggregated_row> rows(std::string_view parent, std::string_view after,
                                                 int limit) const;
  [[nodiscard]] std::optional<std::string> parent_of(std::string_view row) const;
  [[nodiscard]] verify_report verify(int limit) const;
  [[nodiscard]] std::vector<aggregation_event> history(std::string_view parent, int limit,
                                                       std::int64_t before) const;

  /// A key as a value: a number where the column holds numbers. Empty: it can be none of that
  /// column's.
  [[nodiscard]] static std::optional<value> key_value(std::string_view key, bool is_number);
  /// Parents as [[key], ...], or with more.
  [[nodiscard]] std::string one_parent(std::string_view parent) const;
  /// So many keys for parents, of the groups that `group` says.
  [[nodiscard]] std::vector<std::string> new_keys(
      numbers& drawn, std::int64_t now_us, std::size_t count,
      std::function<std::string(std::size_t)> const& group) const;
  // Within a transaction.
  /// Nobody declares it otherwise until the transaction ends. On failure: daybook::error
  /// (error_code::configuration) where somebody has.
  void hold(db::session& session) const;
  /// Says that rows are not added to it any more.
  bool shut(db::session& session, std::string_view parent, bool ended) const;
  /// Closes one that is open, and writes that down. On failure: daybook::error, retryable, where it
  /// is not.
  void close_within(db::session& session, std::string_view parent, audit_note const& note) const;
  /// Sets what follows from the sums of the parents that these rows begin with.
  void follow(db::session& session, std::string_view rows) const;

 private:
  using body = std::function<step(db::session&)>;
  settling change(aggregation_event::kind kind, std::string_view name, std::string_view parent,
                  audit_note const& note, body const& does) const;
  /// Why a parent is not as a verb needs it.
  [[nodiscard]] settling standing(db::session& session, std::string_view parent) const;
  [[nodiscard]] group_preview previewed(group_rows const& group,
                                        std::span<cell const> parent) const;
  void check_key(std::string const& key) const;
  step settle_in(db::session& session, std::string_view parent) const;
  step revert_in(db::session& session, std::string_view parent) const;
  step remove_in(db::session& session, std::string_view row) const;
  /// Changes all rows of a parent that are taken; what they were. Empty: others were changed
  /// meanwhile, or some are `left` as they should not be.
  [[nodiscard]] std::optional<group_rows> move_rows(db::session& session, std::string_view parent,
                                                    db::entry const& entry,
                                                    db::entry const& left) const;

  core::context context_;
  definition definition_;
};

/// Makes the aggregation, or looks it up. On failure: daybook::error.
std::shared_ptr<store> make(core::context const& context, std::string_view name,
                            aggregation_options const& options);
[[nodiscard]] std::vector<std::string> names(core::context const& context);

/// Whether a row says that the transaction of that id was committed; else it is written now. A lost
/// transaction of that id has ended when this returns.
[[nodiscard]] bool was_done(db::session& session, core::context const& context,
                            std::int64_t aggregation, aggregation_event::kind kind,
                            std::string_view call, std::optional<std::string_view> parent,
                            audit_note const& note);
void write_done(db::session& session, core::context const& context, std::string_view call,
                std::optional<std::string_view> parent, std::int64_t rows, std::string_view detail);

/// As aggregation::aggregate().
aggregate_report aggregate(store const& store, aggregate_options const& options);

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
