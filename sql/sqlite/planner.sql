-- Rows go in as a JSON array of arrays.

-- A cross join is in the order that it is written in: else all keys of the planner are read for
-- each page.
-- name: planned.of
select p.planned_key, p.launches, p.first_us, p.last_us
from daybook_rows(:keys) as k
  cross join {planned} p on p.planner = :planner and p.planned_key = k.c0;

-- name: planned.launch
insert into {planned} as p (launches, first_us, last_us, refusals, first_refused_us, last_refused_us,
  planner, standing, planned_key, reason)
select 1, clock.us, clock.us, 0, null, null, :planner, 1, k.c0, ''
from daybook_rows(:keys) as k, (select {now} as us) as clock where true
on conflict (planner, planned_key) do update set launches = p.launches + 1,
  first_us = coalesce(p.first_us, excluded.first_us), last_us = excluded.last_us, standing = 1;

-- name: planned.refuse
insert into {planned} as p (launches, first_us, last_us, refusals, first_refused_us, last_refused_us,
  planner, standing, planned_key, reason)
select 0, null, null, 1, clock.us, clock.us, :planner, 2, k.c0, k.c1
from daybook_rows(:keys) as k, (select {now} as us) as clock where true
on conflict (planner, planned_key) do update set refusals = p.refusals + 1,
  first_refused_us = coalesce(p.first_refused_us, excluded.first_refused_us),
  last_refused_us = excluded.last_refused_us, standing = 2, reason = excluded.reason;

-- name: planned.new_rows
with q({columns}) as ({query}
) select {columns} from q
where not exists (select 1 from {planned} p
  where p.planner = {planner} and p.planned_key = cast(q.k as text) and p.launches > 0);

-- name: planned.explain
explain query plan {query};
