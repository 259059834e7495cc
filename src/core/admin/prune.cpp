// Deletes history that nothing needs any more, a piece at a time.
#include "base/limits.hpp"
#include "base/rows.hpp"
#include "core/admin/operate.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

/// So many rows are deleted in one transaction, so that no lock is held for long.
constexpr std::int64_t piece = 1000;
/// So many holders are found by one look at all runs and attempts.
constexpr std::int64_t most_holders = 10'000;
/// Ended for ever, and so long ago that no lost reply asks for its traces any more.
constexpr auto least_age = std::chrono::hours{1};

class pruner {
 public:
  pruner(context const& context, prune_options const& options)
      : context_(context), options_(options) {}

  prune_report work() {
    read(context_, [&](db::session& session) {
      decode(db::run(session, context_.sql["book.now"], {}).row(0)[0], began_us_);
      processes_.clear();
      if (!options_.process.empty()) return processes_.push_back(options_.process);
      auto const rows = db::run(session, context_.sql["operate.processes"], {});
      for (std::size_t at = 0; at < rows.size(); ++at) {
        decode(rows.row(at)[0], processes_.emplace_back());
      }
    });
    using std::chrono::microseconds;
    before_us_ = began_us_ - std::int64_t{microseconds(options_.older_than).count()};
    for (auto const& one : processes_) prune_process(one);
    prune_holders();
    return done_;
  }

  void write_down(bounded_remark const& note) {
    auto const detail = "older than " + std::to_string(options_.older_than.count()) +
                        " h: " + std::to_string(done_.attempts) + " attempts, " +
                        std::to_string(done_.steps) + " steps, " + std::to_string(done_.values) +
                        " carried values, " + std::to_string(done_.holders) + " holders, " +
                        std::to_string(done_.runs) + " runs";
    once([&](db::session& session) {
      // After a lost reply this waits for the lost transaction, whose row is then seen.
      db::run(session, context_.sql["operate.take_turns"], {});
      db::run(session, context_.sql["operate.change_once"],
              {std::string_view(options_.process), std::string_view(), note.actor,
               std::string_view("prune"), note.reason, std::string_view(detail),
               note.request_value(), began_us_});
    });
  }

 private:
  /// Walks the process by its keys, so that each piece looks at few rows, wherever the book is
  /// large.
  void prune_process(std::string const& process) {
    std::string after;
    for (;;) {
      auto const last = end_of_piece(process, after);
      if (last.empty()) return;
      std::initializer_list<value> const range{std::string_view(process), std::string_view(after),
                                               std::string_view(last), before_us_, piece};
      done_.attempts += drain("operate.prune_attempts", range);
      done_.steps += drain("operate.prune_steps", range);
      done_.values += drain("operate.prune_carried", range);
      drain("operate.prune_intents", range);
      if (options_.forget_runs) done_.runs += drain("operate.prune_runs", range);
      after = last;
    }
  }

  /// Those that nothing names are found by a look at all runs and attempts, which no transaction
  /// waits for.
  void prune_holders() {
    std::string after;
    for (;;) {
      auto const idle = idle_holders(after);
      for (std::size_t at = 0; at < idle.size();) {
        base::rows some;
        for (std::int64_t n = 0; n < piece && at < idle.size(); ++n) some.begin().add(idle[at++]);
        auto const uuids = some.text();
        std::int64_t went = 0;
        once([&](db::session& session) {
          went = db::run(session, context_.sql["operate.prune_holders"],
                         {std::string_view(uuids), before_us_})
                     .affected;
        });
        done_.holders += went;
      }
      if (std::cmp_less(idle.size(), most_holders)) return;
      after = idle.back();
    }
  }

  std::vector<std::string> idle_holders(std::string const& after) {
    auto look = context_.sql["operate.idle_holders"];
    for (auto& one : look.parts) one.what.takes_its_time = true;
    std::vector<std::string> out;
    read(context_, [&](db::session& session) {
      out.clear();
      auto const rows = db::run(session, look, {before_us_, std::string_view(after), most_holders});
      for (std::size_t at = 0; at < rows.size(); ++at) decode(rows.row(at)[0], out.emplace_back());
    });
    return out;
  }

  std::string end_of_piece(std::string const& process, std::string const& after) {
    std::string last;
    read(context_, [&](db::session& session) {
      auto const rows = db::run(session, context_.sql["operate.keys"],
                                {std::string_view(process), std::string_view(after), piece});
      last.clear();
      if (rows.size() > 0) decode(rows.row(rows.size() - 1)[0], last);
    });
    return last;
  }

  /// Deletes until nothing is left to delete; how many rows went, as far as replies came.
  std::int64_t drain(std::string_view name, std::initializer_list<value> values) {
    std::int64_t all = 0;
    for (;;) {
      std::int64_t went = 0;
      once([&](db::session& session) {
        went = db::run(session, context_.sql[name], values).affected;
      });
      all += went;
      if (went < piece) return all;
    }
  }

  /// Deleting what is not there any more is harmless, so after a lost reply: again.
  template <class F>
  void once(F const& body) {
    for (;;) {
      try {
        transact(context_, {.name = "operate"}, [&](db::session& session) {
          body(session);
          return decision::commit;
        });
        return;
      } catch (lost_reply const&) {
        continue;
      }
    }
  }

  context const& context_;
  prune_options const& options_;
  std::vector<std::string> processes_;
  std::int64_t began_us_ = 0;
  std::int64_t before_us_ = 0;
  prune_report done_;
};

}  // namespace

prune_report prune_history(context const& context, prune_options const& options,
                           audit_note const& note) {
  base::limits("prune_options")
      .between("older_than", options.older_than, least_age, std::chrono::hours{24 * 36525});
  if (!options.process.empty()) check_name("process name", options.process);
  pruner all(context, options);
  auto const done = all.work();
  all.write_down(bounded_remark(note));
  return done;
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
