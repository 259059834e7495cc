-- name: segment.remove_all
delete from {segment} where hi in (select c1 from daybook_rows(:rows));

-- name: segment.put
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, turn_us, period_us, due_us)
select r.hi, r.lo, :queue, r.lane, r.state, r.attempts, r.crashes, r.turn, r.period, r.due
from (select c0 as lo, c1 as hi, c2 as lane, c3 as state, c4 as attempts, c5 as crashes, c6 as turn,
        c7 as period, c8 as due
      from daybook_rows(:rows)) as r;

-- The plus: in that order they are read, and not sorted whole for each piece.
-- name: segment.piece
select lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us from {segment}
where +queue = :queue and hi > :after order by hi limit :count;

-- name: segment.living
select id from {member} where id >= :lo and id < :hi and +queue = :queue order by id;

-- name: segment.of_state
select lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us from {segment}
where +queue = :queue and state = :state and hi > :after order by hi limit :count;

-- name: member.range
select id, member_key, payload from {member}
where id >= :lo and id < :hi and +queue = :queue order by id limit :count;

-- name: member.range_told
select m.id, m.member_key, m.payload, coalesce((
    select o.remark from {outcome} o
    where o.lo <= m.id and o.lo > m.id - 1000 and o.hi > m.id and o.queue = m.queue
    order by o.started_us desc, o.attempts desc, o.hi - o.lo limit 1), '') as remark
from {member} m
where m.id >= :lo and m.id < :hi and +m.queue = :queue order by m.id limit :count;

-- name: task.in_front
select coalesce((
    select sum(hi - lo) from {segment} where queue = q.id and lane = :lane and due_us < coalesce((
      select case when w.lo <= :member then min(w.due_us, 0) end from {segment} w
      where w.hi > :member order by w.hi limit 1), 0)), 0)
  + coalesce((
    select sum(s.hi - s.lo) from {segment} s
    where s.queue = q.id and s.lane < :lane and s.due_us <=
      case when q.rounds = 1 then min(coalesce(q.round_us, 0), {now}) else {now} end), 0)
from {queue} q where q.id = :queue;
