// complains: a row is std::int64_t, double, bool or std::string
// errors: 1
#include <daybook/daybook.hpp>

int job(daybook::transaction& tx) { return tx.rows<int>("select count(*) from t").front(); }
