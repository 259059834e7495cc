// The two systems of the story of the stock, and what people do with them: a shop, whose products
// come and go, and a warehouse, which knows how many there are and answers for one at a time.
// Thread safety: as said at each. Lifetime: what they are given must outlive them.
#pragma once

#include "proof/torture/child.hpp"
#include "support/engines.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace story {

[[nodiscard]] std::int64_t now_us();
[[nodiscard]] std::string code_of(int product);

/// From when to when something was not as it should be.
struct span_us {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// It knows every product that there may ever be.
/// Thread safety: one thread, beside that which counts anew.
class warehouse {
 public:
  warehouse(std::filesystem::path const& folder, int products);

  /// Its server; `flaws`: so many of a thousand requests go wrong, in each way there is.
  void open(int flaws);
  /// Kills the server, and opens it again after so long.
  void away_for(std::chrono::milliseconds length, int flaws);
  void count_anew(bool on);

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string log() const { return (folder_ / "asked.log").string(); }
  [[nodiscard]] std::map<std::string, std::int64_t> quantities() const;
  [[nodiscard]] std::vector<span_us> const& outages() const noexcept { return outages_; }

 private:
  [[nodiscard]] std::string file() const { return (folder_ / "stock.db").string(); }

  std::filesystem::path folder_;
  int products_;
  int port_;
  std::vector<span_us> outages_;
  std::unique_ptr<torture::child> server_;
  std::jthread counting_;
};

/// What people did to a shop's products; of those that nobody touched, each turn must be there.
/// Thread safety: any thread may call.
class changes {
 public:
  void note(std::string const& code, span_us when);
  void note_all(span_us when);
  [[nodiscard]] bool any(std::string const& code, std::int64_t from, std::int64_t to) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<span_us>> of_;
  std::vector<span_us> of_all_;
};

/// Products are of the category that their number says.
/// Thread safety: one thread, beside that of the people.
class shop {
 public:
  shop(support::engine const& on, support::fresh_database const& database, int products,
       unsigned seed);

  /// Makes its tables, and the products that are there from the beginning.
  void open();
  /// Others come; some go, or get another code; a category is given up.
  void trade(bool on);
  /// All products go at once, as engines offer it, and most come again.
  void import_anew();
  /// Some come and some go, all in one statement each.
  void import_some();

  [[nodiscard]] changes const& touched() const noexcept { return touched_; }
  [[nodiscard]] std::string counts() const;

 private:
  void once(support::raw_connection& on);
  void put(support::raw_connection& on, std::string const& rows);
  void insert(support::raw_connection& on, int from, int step);
  [[nodiscard]] support::raw_connection connect() const;
  int up_to(int most);

  support::engine const* on_;
  std::string url_;
  int products_;
  std::minstd_rand dice_;
  changes touched_;
  std::mutex categories_;
  mutable std::mutex mutex_;
  std::map<std::string, int> counts_;
  std::jthread people_;
};

}  // namespace story
