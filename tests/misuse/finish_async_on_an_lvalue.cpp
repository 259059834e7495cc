// complains: discards qualifiers|as .this. argument|rvalue
#include <daybook/daybook.hpp>

bool job(daybook::run& run) { return static_cast<bool>(run.finish_async().get()); }
