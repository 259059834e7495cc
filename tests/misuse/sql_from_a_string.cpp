// complains: constant expression|not a constant
#include <daybook/daybook.hpp>

#include <string>
void job(daybook::transaction& tx, std::string const& table) { tx.exec(table.c_str()); }
