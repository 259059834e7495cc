// complains: more arguments are given than the statement names parameters
// errors: 1
#include <daybook/daybook.hpp>

bool job(daybook::transaction& tx) {
  return tx.rows<std::int64_t>("select a from t where b = :b or c = :b -- not :c", 1, 2).empty();
}
