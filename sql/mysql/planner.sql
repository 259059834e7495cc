-- Rows go in as a JSON array of arrays; a text says its character set, for that of the database may
-- be another.

-- name: planner.make
insert ignore into {planner} (
  created_us, next_us, passes, launched, paused, error, name, every_us, timeout_us, since_us,
  again_us, few, queue, page, most, unit_count, strategy, rule, priority, unit, newest_first,
  in_memory, source, key_columns, created_column, check_sql)
values ({now}, {now}, 0, 0, 0, '', :name, :every_us, :timeout_us, :since_us, :again_us, :few, :queue,
  :page, :most, :unit_count, :strategy, :rule, :priority, :unit, :newest_first, :in_memory,
  :source, :key_columns, :created_column, :check_sql);

-- name: planned.of
select p.planned_key, p.launches, p.first_us, p.last_us
from json_table(:keys, '$[*]' columns (k varchar(255) character set utf8mb4 path '$[0]')) as j
  straight_join {planned} p on p.planner = :planner and p.planned_key = cast(j.k as binary);

-- name: planned.launch
insert into {planned} (launches, first_us, last_us, refusals, first_refused_us, last_refused_us,
  planner, standing, planned_key, reason)
select 1, clock.us, clock.us, 0, null, null, :planner, 1, cast(j.k as binary), ''
from json_table(:keys, '$[*]' columns (k varchar(255) character set utf8mb4 path '$[0]')) as j,
  (select {now} as us) as clock
on duplicate key update launches = launches + 1, first_us = coalesce(first_us, clock.us),
  last_us = clock.us, standing = 1;

-- name: planned.refuse
insert into {planned} (launches, first_us, last_us, refusals, first_refused_us, last_refused_us,
  planner, standing, planned_key, reason)
select 0, null, null, 1, clock.us, clock.us, :planner, 2, cast(j.k as binary), j.why
from json_table(:keys, '$[*]' columns (k varchar(255) character set utf8mb4 path '$[0]',
    why varchar(500) character set utf8mb4 path '$[1]')) as j,
  (select {now} as us) as clock
on duplicate key update refusals = refusals + 1,
  first_refused_us = coalesce(first_refused_us, clock.us), last_refused_us = clock.us,
  standing = 2, reason = j.why;

-- name: planned.prune
delete from {planned}
where planner = :planner and planned_key >= :low and planned_key < :high
order by planned_key limit :limit;

-- name: planned.new_rows
with q({columns}) as ({query}
) select {columns} from q
where not exists (select 1 from {planned} p
  where p.planner = {planner} and p.planned_key = cast(cast(q.k as char character set utf8mb4) as binary) and p.launches > 0);

-- name: member.awaited
exists (select 1 from {planner} n
    join {planned_period} p on p.planner = n.id and p.period_key = {key}
  where n.queue = {in_queue} and p.state <> 2)
  or exists (select 1 from {planner} n
    join {sweep} w on w.planner = n.id
      and w.sweep = (select max(x.sweep) from {sweep} x where x.planner = n.id)
  where n.queue = {in_queue} and w.state <> 3
    and {key} > cast(concat(n.name, '/', w.sweep, '/') as binary)
    and {key} < cast(concat(n.name, '/', w.sweep, '0') as binary));

-- name: planned.explain
explain /*!80000 format = traditional */ {query};
