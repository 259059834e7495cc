-- What becomes of a connection whose statement was interrupted: an interrupt is over when it is
-- sent.
-- name: import.interrupted
keep;

-- name: import.open
drop table if exists temp.{staged};
-- then
create temporary table {staged} as with q({columns}) as ({query}
) select cast(q.k as text) as k, cast({payload} as text) as p from q;

-- name: import.page
select rowid, k, p from temp.{staged} where rowid > :after order by rowid limit {count};

-- name: import.close
drop table if exists temp.{staged};
