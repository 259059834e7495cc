-- The rows of a query of the application's, page by page. It stands where only a query can.

-- How many columns it has.
-- name: import.probe
-- holes: query
select q.* from ({query}
) as q limit 0;

-- What the pages need: the connection's table, and no transaction.
-- name: import.needs
-- holes: staged
session;

-- What becomes of a connection whose statement was interrupted: an interrupt is over when it is sent.
-- name: import.interrupted
-- holes: none
keep;

-- name: import.open
-- holes: staged, query, columns, payload, hold
drop table if exists temp.{staged};
-- then
create temporary table {staged} as with q({columns}) as ({query}
) select cast(q.k as text) as k, cast({payload} as text) as p from q;

-- name: import.page
-- in: after
-- out: n, key, payload
-- holes: staged, count
select rowid, k, p from temp.{staged} where rowid > :after order by rowid limit {count};

-- name: import.close
-- holes: staged
drop table if exists temp.{staged};
