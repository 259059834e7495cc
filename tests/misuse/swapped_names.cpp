// complains: could not convert|no matching|cannot convert|could not bind|no viable conversion
#include <daybook/daybook.hpp>

void job(daybook::book& book) {
  static_cast<void>(book.start(daybook::key{"k"}, daybook::process{"p"}));
}
