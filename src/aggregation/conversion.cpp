#include "aggregation/conversion.hpp"

#include "core/tx/transact.hpp"

namespace daybook {
inline namespace v1 {
namespace aggregations {

namespace {}  // namespace

conversion conversion_to(core::context const& context, tables::table const& table,
                         tables::column const& column) {
  conversion out;
  if (column.what != tables::kind::text) return out;
  core::read(context, [&](db::session& session) {
    auto const found = db::run(session, context.sql["aggregation.conversion"],
                               {table.schema, table.name, column.name});
    if (found.size() == 0) return;
    decode(found.row(0)[0], out.given);
    decode(found.row(0)[1], out.before);
    decode(found.row(0)[2], out.after);
  });
  return out;
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
