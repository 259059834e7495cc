// The story that queues come from: a shop shows how many there are of each product, and the system
// that knows answers for one product at a time. Here it is slow, wrong, and away for longer than a
// period; products come and go in every way that a database has; two nodes of the library and two
// daemons keep the shop up to date, and are killed and stopped; the database dies. At the end
// each product was asked for at each of its turns, and both sides agree.
//   story_stock --engine postgresql [--products 500] [--period 10] [--seconds 20] [--seed 1]
#include "proof/stories/stock_checks.hpp"
#include "proof/stories/stock_sides.hpp"
#include "proof/stories/stock_workers.hpp"
#include "support/engines.hpp"
#include "support/server.hpp"

#include <daybook/daybook.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace story {
namespace {

namespace fs = std::filesystem;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using clock = std::chrono::steady_clock;

constexpr int flaws = 20;  // of a thousand requests, of each kind
constexpr auto patience = 120s;
constexpr int slowest = 200;  // turns a second that all workers manage together

struct settings {
  std::string engine = "sqlite";
  int products = 500;
  std::chrono::seconds period{10};
  std::chrono::seconds length{20};
  unsigned seed = 1;
};

class tale {
 public:
  tale(support::engine const& on, settings how, support::private_server const* server)
      : on_(on),
        how_(std::move(how)),
        server_(server),
        folder_(fs::temp_directory_path() / ("daybook_stock_" + std::to_string(::getpid()))),
        database_(on_),
        warehouse_(folder_, 2 * how_.products),
        shop_(on_, database_, how_.products, how_.seed),
        workers_({.period = how_.period}, database_.url(), warehouse_.url(), folder_, how_.seed) {}
  ~tale() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  bool tell() {
    open();
    trouble();
    auto const peace = calm();
    workers_.end();
    return judge(peace);
  }

 private:
  void open() {
    warehouse_.open(flaws);
    shop_.open();
    run({SYNC_STOCK, database_.url(), "follow", std::to_string(how_.period.count())});
    workers_.start();
    std::this_thread::sleep_for(how_.period);
    warehouse_.count_anew(true);
    shop_.trade(true);
  }

  static void run(std::vector<std::string> const& words) {
    torture::child one(words);
    auto const change = one.wait(patience);
    if (change.what == torture::child::state::exited && change.code == 0) return;
    throw std::runtime_error(words[0] + " " + change.text() + ": " + one.words());
  }

  /// Workers are hurt all the time; and each of these happens once, one after the other.
  void trouble() {
    std::vector<std::function<void()>> const once{
        [&] { warehouse_.away_for(300ms, flaws); },
        [&] { warehouse_.away_for(how_.period + 1s, flaws); },
        [&] { workers_.kill_all(); },
        [&] { shop_.import_anew(); },
        [&] { restart_the_database(); },
        [&] { behind_the_triggers(); },  // last: what it leaves behind nobody else mends
    };
    auto const begin = clock::now();
    for (std::size_t at = 0; at < once.size(); ++at) {
      auto const until = begin + how_.length * (at + 1) / (once.size() + 1);
      do {
        workers_.trouble();
        workers_.check();
        std::this_thread::sleep_for(200ms);
      } while (clock::now() < until);
      once[at]();
    }
  }

  /// As a nightly import does that wants to be fast.
  void behind_the_triggers() {
    daybook::book book(database_.url());
    auto products = book.queue("stock").value().followed().value();
    products.uninstall();
    shop_.import_some();
    products.install();
  }

  /// Who was started a moment ago may not have come to the database yet; where there is none it
  /// ends, as it should.
  void until_all_work() {
    daybook::book book(database_.url());
    for (auto const until = clock::now() + patience;; std::this_thread::sleep_for(50ms)) {
      auto missing = workers_.processes();
      book.transact([&](daybook::transaction& tx) {
        for (auto const id : tx.rows<std::int64_t>("select pid from daybook_holder")) {
          missing.erase(id);
        }
      });
      if (missing.empty()) return;
      if (clock::now() > until) throw std::runtime_error("some do not come to work");
    }
  }

  void restart_the_database() {
    if (server_ == nullptr) return;
    until_all_work();
    span_us away{now_us(), 0};
    ::kill(server_->process(), SIGKILL);
    std::this_thread::sleep_for(500ms);
    server_->restart();
    away.to = now_us() + std::chrono::microseconds(2 * lease).count();
    outages_.push_back(away);
    ++restarts_;
  }

  /// Nobody hurts anybody, and people do nothing; until each product was asked for since then.
  std::int64_t calm() {
    shop_.trade(false);
    warehouse_.count_anew(false);
    warehouse_.away_for(0ms, 0);
    auto const peace = now_us();
    daybook::book book(database_.url());
    auto const queue = book.queue("stock").value();
    auto const products = queue.followed().value();
    auto const until = clock::now() + patience + 2 * how_.period;
    while (!all_asked(book, peace) || !reconciled_since(products, peace) ||
           queue.counts().quarantined > 0) {
      if (clock::now() > until) {
        std::printf("not all were asked for in time\n");
        break;
      }
      workers_.check();
      std::this_thread::sleep_for(500ms);
    }
    return peace;
  }

  static bool reconciled_since(daybook::table_sync const& products, std::int64_t instant) {
    auto const last = products.info().reconciled;
    return last && last->time_since_epoch().count() > instant;
  }

  static bool all_asked(daybook::book& book, std::int64_t since) {
    bool all = false;
    book.transact([&](daybook::transaction& tx) {
      all = tx.rows<std::int64_t>(
                  "select count(*) from product where asked_us is null or asked_us < :since", since)
                .at(0) == 0;
    });
    return all;
  }

  bool judge(std::int64_t peace) {
    daybook::book book(database_.url());
    auto const all = read_log(warehouse_.log());
    auto outages = warehouse_.outages();
    outages.insert(outages.end(), outages_.begin(), outages_.end());
    auto const turns =
        check_turns(all, shop_.touched(),
                    {.period = how_.period,
                     .grain = std::max(1s, std::chrono::seconds(how_.period.count() / 16 + 1)),
                     .retries = 60s,
                     .backlog = std::chrono::seconds(how_.products / slowest),
                     .outages = outages,
                     .claims = claim_ends_in(book)});
    auto const stands = compare(book, all, warehouse_.quantities());
    bool const calm = all_asked(book, peace);
    auto const bound = static_cast<long>(workers_.hurt() + 4 * restarts_ +
                                         static_cast<int>(warehouse_.outages().size())) *
                       most_in_hand;
    tell_of(turns, bound);
    tell_of(stands, calm);
    for (auto const& [code, wrongs] : turns.examples) tell_of(book, code, wrongs);
    for (auto const& code : stands.written_twice) tell_of(book, code, {"was written twice"});
    auto const violations =
        turns.early + turns.off_beat + turns.left_out + stands.unasked +
        std::ssize(stands.written_twice) +
        (calm ? stands.without_member + stands.without_product + stands.disagreeing : 0);
    std::printf("violations %ld / %ld answers\n", violations, turns.answers);
    // What else is wrong may be the machine's. A kind of workers that cannot begin is another
    // story.
    auto const least = (stands.by_nodes + stands.by_daemons) / 20;
    return violations == 0 && calm && turns.late + stands.dead == 0 && turns.repeats <= bound &&
           std::min(stands.by_nodes, stands.by_daemons) > least && turns.judged > 0 &&
           stands.products > 0;
  }

  void tell_of(findings const& turns, long bound) const {
    std::printf(
        "%-11s seed %u, %s; products: %s; the stock system away %zu times, the database %d\n",
        on_.name.c_str(), how_.seed, workers_.counts().c_str(), shop_.counts().c_str(),
        warehouse_.outages().size(), restarts_);
    std::printf(
        "            %ld answers, %ld repeated after a crash (bound %ld); %ld pairs of turns "
        "judged, %ld turns passed over, worst gap %.1f s; %ld early, %ld off beat, %ld left out, "
        "%ld late\n",
        turns.answers, turns.repeats, bound, turns.judged, turns.passed_over, turns.worst_gap,
        turns.early, turns.off_beat, turns.left_out, turns.late);
  }

  static void tell_of(standing const& stands, bool calm) {
    std::printf(
        "            %ld products: %ld without a member, %ld members without a product, %ld "
        "disagree, %zu written twice, %ld written unasked, %ld not at rest%s; %ld turns by nodes, "
        "%ld by daemons\n",
        stands.products, stands.without_member, stands.without_product, stands.disagreeing,
        stands.written_twice.size(), stands.unasked, stands.dead, calm ? "" : ", not all asked",
        stands.by_nodes, stands.by_daemons);
  }

  static void tell_of(daybook::book& book, std::string const& code,
                      std::vector<std::string> const& wrongs) {
    for (auto const& one : wrongs) std::printf("            %s %s\n", code.c_str(), one.c_str());
    for (auto const& one : history_of(book, code)) std::printf("              %s\n", one.c_str());
  }

  support::engine on_;
  settings how_;
  support::private_server const* server_;
  fs::path folder_;
  support::fresh_database database_;
  warehouse warehouse_;
  shop shop_;
  workforce workers_;
  std::vector<span_us> outages_;
  int restarts_ = 0;
};

int tell(support::engine const& on, settings const& how) {
  std::optional<support::private_server> own;
  if (on.name != "sqlite") {
    own.emplace(on);  // it dies in the story
    own->use_for_tests();
  }
  return tale(on, how, own ? &*own : nullptr).tell() ? 0 : 1;
}

settings read_arguments(std::vector<std::string> const& words) {
  settings out;
  for (std::size_t at = 0; at + 1 < words.size(); at += 2) {
    auto const& value = words[at + 1];
    if (words[at] == "--engine") out.engine = value;
    if (words[at] == "--products") out.products = std::stoi(value);
    if (words[at] == "--period") out.period = std::chrono::seconds(std::stoi(value));
    if (words[at] == "--seconds") out.length = std::chrono::seconds(std::stoi(value));
    if (words[at] == "--seed") out.seed = static_cast<unsigned>(std::stoul(value));
  }
  return out;
}

}  // namespace
}  // namespace story

int main(int count, char** words) try {
  auto const how = story::read_arguments({words + 1, words + count});
  for (auto const& on : support::engines()) {
    if (on.name == how.engine) return story::tell(on, how);
  }
  throw std::runtime_error("no engine is named " + how.engine);
} catch (std::exception const& e) {
  std::fprintf(stderr, "story_stock: %s\n", e.what());
  return 1;
}
