// complains: constraints|no matching function
#include <daybook/daybook.hpp>

#include <vector>
void job(daybook::transaction& tx) { tx.exec("insert into t values (:v)", std::vector<int>{1}); }
