// complains: unused-result|nodiscard
#include <daybook/daybook.hpp>

void job(daybook::book& book) { book.start(daybook::process{"p"}); }
