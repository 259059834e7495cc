// complains: the statement names more parameters than arguments are given
// errors: 1
#include <daybook/daybook.hpp>

void job(daybook::transaction& tx) { tx.exec("insert into t(a, b) values (:a, :b)", 1); }
