-- name: period.bounds
select {now}, f.start_us, f.end_us, f.period_key, l.start_us, l.end_us, l.period_key,
  (select min(start_us) from {planned_period}
   where planner = :planner and state = 0 and state <> 2 and start_us >= :since_us),
  (select min(start_us) from {planned_period}
   where planner = :planner and state = 1 and state <> 2 and start_us >= :since_us)
from (select 1 as one) o
  left join (select start_us, end_us, period_key from {planned_period}
             where planner = :planner order by start_us limit 1) f on true
  left join (select start_us, end_us, period_key from {planned_period}
             where planner = :planner order by start_us desc limit 1) l on true;

-- name: period.add
insert into {planned_period} (launched_us, done_us, reopened_us, launches, planner, state,
  start_us, end_us, period_key)
select null, null, null, 0, :planner, 0, (r->>0)::bigint, (r->>1)::bigint, r->>2
from json_array_elements(:rows::json) as r
on conflict do nothing;

-- name: period.open
select p.start_us, p.end_us, p.period_key, p.launches, p.launched_us, p.reopened_us, m.id,
  (select case when s.lo <= m.id then s.state end from {segment} s
   where s.hi > m.id order by s.hi limit 1),
  case when m.id in (select r.member from {request} r where r.queue = :queue and r.at_us >= 0) then 1 else 0 end
from {planned_period} p left join {member} m on m.queue = :queue and m.member_key = p.period_key
where p.planner = :planner and p.state = :state and p.state <> 2
  and p.start_us {beyond} :mark_us
order by p.start_us {order} limit :limit;

-- name: period.done
update {planned_period} set state = 2, done_us = {now}
where planner = :planner and state = 1
  and start_us = any (array(select (r->>0)::bigint from json_array_elements(:rows::json) as r));

-- name: period.again
update {planned_period} set state = 0
where planner = :planner and state = 1
  and start_us = any (array(select (r->>0)::bigint from json_array_elements(:rows::json) as r));

-- name: period.launch
update {planned_period} set state = 1, launches = launches + 1, launched_us = {now},
  reopened_us = null
where planner = :planner and state = 0
  and start_us = any (array(select (r->>0)::bigint from json_array_elements(:rows::json) as r));

-- name: period.follow
update {planned_period} set state = 1, launched_us = coalesce(launched_us, {now})
where planner = :planner and state = 0 and reopened_us is null
  and start_us = any (array(select (r->>0)::bigint from json_array_elements(:rows::json) as r));
