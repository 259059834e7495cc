// complains: use of deleted function|implicitly-deleted
#include <daybook/daybook.hpp>

daybook::run job(daybook::run const& run) { return run; }
