-- The rows of a query of the application's, page by page. It stands where only a query can.

-- How many columns it has.
-- name: import.probe
-- holes: query
select q.* from ({query}
) as q limit 0;

-- What the pages need: the session's table, and no transaction.
-- name: import.needs
-- holes: staged
session;

-- What becomes of a connection whose statement was interrupted: an interrupt that is still on its way
-- would end whatever is next.
-- name: import.interrupted
-- holes: none
cut;

-- name: import.open
-- holes: staged, query, columns, payload, hold
drop temporary table if exists {staged};
-- then
create temporary table {staged} (
  n bigint not null auto_increment primary key, k longblob, p longblob) engine = InnoDB
as with q({columns}) as ({query}
) select cast(q.k as char character set utf8mb4) as k, {payload} as p from q;

-- name: import.page
-- in: after
-- out: n, key, payload
-- holes: staged, count
select n, k, p from {staged} where n > :after order by n limit {count};

-- name: import.close
-- holes: staged
drop temporary table if exists {staged};
