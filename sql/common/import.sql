-- The rows of a query of the application's, page by page. It stands where only a query can.

-- How many columns it has.
-- name: import.probe
-- holes: query
select q.* from ({query}
) as q limit 0;

-- What the pages need: the connection's own table, and no transaction.
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

-- name: import.page
-- in: after
-- out: n, key, payload
-- holes: staged, count

-- name: import.close
-- holes: staged
