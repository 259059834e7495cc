// complains: there is no such day in any year
#include <daybook/daybook.hpp>
void every(daybook::cron);
void job() { every("0 0 30 2 *"); }
