// Puts tasks into a queue and looks at them, for the tests of the daemon.
//
//   queue_tool import QUEUE      from stdin: a key on each line, or a key, a tab and a payload
//   queue_tool show QUEUE KEY    STATE FAILURES CRASHES REMARK
//   queue_tool counts QUEUE      of done, dead, unknown, in hand, due, suspects
#include <daybook/book.hpp>
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
            << all.running << " in hand, " << all.due << " due, " << all.suspect << " suspects\n";
}

}  // namespace

int main(int count, char** argv) {
  try {
    std::string const verb = count > 2 ? argv[1] : "";
    if (verb != "import" && verb != "counts" && (verb != "show" || count < 4)) {
      std::cerr << "queue_tool import QUEUE | show QUEUE KEY | counts QUEUE\n";
      return 64;
    }
    daybook::book_options options;
    options.prefix = variable("DAYBOOK_PREFIX");
    daybook::book book(variable("DAYBOOK_DATABASE_URL"), options);
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
