-- What the pages need: a transaction that stays open, here, for a cursor without it (`hold`) is
-- nothing behind a pooler. It only reads, and locks no row.
-- name: import.needs
transaction;

-- name: import.open
declare {staged} no scroll cursor {hold} for
select row_number() over (),
  case when pg_catalog.pg_typeof(q.k) = 'pg_catalog.date'::pg_catalog.regtype
    then pg_catalog.to_jsonb(q.k) #>> '{{}}' else q.k::text end,
  ({payload})::text
from ({query}
) as q({columns});

-- name: import.page
fetch forward {count} from {staged};

-- name: import.close
close {staged};
