// A book of which tests ask how its engine would execute our statements: prepared, with values of
// the right kind, and which index each table is read by.
// Thread safety: the test's thread.
#pragma once

#include "conformance/fixture.hpp"
#include "conformance/schema.hpp"

#include "core/tx/transact.hpp"
#include "service/engine.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace conformance {

class catalogue : public on_engine {
 protected:
  /// Values of the right kind for whatever a statement of ours takes.
  struct samples {
    std::map<std::string, std::string> texts;
    std::map<std::string, std::int64_t> numbers;
    /// In the rooms beside the core, as "claim.take segments"; all else is a number there.
    std::map<std::string, std::string> by_room;

    [[nodiscard]] daybook::value of(std::string const& statement, std::string const& name) const {
      auto const room = statement.substr(0, statement.find('.') + 1);
      for (auto const& known : {statement + " " + name, room + " " + name, ". " + name}) {
        auto const text = by_room.find(known);
        if (text != by_room.end() && has_own(room)) return std::string_view(text->second);
      }
      if (has_own(room)) return std::int64_t{1};
      if (auto const number = numbers.find(name); number != numbers.end()) return number->second;
      auto const text = texts.find(name);
      if (text == texts.end()) throw std::runtime_error("no sample for " + name);
      return std::string_view(text->second);
    }

    static bool has_own(std::string const& room) {
      static std::set<std::string> const rooms{
          "queue.",   "member.",   "claim.", "segment.", "task.",        "request.", "outcome.",
          "wake.",    "schedule.", "tick.",  "table.",   "aggregation.", "watch.",   "planner.",
          "planned.", "period.",   "sweep.", "series.",  "problem.",     "intake.", "token."};
      return rooms.contains(room);
    }
  };

  static void fill(daybook::queue& q, int count) {
    std::vector<daybook::entry> entries;
    for (int i = 0; i < count; ++i) entries.push_back({key("k" + std::to_string(i))});
    q.import(entries);
  }

  /// By statement or room, where a name means something else there.
  static std::map<std::string, std::string> of_rooms() {
    return {{". key", "k1"},
            {". name", "stock"},
            {". schedule", "stock"},
            {". cron", "* * * * *"},
            {". zone", "UTC"},
            {". run_key", "k1"},
            {". reason", ""},
            {". schema", "s"},
            {". table", "t"},
            {". prefix", "p_"},
            {". payload", "{}"},
            {". claim", "01234567-89ab-7def-8123-456789abcdef"},
            {". holder", "h"},
            {". rows", "[[1,2,5,0,0,0,0,0,0]]"},
            {". heads", "[[2]]"},
            {". ranges", "[[1,2]]"},
            {"claim.done rows", R"([[1,2,2,1,0,""]])"},
            {"member.add_all rows", R"([[1,"a",null]])"},
            {"member.set_payloads rows", R"([["a",null]])"},
            {"member.remove_all rows", R"([["a"]])"},
            {"intake.place_all rows", R"([["t",0,0]])"},
            {"intake.move rows", R"([["t",0,0,1,"a",1,0,0]])"},
            {"intake.seen rows", R"([["a"]])"},
            {"intake.remember rows", R"([["a"]])"},
            {"intake. payload", "1"},
            {"intake. error", ""},
            {"intake. identity_name", ""},
            {"intake. topic", "t"},
            {"intake. message_id", "i"},
            {"intake. message_key", "k"},
            {"intake. body", "b"},
            {"claim.complete segments", "[[1,2,5,0,0,0,0,0,0,0]]"},
            {". outcomes", R"([[1,2,2,1,0,null,""]])"},
            {"aggregation. call", "01234567-89ab-7def-8123-456789abcdef"},
            {"aggregation. parent", "p"},
            {"aggregation. actor", ""},
            {"aggregation. detail", ""},
            {"aggregation. declared", ""},
            {"aggregation.declare before", ""},
            {"aggregation. position", "1"},
            {"aggregation. column", "c"},
            {"aggregation. groups", R"([["g"]])"},
            {"aggregation. parents", R"([["p","g",1]])"},
            {"planner. process", "plan p"},
            {"planner. source", "s"},
            {"planner. key_columns", ""},
            {"planner. created_column", ""},
            {"planner. check_sql", ""},
            {"planner. error", ""},
            {"period. rows", R"([[1,2,"2026-11-21"]])"},
            {"planned. keys", R"([["k1",""]])"},
            {"planned. after", ""},
            {"planned. low", "k1"},
            {"planned. high", "k2"},
            {"problem. print", "x"},
            {"problem. kind", "x"},
            {"problem. subject", "x"},
            {"problem. why", "x"},
            {"problem. remedy", "x"},
            {"token. id", "x"},
            {"token. hash", "x"},
            {"token. made_by", "x"},
            {"token. maker", "x"},
            {"sweep. place", "x"},
            {"sweep. low", "x"},
            {"sweep. high", "x"},
            {"sweep. row_keys", "x"}};
  }

  [[nodiscard]] samples live_values(std::string const& prefix) const {
    auto const column = [&](std::string const& name) {
      return database_.query("select " + name + " from " + prefix + "run");
    };
    std::map<std::string, std::int64_t> numbers{{"epoch", std::stoll(column("epoch"))},
                                                {"max_skew_us", 60'000'000},
                                                {"ttl_us", 30'000'000},
                                                {"limit", 10}};
    for (auto const* name :
         {"once", "restart", "state", "all", "movable_clock", "exit_code", "recalls", "seen"}) {
      numbers.emplace(name, 0);
    }
    for (auto const* name : {"run_no", "pid", "by_us", "at_us", "version", "oldest", "deadline_us",
                             "beat", "stamp", "mode", "took_us", "progress_done", "progress_total",
                             "done", "before_us", "since_us", "before"}) {
      numbers.emplace(name, 1);
    }
    return {{{"process", column("process")},
             {"key", column("run_key")},
             {"acquisition", column("acquisition")},
             {"fresh", column("acquisition")},
             {"holder", column("holder")},
             {"uuid", column("holder")},
             {"doubt", ""},
             {"name", "load"},
             {"value", ""},
             {"error", ""},
             {"in_hand", ""},
             {"output", ""},
             {"token", ""},
             {"date", "2026-11-21"},
             {"progress_note", ""},
             {"actor", ""},
             {"action", ""},
             {"reason", ""},
             {"detail", ""},
             {"request", "r"},
             {"after", ""},
             {"last", "z"},
             {"node", ""},
             {"prefix", prefix},
             {"book_id", ""},
             {"ended", "[[\"p\",\"k\",\"a\"]]"},
             {"uuids", "[[\"h\"]]"}},
            numbers,
            of_rooms()};
  }

  /// The plan of each part of a statement, in the engine's own words.
  daybook::db::table explained(daybook::db::session& on, std::string const& how,
                               daybook::db::statement what, samples const& with) const {
    // A setting of MariaDB's for one statement stands before all of it.
    auto const setting = what.text.starts_with("/*M!") ? what.text.find("*/") + 2 : 0;
    what.text.insert(setting, (setting > 0 ? " " : "") + how);
    std::vector<daybook::value> values;
    for (auto const& name : what.inputs) values.push_back(with.of(what.name, name));
    return on.run(what, values);
  }

  /// "TABLE by INDEX" for each table that a statement's plan reads; "TABLE whole" without one.
  std::set<std::string> accesses(daybook::db::table const& plan) const {
    std::set<std::string> out;
    for (std::size_t at = 0; at < plan.size(); ++at) {
      auto const cell = [&](std::size_t column) {
        std::optional<std::string> text;
        daybook::decode(plan.row(at)[column], text);
        return text.value_or("");
      };
      if (on_sqlite()) {
        if (cell(3).starts_with("SEARCH") || cell(3).starts_with("SCAN")) out.insert(cell(3));
      } else if (on_mariadb()) {
        // id, select_type, table, (MySQL: partitions,) type, possible_keys, key, ...
        auto const key = cell(on_mysql() ? 6 : 5);
        if (cell(1) == "INSERT" || cell(2).empty() || cell(2).starts_with("<")) continue;
        out.insert(cell(2) + (key.empty() ? " whole" : " by " + key));
      } else if (auto const line = cell(0); line.find("Index") != std::string::npos ||
                                            line.find("Seq Scan") != std::string::npos) {
        auto const first = line.find_first_not_of(" ->");
        auto const end = line.find("  (");
        if (line.find(" Cond:") != std::string::npos) continue;
        out.insert(line.substr(first, end - first));
      }
    }
    return out;
  }
};

}  // namespace conformance
