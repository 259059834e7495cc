// The daemon's log, on stderr: one line for each event, as text or as JSON.
// Thread safety: any thread may call. A slow reader slows down who writes.
//
//   journal log(journal::form::text);
//   log.info("started", {{"schedule", "daily-leads"}, {"attempt", 1}});
//   2026-11-21T09:18:25.123Z info started schedule=daily-leads attempt=1
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <mutex>
#include <string_view>

namespace command {

class journal {
 public:
  enum class form { text, json };
  explicit journal(form as) noexcept : form_(as) {}

  /// `fields`: an object of texts and numbers; null is left out of a text.
  void info(std::string_view event, nlohmann::ordered_json const& fields) noexcept;
  void warning(std::string_view event, nlohmann::ordered_json const& fields) noexcept;
  void error(std::string_view event, nlohmann::ordered_json const& fields) noexcept;

 private:
  void write(std::string_view level, std::string_view event,
             nlohmann::ordered_json const& fields) noexcept;

  form form_;
  std::mutex one_line_;
};

}  // namespace command
