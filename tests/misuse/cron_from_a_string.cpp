// complains: constant expression|not a constant
#include <daybook/daybook.hpp>

#include <string>
void job(std::string const& from_a_file) { static_cast<void>(daybook::cron(from_a_file.c_str())); }
