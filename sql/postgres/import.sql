-- The rows of a query of the application's, page by page. It stands where only a query can.

-- How many columns it has.
-- name: import.probe
-- holes: query
select q.* from ({query}
) as q limit 0;

-- What the pages need: a transaction that stays open, here, for a cursor without it (`hold`) is
-- nothing behind a pooler. It only reads, and locks no row.
-- name: import.needs
-- holes: staged
transaction;

-- What becomes of a connection whose statement was interrupted: an interrupt that is still on its way
-- would end whatever is next.
-- name: import.interrupted
-- holes: none
cut;

-- name: import.open
-- holes: staged, query, columns, payload, hold
declare {staged} no scroll cursor {hold} for
select row_number() over (),
  case when pg_catalog.pg_typeof(q.k) = 'pg_catalog.date'::pg_catalog.regtype
    then pg_catalog.to_jsonb(q.k) #>> '{{}}' else q.k::text end,
  ({payload})::text
from ({query}
) as q({columns});

-- name: import.page
-- in: after
-- out: n, key, payload
-- holes: staged, count
fetch forward {count} from {staged};

-- name: import.close
-- holes: staged
close {staged};
