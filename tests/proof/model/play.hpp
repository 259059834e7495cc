// Random operations on a queue of two books and on the naive model, side by side.
// Thread safety: one thread.
#pragma once

#include "naive.hpp"
#include "tables.hpp"

#include "support/engines.hpp"

#include <daybook/daybook.hpp>
#include <daybook/testing.hpp>

#include <array>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace model {

enum class verb : std::uint8_t {
  add,
  import,
  remove,
  claim,
  suspect,
  finish,
  perform,
  join,
  flush,
  complete,
  complete_and_claim,
  drop,
  crash,
  ask,
  pause,
  round,
  forward,
  change,
  upkeep,
};
inline constexpr int verbs = 19;

/// One operation; what its numbers mean depends on how things stand.
struct op {
  verb what{};
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t cut = 0;  ///< below `first_cut`: nothing goes wrong
};
inline constexpr std::uint32_t first_cut = 18;
inline constexpr std::uint32_t cuts = 24;
std::ostream& operator<<(std::ostream& to, op const& what);

/// The library and the model do not agree.
class disagreement : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A database with two books in it, whose clock stands still but for what moves it.
class stage {
 public:
  explicit stage(support::engine const& on);

  support::fresh_database database;
  std::array<daybook::book, 2> books;
  support::raw_connection application;  ///< for transactions of its own
  daybook::testing::manual_clock clock;
  tables seen;
  us now = 0;
  int plays = 0;

  void forward(us by);
};

/// One queue's life. On failure: throws disagreement, with what was done last.
class play {
 public:
  play(stage& on, std::uint32_t options, int check_every);

  void act(op const& what);
  /// All claims end, and everything is compared.
  void finish();

 private:
  using options = daybook::queue_options;
  /// The queue in one process's eyes.
  struct handle {
    daybook::queue queue;
    options by;  ///< as it knows them

    void hear() { by = queue.options(); }
  };
  struct hand {
    int number = 0;
    std::size_t book = 0;
    std::shared_ptr<handle> from;
    daybook::claim claim;
    std::set<std::int64_t> finished = {};
    bool unwritten = false;  ///< something is finished in memory only
  };

  void add(op const& what);
  void import(op const& what);
  void remove(op const& what);
  void claim(op const& what, bool suspects);
  void finish_some(op const& what);
  static std::optional<verdict> chosen_end(std::uint32_t mode, std::uint64_t dice);
  void perform(op const& what);
  void join(op const& what);
  [[nodiscard]] bool finish_in(hand& in, std::vector<daybook::task const*> const& tasks,
                               bool commits);
  void flush(op const& what);
  void complete(op const& what, bool and_claim);
  void drop(op const& what);
  void crash(op const& what);
  void ask(op const& what);
  void pause(op const& what);
  void open_round(op const& what);
  void forward(op const& what);
  void change(op const& what);
  void upkeep(op const& what);

  [[nodiscard]] static options options_of(std::uint32_t from);
  /// `known`: the queue's options in the eyes of whoever has claimed.
  void claimed(std::size_t book, std::shared_ptr<handle> const& from, options const& known,
               daybook::claim batch, int limit, bool suspects);
  void nothing_claimed(options const& before, options const& after, bool suspects);
  [[nodiscard]] static bool same_limits(options const& a, options const& b);
  void keeps_limits(options const& known, daybook::claim const& batch);
  /// The connection is cut at a transaction of this operation's, before or after its COMMIT.
  static void arm(op const& what);
  [[nodiscard]] bool renew(std::size_t book);
  void compare(std::uint32_t sample);
  void compare_one(std::uint32_t sample);
  void note(hand& in, daybook::task const& one, verdict const& how);
  [[nodiscard]] hand* a_hand(std::uint32_t from);
  /// Out of our hands; it is the caller's to end.
  hand let_go(hand const* of);
  static void must(bool holds, std::string const& what);

  stage& on_;
  std::string name_;
  options newest_;
  /// Its connections are cut. Then its options stay, as those with a limit do: who was cut, or
  /// found holes only, may know of a change without having told the model.
  bool is_cut_;
  bool cut_ = false;                              ///< in this operation
  std::vector<std::shared_ptr<handle>> handles_;  ///< one for each book
  std::int64_t queue_ = 0;
  naive model_;
  std::vector<hand> hands_;
  int numbers_ = 0;
  us next_start_ = 0;  ///< by the rates so far
  int check_every_ = 1;
  int acts_ = 0;
};

}  // namespace model
