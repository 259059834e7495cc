// A worker for the tests of `daybook tasks`: claims what is due in a queue until nothing is, and
// ends all of it in one way.
//
//   worker QUEUE success|failure|unknown|hold [REMARK]
//
// The book: $DAYBOOK_DATABASE_URL and $DAYBOOK_PREFIX. Prints the keys. `hold` claims once, says
// so, and hands back at the end of stdin.
#include <daybook/book.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

daybook::result ended(std::string const& how, std::string remark) {
  if (how == "failure") return daybook::result::failure(std::move(remark));
  if (how == "unknown") return daybook::result::unknown(std::move(remark));
  return daybook::result::success(std::move(remark));
}

void work(std::string const& queue, std::string const& how, std::string const& remark) {
  daybook::book_options options;
  options.prefix = std::getenv("DAYBOOK_PREFIX");
  daybook::book book(std::getenv("DAYBOOK_DATABASE_URL"), options);
  auto of = book.queue(queue).value();
  while (auto batch = of.claim()) {
    for (auto const& one : batch->tasks()) {
      std::cout << one.key << std::endl;
      if (how != "hold") batch->finish(one, ended(how, remark));
    }
    if (how == "hold") {
      std::cout << "held" << std::endl;
      std::cin.get();
    }
    if (std::move(*batch).complete() != daybook::outcome::done) throw std::runtime_error("lost");
    if (how == "hold") return;
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    work(words[1], words[2], count > 3 ? words[3] : "");
    return 0;
  } catch (std::exception const& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
