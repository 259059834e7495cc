-- name: segment.remove_all
delete s from json_table(:rows, '$[*]' columns (hi bigint path '$[1]')) as r
  straight_join {segment} s force index (primary) on s.hi = r.hi;

-- name: segment.put
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, turn_us, period_us, due_us)
select r.hi, r.lo, :queue, r.lane, r.state, r.attempts, r.crashes, r.turn, r.period, r.due
from json_table(:rows, '$[*]' columns (lo bigint path '$[0]', hi bigint path '$[1]',
    lane int path '$[2]', state int path '$[3]', attempts int path '$[4]',
    crashes int path '$[5]', turn bigint path '$[6]', period bigint path '$[7]',
    due bigint path '$[8]')) as r;

-- name: task.in_front
select cast(coalesce((
    select sum(hi - lo) from {segment} where queue = q.id and lane = :lane and due_us < coalesce((
      select case when w.lo <= :member then least(w.due_us, 0) end from {segment} w
      where w.hi > :member order by w.hi limit 1), 0)), 0)
  + coalesce((
    select sum(s.hi - s.lo) from {segment} s
    where s.queue = q.id and s.lane < :lane and s.due_us <=
      case when q.rounds = 1 then least(coalesce(q.round_us, 0), {now}) else {now} end), 0) as signed)
from {queue} q where q.id = :queue;
