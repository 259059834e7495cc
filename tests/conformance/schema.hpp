// The tables as the database itself describes them, and texts that a person has reviewed.
#pragma once

#include "support/engines.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace conformance {

/// Compares with tests/golden/`file`; DAYBOOK_UPDATE_GOLDEN=1 writes it instead.
inline void golden(std::string const& file, std::string const& text) {
  auto const path = std::string(DAYBOOK_GOLDEN) + "/" + file;
  char const* const update = std::getenv("DAYBOOK_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") std::ofstream(path) << text << '\n';
  std::stringstream reviewed;
  reviewed << std::ifstream(path).rdbuf();
  EXPECT_EQ(reviewed.str(), text + "\n")
      << path << " differs: look at the change, then set DAYBOOK_UPDATE_GOLDEN=1";
}

/// Every table whose name starts with daybook_, with columns, keys, checks and indexes; a line
/// each. Empty: there is none.
inline std::string tables_of(support::engine const& on, support::fresh_database const& of) {
  if (on.name == "sqlite") {
    return of.query(
        "select group_concat(sql, ';' || char(10)) from (select sql from "
        "sqlite_schema where name like 'daybook_%' and sql is not null order by name)");
  }
  if (on.name.starts_with("mariadb") || on.name == "mysql") {
    return of.query(
        "set session group_concat_max_len = 1000000; "
        "select group_concat(line order by line separator '\n') from ("
        "select concat(table_name, ' ', lpad(ordinal_position, 2, '0'), ' ', column_name, ' ', "
        "column_type, if(is_nullable = 'NO', ' not null', ''), coalesce(concat(' ', "
        "collation_name), '')) as line from information_schema.columns "
        "where table_schema = database() and table_name like 'daybook%' union all "
        "select concat(table_name, ' engine ', engine) from information_schema.tables "
        "where table_schema = database() and table_name like 'daybook%' union all "
        "select concat(table_name, ' index ', index_name, ' ', group_concat(column_name order by "
        "seq_in_index)) from information_schema.statistics where table_schema = database() "
        "group by table_name, index_name union all "
        "select concat(/*M! table_name */ /*!80000 constraint_name */, ' check ', check_clause) "
        "from "
        "information_schema.check_constraints where constraint_schema = database()) as lines_");
  }
  return of.query(
      "select string_agg(line, E'\\n' order by line collate \"C\") from ("
      "select table_name || ' ' || to_char(ordinal_position, 'FM00') || ' ' || column_name || ' ' "
      "|| data_type || case is_nullable when 'NO' then ' not null' else '' end || "
      "coalesce(' collate ' || collation_name, '') as line from information_schema.columns "
      "where table_schema = 'public' and table_name like 'daybook%' union all "
      "select tablename || ' index ' || indexdef from pg_indexes "
      "where schemaname = 'public' and tablename like 'daybook%' "
      "union all select relname || ' ' || array_to_string(reloptions, ' ') from pg_class "
      "where relnamespace = 'public'::regnamespace and relname like 'daybook%' "
      "and reloptions is not null union all "
      "select conrelid::regclass || ' check ' || pg_get_constraintdef(oid) from pg_constraint "
      "where contype = 'c' and connamespace = 'public'::regnamespace "
      "and conrelid::regclass::text like 'daybook%') as lines_");
}

}  // namespace conformance
