// complains: discards qualifiers|as .this. argument|rvalue
#include <daybook/daybook.hpp>

void job(daybook::book& book) {
  auto coming = book.start_async(daybook::process{"p"});
  auto attempt = coming.get();
}
