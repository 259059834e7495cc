// complains: has five fields, or six
#include <daybook/daybook.hpp>
void every(daybook::cron);
void job() { every("0 3 * *"); }
