// complains: unused-result|nodiscard
#include <daybook/daybook.hpp>

void job(daybook::run run) { std::move(run).finish(); }
