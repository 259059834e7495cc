// complains: a row is std::int64_t, double, bool or std::string
// errors: 1
#include <daybook/daybook.hpp>

bool job(daybook::transaction& tx) {
  using row = std::tuple<std::int64_t, std::string_view>;
  return tx.rows<row>("select id, name from t").empty();
}
