// complains: is not in its field's range
#include <daybook/daybook.hpp>
constexpr daybook::cron nightly("0 25 * * *");
