-- Rows go in as a JSON array of arrays.

-- One by one: else a planner who knows of few rows reads all keys for each page, and goes on so
-- while they become many.
-- name: planned.of
select p.planned_key, p.launches, p.first_us, p.last_us
from json_array_elements(:keys::json) as k cross join lateral (
  select planned_key, launches, first_us, last_us from {planned}
  where planner = :planner and planned_key = k->>0 limit 1) as p;

-- name: planned.launch
insert into {planned} as p (launches, first_us, last_us, refusals, first_refused_us, last_refused_us,
  planner, standing, planned_key, reason)
select 1, clock.us, clock.us, 0, null, null, :planner, 1, k->>0, ''
from json_array_elements(:keys::json) as k, (select {now} as us) as clock
on conflict (planner, planned_key) do update set launches = p.launches + 1,
  first_us = coalesce(p.first_us, excluded.first_us), last_us = excluded.last_us, standing = 1;

-- name: planned.refuse
insert into {planned} as p (launches, first_us, last_us, refusals, first_refused_us, last_refused_us,
  planner, standing, planned_key, reason)
select 0, null, null, 1, clock.us, clock.us, :planner, 2, k->>0, k->>1
from json_array_elements(:keys::json) as k, (select {now} as us) as clock
on conflict (planner, planned_key) do update set refusals = p.refusals + 1,
  first_refused_us = coalesce(p.first_refused_us, excluded.first_refused_us),
  last_refused_us = excluded.last_refused_us, standing = 2, reason = excluded.reason;

-- name: planned.new_rows
select {columns} from ({query}
) as q({columns})
where not exists (select 1 from {planned} p
  where p.planner = {planner} and p.planned_key = q.k::text and p.launches > 0);
