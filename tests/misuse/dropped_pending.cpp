// complains: unused-result|nodiscard
#include <daybook/daybook.hpp>

void job(daybook::book& book) { book.start_async(daybook::process{"p"}); }
