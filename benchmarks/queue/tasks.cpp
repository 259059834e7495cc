#include "benchmarks/queue/tasks.hpp"

#include <charconv>
#include <cstdio>
#include <stdexcept>

namespace bench {

namespace {

constexpr std::string_view before = "{\"task\":1";  // the digit keeps JSON from leading zeros
constexpr std::string_view after =
    ",\"to\":\"Unter den Linden 77, 10117 Berlin\",\"kind\":\"invoice\",\"n\":4}";

std::string digits(long id) {
  char text[16];
  std::snprintf(text, sizeof text, "%010ld", id);
  return text;
}

}  // namespace

std::string key_of(long id) { return "invoice/" + digits(id); }

std::string payload_of(long id) { return std::string(before) + digits(id) + std::string(after); }

std::string sql_key(std::string_view dialect) {
  if (dialect == "sqlite") return "'invoice/'||printf('%010d', i)";
  if (dialect == "mariadb") return "concat('invoice/', lpad(i, 10, '0'))";
  return "'invoice/'||lpad(i::text, 10, '0')";
}

std::string sql_payload(std::string_view dialect) {
  auto const head = "'" + std::string(before) + "'";
  auto const tail = "'" + std::string(after) + "'";
  if (dialect == "sqlite") return head + "||printf('%010d', i)||" + tail;
  if (dialect == "mariadb") return "concat(" + head + ", lpad(i, 10, '0'), " + tail + ")";
  return head + "||lpad(i::text, 10, '0')||" + tail;
}

tally::tally(long highest)
    : highest_(highest), seen_(new std::atomic<bool>[static_cast<std::size_t>(highest) + 1]()) {}

void tally::see(long id, std::string_view payload) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (char const one : payload) {
    hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3U;
  }
  sum_.fetch_add(hash, std::memory_order_relaxed);
  long number = 0;
  if (payload.size() > before.size() + 10) {
    std::from_chars(payload.data() + before.size(), payload.data() + before.size() + 10, number);
  }
  if (number != id || id < 1 || id > highest_) {
    throw std::runtime_error("task " + std::to_string(id) + " came with another's payload");
  }
  if (seen_[static_cast<std::size_t>(id)].exchange(true, std::memory_order_relaxed)) {
    throw std::runtime_error("task " + std::to_string(id) + " was given twice");
  }
}

}  // namespace bench
