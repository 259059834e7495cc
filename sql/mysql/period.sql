-- name: period.bounds
select {now}, f.start_us, f.end_us, f.period_key, l.start_us, l.end_us, l.period_key,
  (select min(start_us) from {planned_period} force index (planned_period_state)
   where planner = :planner and state = 0 and state <> 2 and start_us >= :since_us),
  (select min(start_us) from {planned_period} force index (planned_period_state)
   where planner = :planner and state = 1 and state <> 2 and start_us >= :since_us)
from (select 1 as one) o
  left join (select start_us, end_us, period_key from {planned_period}
             where planner = :planner order by start_us limit 1) f on true
  left join (select start_us, end_us, period_key from {planned_period}
             where planner = :planner order by start_us desc limit 1) l on true;

-- name: period.add
insert ignore into {planned_period} (launched_us, done_us, reopened_us, launches, planner, state,
  start_us, end_us, period_key)
select null, null, null, 0, :planner, 0, r.start_us, r.end_us, cast(r.k as binary)
from json_table(:rows, '$[*]' columns (start_us bigint path '$[0]', end_us bigint path '$[1]',
  k varchar(255) character set utf8mb4 path '$[2]')) as r;

-- The index is named: by the primary key all that was ever done would be read.
-- name: period.open
select p.start_us, p.end_us, p.period_key, p.launches, p.launched_us, p.reopened_us, m.id,
  (select case when s.lo <= m.id then s.state end from {segment} s
   where s.hi > m.id order by s.hi limit 1),
  case when m.id in (select r.member from {request} r where r.queue = :queue and r.at_us >= 0) then 1 else 0 end
from {planned_period} p force index (planned_period_state)
  left join {member} m on m.queue = :queue and m.member_key = p.period_key
where p.planner = :planner and p.state = :state and p.state <> 2
  and p.start_us {beyond} :mark_us
order by p.start_us {order} limit :limit;

-- name: period.done
update json_table(:rows, '$[*]' columns (start_us bigint path '$[0]')) as r
  straight_join {planned_period} p on p.planner = :planner and p.start_us = r.start_us
set p.state = 2, p.done_us = {now}
where p.state = 1;

-- name: period.again
update json_table(:rows, '$[*]' columns (start_us bigint path '$[0]')) as r
  straight_join {planned_period} p on p.planner = :planner and p.start_us = r.start_us
set p.state = 0
where p.state = 1;

-- name: period.launch
update json_table(:rows, '$[*]' columns (start_us bigint path '$[0]')) as r
  straight_join {planned_period} p on p.planner = :planner and p.start_us = r.start_us
set p.state = 1, p.launches = p.launches + 1, p.launched_us = {now},
  p.reopened_us = null
where p.state = 0;

-- name: period.follow
update json_table(:rows, '$[*]' columns (start_us bigint path '$[0]')) as r
  straight_join {planned_period} p on p.planner = :planner and p.start_us = r.start_us
set p.state = 1, p.launched_us = coalesce(p.launched_us, {now})
where p.state = 0 and p.reopened_us is null;
