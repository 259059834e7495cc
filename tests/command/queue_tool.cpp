// Puts tasks into a queue and looks at them, for the tests of the daemon.
//
//   queue_tool import QUEUE      from stdin: a key on each line, or a key, a tab and a payload
//   queue_tool show QUEUE KEY    STATE FAILURES CRASHES REMARK
//   queue_tool counts QUEUE      of done, dead, unknown, in hand, due, suspects
//   queue_tool take QUEUE        by the intake "in", from a log "t": an id, a tab and a body on
//   each
//                                line. "TAKEN REFUSED STATE"; what was taken before is not in the
//                                log
#include <daybook/book.hpp>
#include <daybook/intake.hpp>
#include <daybook/memory_broker.hpp>
#include <daybook/queue.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

namespace {

std::string variable(char const* name) {
  char const* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

void import(daybook::queue& into) {
  into.import([]() -> std::optional<daybook::entry> {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    auto const tab = line.find('\t');
    if (tab == std::string::npos) return daybook::entry{daybook::key(line)};
    return daybook::entry{daybook::key(line.substr(0, tab)), line.substr(tab + 1)};
  });
}

void take(daybook::book& book, std::string const& queue) {
  book.make_queue(queue, {});
  auto intake = book.make_intake("in", {.into = queue, .gather = std::chrono::milliseconds{0}});
  daybook::testing::memory_broker broker;
  auto const places = intake.info().places;
  for (std::int64_t i = 0; !places.empty() && i < places[0].next; ++i) broker.append("t", {});
  if (!places.empty()) broker.compact("t", 0, places[0].next - 1);
  for (std::string line; std::getline(std::cin, line);) {
    auto const tab = line.find('\t');
    broker.append("t", {.id = line.substr(0, tab), .key = {}, .body = line.substr(tab + 1)});
  }
  auto const report = intake.take_from(*broker.log("t")());
  std::cout << report.taken << ' ' << report.refused << ' ' << static_cast<int>(report.state)
            << '\n';
}

void show(daybook::queue const& of, std::string const& key) {
  auto const found = of.find(daybook::key(key));
  if (!found) {
    std::cout << "none\n";
    return;
  }
  std::cout << word_of(found->state) << ' ' << found->attempts << ' ' << found->crashes << ' '
            << found->remark << '\n';
}

void counts(daybook::queue const& of) {
  auto const all = of.counts();
  std::cout << all.succeeded << " done, " << all.dead << " dead, " << all.unknown << " unknown, "
            << all.running << " in hand, " << all.due << " due, " << all.quarantined
            << " suspects\n";
}

}  // namespace

int main(int count, char** argv) {
  try {
    std::string const verb = count > 2 ? argv[1] : "";
    if (verb != "import" && verb != "counts" && verb != "take" && (verb != "show" || count < 4)) {
      std::cerr << "queue_tool import QUEUE | show QUEUE KEY | counts QUEUE | take QUEUE\n";
      return 64;
    }
    daybook::book_options options;
    options.prefix = variable("DAYBOOK_PREFIX");
    daybook::book book(variable("DAYBOOK_DATABASE_URL"), options);
    if (verb == "take") {
      take(book, argv[2]);
      return 0;
    }
    auto found = book.queue(argv[2]);
    auto queue = found ? *found : book.make_queue(argv[2]);
    if (verb == "import") {
      import(queue);
    } else if (verb == "show") {
      show(queue, argv[3]);
    } else {
      counts(queue);
    }
  } catch (std::exception const& e) {
    std::cerr << "queue_tool: " << e.what() << '\n';
    return 70;
  }
}
