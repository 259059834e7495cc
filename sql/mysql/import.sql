-- name: import.open
drop temporary table if exists {staged};
-- then
create temporary table {staged} (
  n bigint not null auto_increment primary key, k longblob, p longblob) engine = InnoDB
as with q({columns}) as ({query}
) select cast(q.k as char character set utf8mb4) as k, {payload} as p from q;

-- name: import.page
select n, k, p from {staged} where n > :after order by n limit {count};

-- name: import.close
drop temporary table if exists {staged};
