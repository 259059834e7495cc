#include "db/catalogue.hpp"

#include "base/mutant.hpp"
#include "db/compound.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace db {

namespace {

std::string_view trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

[[noreturn]] void malformed(sql_file const& file, int line, std::string const& reason) {
  throw error({.kind = error_code::internal}, "sql/" + std::string(file.dialect) + "/" +
                                                  std::string(file.room) +
                                                  ".sql:" + std::to_string(line) + ": " + reason);
}

std::optional<std::string_view> after(std::string_view line, std::string_view start) {
  if (!line.starts_with(start)) return std::nullopt;
  return trimmed(line.substr(start.size()));
}

void add_names(std::vector<std::string>& texts, std::string_view list) {
  while (!list.empty()) {
    auto const comma = list.find(',');
    if (auto const name = trimmed(list.substr(0, comma)); !name.empty()) texts.emplace_back(name);
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
}

/// Reads the lines of a file into blocks.
class block_reader {
 public:
  explicit block_reader(sql_file const& file) : file_(file) {}

  std::vector<block> read() {
    auto text = file_.text;
    while (!text.empty()) {
      auto const end = text.find('\n');
      auto const line = text.substr(0, end);
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
      ++line_;
      if (auto const name = after(line, "-- name:")) {
        finish();
        now_ = block{std::string(*name), {}, {}, {}, {{when::always, {}}}};
        list_ = nullptr;
      } else {
        take(line);
      }
    }
    finish();
    return std::move(found_);
  }

 private:
  void finish() {
    if (!now_.name.empty()) found_.push_back(std::move(now_));
  }

  void take(std::string_view line) {
    if (auto const in = after(line, "-- in:")) {
      list_ = &now_.inputs;
      add_names(*list_, *in);
    } else if (auto const out = after(line, "-- out:")) {
      list_ = &now_.outputs;
      add_names(*list_, *out);
    } else if (auto const holes = after(line, "-- holes:")) {
      list_ = &now_.holes;
      add_names(*list_, *holes);
    } else if (line.starts_with("--   ") && list_ != nullptr) {
      add_names(*list_, trimmed(line.substr(2)));
    } else if (line == "-- by index") {
      now_.by_index = true;
    } else if (line == "-- then" || line == "-- else") {
      now_.parts.emplace_back(line == "-- then" ? when::always : when::if_nothing_happened, "");
    } else if (!line.starts_with("--") && !trimmed(line).empty()) {
      if (now_.name.empty()) malformed(file_, line_, "text before the first '-- name:'");
      list_ = nullptr;
      now_.parts.back().second.append(line).push_back('\n');
    }
  }

  sql_file const& file_;
  block now_;
  std::vector<block> found_;
  std::vector<std::string>* list_ = nullptr;
  int line_ = 0;
};

std::string_view without_end(std::string_view text) {
  text = trimmed(text);
  if (text.ends_with(';')) text.remove_suffix(1);
  return text;
}

using blocks = std::map<std::string, block, std::less<>>;

/// The statements and shapes of a dialect's folder.
blocks statements_in(std::span<sql_file const> files, std::string_view dialect) {
  blocks out;
  for (auto const& file : files) {
    if (file.dialect != dialect || file.room == "migrations" || file.room == "words") continue;
    for (auto& found : blocks_of(file)) {
      auto const name = found.name;
      if (out.try_emplace(name, std::move(found)).second) continue;
      throw error({.kind = error_code::internal}, "two statements are named " + name);
    }
  }
  return out;
}

/// Those of a dialect: its own text stands in the place of the common one, whose declaration stays.
blocks statements_of(std::span<sql_file const> files, std::string_view dialect) {
  auto out = statements_in(files, common_dialect);
  for (auto& [name, own] : statements_in(files, dialect)) {
    auto const [at, fresh] = out.try_emplace(name, own);
    if (fresh) continue;
    if (!own.inputs.empty() || !own.outputs.empty() || !own.holes.empty()) {
      throw error(
          {.kind = error_code::internal},
          "statement " + name + " is declared in sql/common and in sql/" + std::string(dialect));
    }
    at->second.parts = std::move(own.parts);
    at->second.by_index = own.by_index;
  }
  return out;
}

/// What only the current acquisition satisfies, and only before its deadline.
std::string fence(std::string const& now) {
  if (base::left_out("fence")) {
    return ":epoch = :epoch and :acquisition = :acquisition and :seen = :seen "
           "and state in (9, 8)";
  }
  return "epoch = :epoch and acquisition = :acquisition and version >= :seen "
         "and state in (9, 8) and (deadline_us is null or deadline_us > " +
         now + ")";
}

/// The next version of a run's row: never less, and that of this write where it is its holder's.
constexpr char const* onward = "case when version < :stamp then :stamp else version + 1 end";

/// What only a claim satisfies that nobody has taken back. Its holder is asked for by name.
std::string in_hand() { return base::left_out("claim_fence") ? "1 = 1" : "reclaimed_us is null"; }

/// What only the row satisfies that was looked at. No version ever becomes less.
std::string unchanged() {
  return base::left_out("tick_version") ? "version >= :version" : "version = :version";
}

/// A database's name comes from a URL, and may be a word of SQL or hold a hyphen.
std::string quoted(std::string const& schema, placeholder style) {
  char const quote = style == placeholder::question ? '`' : '"';
  return quote + schema + quote;
}

std::string clock(clock_kind kind, std::string const& real, std::string const& clock_table) {
  if (kind == clock_kind::real) return real;
  return "(select coalesce(stopped_us, " + real + " + offset_us) from " + clock_table + ")";
}

}  // namespace

std::vector<block> blocks_of(sql_file const& file) { return block_reader(file).read(); }

catalogue::catalogue(catalogue_options const& options, std::span<sql_file const> files)
    : style_(options.style),
      compounds_(options.compounds),
      table_prefix_(quoted(options.schema, options.style) + "." + options.prefix) {
  words_["schema"] = options.schema;
  words_["prefix"] = options.prefix;
  words_["real_now"] = options.real_clock;
  words_["now"] = clock(options.clock, words_["real_now"], table_prefix_ + "clock");
  words_["fence"] = fence(words_["now"]);
  words_["onward"] = onward;
  words_["in_hand"] = in_hand();
  words_["unchanged"] = unchanged();
  for (auto const& file : files) {
    if (file.dialect != options.dialect) continue;
    if (file.room == "migrations") migrations_ = file.text;
    if (file.room != "words") continue;
    for (auto const& word : blocks_of(file)) {
      words_[word.name] = without_end(word.parts.front().second);
    }
  }
  for (auto& [name, found] : statements_of(files, options.dialect)) {
    if (!found.has_text()) continue;
    if (found.holes.empty()) {
      entries_.emplace(name, made(found, {}));
    } else {
      shapes_.emplace(name, std::move(found));
    }
  }
}

entry catalogue::made(block const& block, holes const& placeholders) const {
  entry out;
  std::vector<std::pair<when, std::string>> texts;
  for (auto const& [run_when, text] : block.parts) {
    auto filled = fill(without_end(text), placeholders);
    // The same inputs for every part: values come in one order.
    auto what = rewrite(block.name, filled, style_, block.inputs);
    if (block.inputs.empty() && !what.inputs.empty()) {
      throw error({.kind = error_code::internal},
                  "statement " + block.name + " has parameters and no 'in:' line");
    }
    what.by_index = block.by_index;
    out.parts.push_back({run_when, std::move(what)});
    texts.emplace_back(run_when, std::move(filled));
  }
  if (compounds_ && texts.size() > 1) {
    auto const how = block.outputs.empty() ? answers::count : answers::rows;
    out.together = rewrite(block.name, compound(texts, how), style_, block.inputs);
    bool const all_run = std::all_of(texts.begin(), texts.end(),
                                     [](auto const& part) { return part.first == when::always; });
    if (all_run) {
      out.within = rewrite(block.name, compound_within(texts, how), style_, block.inputs);
    }
  }
  out.outputs = block.outputs;
  return out;
}

block const& catalogue::shape(std::string_view name) const {
  auto const found = shapes_.find(name);
  if (found == shapes_.end()) {
    throw error({.kind = error_code::internal}, "no shape is named " + std::string(name));
  }
  return found->second;
}

entry catalogue::made(std::string_view name, holes const& placeholders) const {
  auto const& from = shape(name);
  for (auto const& hole : from.holes) {
    if (placeholders.contains(hole)) continue;
    throw error({.kind = error_code::internal}, "nothing fills {" + hole + "} of " + from.name);
  }
  try {
    return made(from, placeholders);
  } catch (error const& e) {
    throw error({.kind = error_code::bad_argument}, e.what());
  }
}

std::string catalogue::text_of(std::string_view name, holes const& placeholders) const {
  std::string out;
  for (auto const& [run_when, text] : shape(name).parts) {
    if (!out.empty()) out += "\n";
    out += fill(without_end(text), placeholders);
  }
  return out;
}

std::string catalogue::fill(std::string_view text, holes const& placeholders) const {
  std::string out;
  out.reserve(text.size() * 2);
  while (!text.empty()) {
    auto const open = text.find_first_of("{}");
    out.append(text.substr(0, open));
    if (open == std::string_view::npos) break;
    if (text.substr(open, 2) == "{{" || text.substr(open, 2) == "}}") {
      out.push_back(text[open]);
      text = text.substr(open + 2);
      continue;
    }
    auto const close = text.find('}', open);
    if (text[open] == '}') {
      throw error({.kind = error_code::internal}, "a '}' without '{' in our SQL");
    }
    if (close == std::string_view::npos) {
      throw error({.kind = error_code::internal}, "a '{' without '}' in our SQL");
    }
    auto const word = text.substr(open + 1, close - open - 1);
    auto const given = placeholders.find(word);
    auto const known = words_.find(word);
    if (given != placeholders.end()) {
      out.append(given->second);
    } else {
      out.append(known != words_.end() ? known->second : table_prefix_ + std::string(word));
    }
    text = text.substr(close + 1);
  }
  return out;
}

entry const& catalogue::operator[](std::string_view name) const {
  auto const found = entries_.find(name);
  if (found == entries_.end()) {
    throw error({.kind = error_code::internal}, "no statement is named " + std::string(name));
  }
  return found->second;
}

namespace {

/// Of a compound that answers with a count, unless that is one.
table counted(table const& answer) {
  table out;
  out.affected = 1;
  if (!answer.cells.empty()) decode(answer.cells.front(), out.affected);
  return out;
}

}  // namespace

table gathered(std::span<table> answers) {
  table out;
  for (auto& one : answers) {
    out.affected = one.affected;
    if (one.width > 0) out.width = one.width;
    if (out.cells.empty()) {
      out.cells = std::move(one.cells);
    } else {
      out.cells.insert(out.cells.end(), std::make_move_iterator(one.cells.begin()),
                       std::make_move_iterator(one.cells.end()));
    }
  }
  return out;
}

table run(session& session, entry const& entry, std::initializer_list<value> values) {
  if (entry.within && session.takes_compounds()) {
    auto out = session.run(*entry.within, std::span(values.begin(), values.size()));
    return entry.outputs.empty() ? counted(out) : out;
  }
  std::vector<table> answers;
  answers.reserve(entry.parts.size());
  for (auto const& step : entry.parts) {
    if (step.run == when::if_nothing_happened && answers.back().something()) continue;
    answers.push_back(session.run(step.what, std::span(values.begin(), values.size())));
  }
  return answers.size() == 1 ? std::move(answers.front()) : gathered(answers);
}

void add_calls(std::vector<call>& calls, entry const& entry, std::initializer_list<value> values) {
  auto const waits = [](part const& one) { return one.run == when::if_nothing_happened; };
  if (std::any_of(entry.parts.begin(), entry.parts.end(), waits)) {
    auto const& name = entry.parts.front().what.name;
    throw error({.kind = error_code::internal, .statement = name},
                "statement " + name + " has an 'else', and cannot go together with others");
  }
  for (auto const& one : entry.parts) calls.push_back({&one.what, values, false});
  calls.back().asked = true;
}

bool stands_alone(session const& session, entry const& entry) noexcept {
  // There the database is in this process: no round trip is saved, and a transaction that is begun
  // has waited for its turn before it reads anything.
  if (session.speaks().one_writer) return false;
  return entry.parts.size() == 1 || (entry.together && session.takes_compounds());
}

table run_alone(session& session, entry const& entry, std::initializer_list<value> values) {
  std::span const all(values.begin(), values.size());
  if (entry.parts.size() == 1) return session.run(entry.parts.front().what, all);
  auto out = session.run(entry.together.value(), all);
  return entry.outputs.empty() ? counted(out) : out;
}

}  // namespace db
}  // namespace v1
}  // namespace daybook
