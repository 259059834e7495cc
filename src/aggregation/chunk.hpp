// One chunk: the free rows of a range are taken, their parents made where they are missing, counts
// and sums added. All in one transaction.
// Thread safety: one thread.
#pragma once

#include "aggregation/pass.hpp"
#include "aggregation/store.hpp"
#include "core/tx/transact.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace aggregations {

/// Why its rows cannot be taken; empty: they can.
[[nodiscard]] std::string why_not(definition const& aggregation, group_rows const& group);
/// Why they cannot be added to a parent; `now`: its state, count and sums, empty if it is not
/// there.
[[nodiscard]] std::string why_not_added(definition const& aggregation, group_rows const& group,
                                        std::string const& parent, std::span<cell const> now);

/// Of one call of aggregate(), from chunk to chunk.
struct progress {
  aggregate_report done;
  std::set<std::string> refused;  ///< groups that are left out from now on
  bool null_refused = false;
};

class chunk {
 public:
  chunk(store const& store, pass& ranges, aggregate_options const& options, progress& progress)
      : store_(store),
        definition_(store.declared()),
        context_(store.with()),
        ranges_(ranges),
        options_(options),
        progress_(progress) {}

  /// Takes the next range. False: there is none. On failure: throws daybook::error.
  bool next();

 private:
  using groups = std::set<std::string>;
  struct attempt {
    std::vector<group_rows> found;  ///< those that may be taken
    std::vector<group_rows> taken;
    std::map<std::string, std::string> parents;
    std::int64_t rows = 0;
    std::int64_t made = 0;
    bool again = false;  ///< the same once more: without what was refused, or with more care
    bool tells = false;  ///< taking says what was taken: its groups, parents and sums
    std::optional<std::string> held = {};  ///< the rows that are held, where there are some
    std::optional<cell> rest = {};         ///< from here the range goes on
  };

  void take(std::optional<range> const& where, groups const& left_out);
  void count();
  /// Once; false: once more.
  core::decision body(db::session& session, groups const& left_out);
  /// With care: rows that others hold are passed over, and nothing comes in between.
  void hold_rows(db::session& session);
  void survey(db::session& session, groups const& left_out);
  void refuse_or_find(std::vector<group_rows> const& all, groups const& left_out);
  void find_parents(db::session& session);
  [[nodiscard]] std::string new_parents(std::vector<group_rows const*> const& groups,
                                        std::map<std::string, std::string> const& keys) const;
  void make_parents(db::session& session);
  /// What was taken, group by group.
  [[nodiscard]] std::vector<group_rows> take_rows(db::session& session, groups const& left_out);
  [[nodiscard]] db::table run_take(db::session& session, groups const& left_out);
  template <class F>
  [[nodiscard]] db::table without_waiting(db::session& session, F const& run) const;
  /// All rows of the range, by the parents that are open. False: that was not all, or not right.
  [[nodiscard]] bool take_all(db::session& session);
  [[nodiscard]] std::int64_t landed(db::session& session) const;
  bool add(db::session& session);
  void add_alone();
  void explain(db::session& session);
  [[noreturn]] void changed(std::string const& why) const;
  void refuse(group_rows const& group, std::string const& why);

  store const& store_;
  definition const& definition_;
  core::context const& context_;
  pass& ranges_;
  aggregate_options const& options_;
  progress& progress_;

  numbers numbers_;
  std::optional<range> given_;
  std::optional<range> now_;
  attempt last_;
  std::string call_;
  bool in_doubt_ = false;
  bool usual_ = true;    ///< at first by what is fast where nothing is wrong with the rows
  bool steady_ = false;  ///< the chunk before was taken whole, and no parent was made
};

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
