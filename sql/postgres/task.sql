-- name: segment.remove_all
delete from {segment}
where hi = any (array(select (r->>1)::bigint from json_array_elements(:rows::json) as r));

-- name: segment.put
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, turn_us, period_us, due_us)
select (r->>1)::bigint, (r->>0)::bigint, :queue, (r->>2)::smallint, (r->>3)::smallint,
  (r->>4)::int, (r->>5)::int, (r->>6)::bigint, (r->>7)::bigint, (r->>8)::bigint
from json_array_elements(:rows::json) as r;

-- name: task.in_front
select (coalesce((
    select sum(hi - lo) from {segment} where queue = q.id and lane = :lane::int and due_us < coalesce((
      select case when w.lo <= :member::bigint then least(w.due_us, 0) end from {segment} w
      where w.hi > :member::bigint order by w.hi limit 1), 0)), 0)
  + coalesce((
    select sum(s.hi - s.lo) from {segment} s
    where s.queue = q.id and s.lane < :lane::int and s.due_us <=
      case when q.rounds = 1 then least(coalesce(q.round_us, 0), {now}) else {now} end), 0))::bigint
from {queue} q where q.id = :queue;
