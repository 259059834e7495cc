// The input of a route and its answer. The input: the values of path, query and body, checked
// against the table of routes; the caller; the book. Thread safety: a call is one thread's;
// services are for any thread.
#pragma once

#include "api/access.hpp"
#include "config/settings.hpp"
#include "http/message.hpp"

#include <daybook/book.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace command {

/// An aggregation of the file, made in this process.
struct made_aggregation {
  declared_aggregate declared;
  daybook::aggregation made;
};

/// What all routes share. Lifetime: the book must outlive it.
class services {
 public:
  services(daybook::book& book, settings file, std::string book_name, bool read_only,
           access_options options)
      : book_(book),
        file_(std::move(file)),
        book_name_(std::move(book_name)),
        read_only_(read_only),
        access_(book, std::move(options)) {}
  services(services const&) = delete;
  services& operator=(services const&) = delete;

  [[nodiscard]] daybook::book& book() const noexcept { return book_; }
  [[nodiscard]] settings const& file() const noexcept { return file_; }
  [[nodiscard]] std::string const& book_name() const noexcept { return book_name_; }
  [[nodiscard]] bool read_only() const noexcept { return read_only_; }
  [[nodiscard]] command::access& access() noexcept { return access_; }
  /// As the file declares it, made once. On failure: refusal (404: the file has none of that name),
  /// complaint or daybook::error.
  [[nodiscard]] made_aggregation aggregation(std::string const& name);

 private:
  daybook::book& book_;
  settings file_;
  std::string book_name_;
  bool read_only_;
  command::access access_;
  std::mutex guard_;
  std::map<std::string, made_aggregation> aggregations_;
};

struct call {
  services& in;
  http_request const& request;
  std::optional<visitor> who;                             ///< empty: of an open route only
  std::map<std::string, std::string, std::less<>> names;  ///< of the path
  std::map<std::string, std::string, std::less<>> query;
  nlohmann::ordered_json body;

  [[nodiscard]] daybook::book& book() const noexcept { return in.book(); }
  [[nodiscard]] std::string const& name(std::string_view part) const;
  /// Of the query; empty: not given.
  [[nodiscard]] std::string text(std::string_view parameter) const;
  [[nodiscard]] int number(std::string_view parameter, int usual) const;
  /// Of the body; empty: not given.
  [[nodiscard]] std::string field(std::string_view name) const;
  /// An instant, or a length of time before now ("2h"). Empty: not given. On failure: refusal
  /// (400).
  [[nodiscard]] std::optional<daybook::timestamp> since(std::string_view parameter) const;
  /// What a page before called the place where it ended. Empty: not given. On failure: refusal
  /// (400).
  [[nodiscard]] std::string after() const;
  /// Who and why, for the book.
  [[nodiscard]] daybook::audit_note note() const;
  /// Whether the role may see payloads, outputs and values.
  [[nodiscard]] bool sees_payloads() const noexcept;
};

struct reply {
  nlohmann::ordered_json body = nlohmann::ordered_json::object();
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// {"items": [...], "next": ...}
[[nodiscard]] reply list_of(nlohmann::ordered_json items, nlohmann::ordered_json next = nullptr);
/// A place in a list, for `after`; null where the page was not full.
[[nodiscard]] nlohmann::ordered_json next_after(bool is_full, std::string const& place);
/// The answer of an act that said something.
[[nodiscard]] reply told(std::string const& text);
/// On failure always: refusal (404).
[[noreturn]] void missing(std::string const& detail);
/// On failure always: refusal (409).
[[noreturn]] void not_in_that_state(std::string const& detail);
/// Ids, numbers of runs and epochs as texts: they have 64 bits, and JavaScript's numbers 53.
void write_ids_as_texts(nlohmann::ordered_json& body);

}  // namespace command
