-- Where a task is: in the one segment that covers it, or in a claim (claim.of_queue).

-- The segment of an id is the first whose hi is above it.
-- name: segment.of
-- in: member
-- out: lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us
select lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us
from (select * from {segment} where hi > :member order by hi limit 1) as s where lo <= :member;

-- For a change of it. None: it is in a claim, or another changes it.
-- name: segment.hold
-- in: member
-- out: lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us
select lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us
from {segment}
where hi = (select s.hi from {segment} s where s.hi > :member order by s.hi limit 1)
  and lo <= :member and hi > :member
{skip_locked};

-- name: segment.remove
-- in: hi
delete from {segment} where hi = :hi;

-- By the hi of rows as segment.put takes them.
-- name: segment.remove_all
-- in: rows

-- Rows of [lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us].
-- name: segment.put
-- in: queue, rows

-- A piece of all segments of a queue, in the order of ids, for upkeep. Those of others in hand are
-- left out.
-- name: segment.piece
-- in: queue, after, count
-- out: lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us
select lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us from {segment}
where queue = :queue and hi > :after order by hi limit :count for update skip locked;

-- Which ids of a range have a member of the queue. By the range: by the queue it could be all of it.
-- name: segment.living
-- in: queue, lo, hi
-- out: id
select id from {member} where id >= :lo and id < :hi and queue + 0 = :queue order by id;

-- What is due before 1970 was asked for by people so long after (queues::front_us).
-- How many are in which state; ids without a member are counted with their segment.
-- One statement, so that a task is either in a segment or in a claim, which is counted as state 1.
-- name: task.counts
-- in: queue
-- out: state, due, tasks, segments, first_us
select state, case when due_us <= clock.us then 1 else 0 end as due,
  sum(hi - lo){::bigint}, count(*),
  min(case when due_us < 0 then due_us + 288230376151711744 else due_us end)
from {segment}, (select {now} as us) as clock where queue = :queue
group by 1, 2
union all
select 1, 0, coalesce(sum(size), 0){::bigint}, count(*), null{::bigint}
from {claim} where queue = :queue and reclaimed_us is null;

-- name: task.ledger_of
-- in: claim, member
-- out: state, finished_us, remark
select state, finished_us, remark from {done}
where claim = :claim and lo <= :member and hi > :member;

-- name: task.told
-- in: claim, member
-- out: state
select state from {outcome}
where claim = :claim and lo <= :member and lo > :member - 1000 and hi > :member
order by attempts desc, hi - lo limit 1;

-- The newest of a task. A row covers at most 1000 ids, and stands for those that have no row of
-- their own in the same claim.
-- name: task.outcome
-- in: queue, member
-- out: started_us, finished_us, claim, remark
select started_us, finished_us, claim, remark from {outcome}
where lo <= :member and lo > :member - 1000 and hi > :member and queue = :queue
order by started_us desc, attempts desc, hi - lo limit 1;

-- All of them, the newest first.
-- name: task.outcomes
-- in: queue, member, limit
-- out: state, attempts, turn_us, started_us, finished_us, claim, remark
select state, attempts, turn_us, started_us, finished_us, claim, remark from {outcome}
where lo <= :member and lo > :member - 1000 and hi > :member and queue = :queue
order by started_us desc, attempts desc, hi - lo limit :limit;

-- name: segment.of_state
-- in: queue, state, after, count
-- out: lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us
select lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us from {segment}
where queue = :queue and state = :state and hi > :after order by hi limit :count;

-- name: member.range
-- in: queue, lo, hi, count
-- out: id, member_key, payload
select id, member_key, payload from {member}
where id >= :lo and id < :hi and queue + 0 = :queue order by id limit :count;

-- The same, with the remark of each one's newest outcome, as task.outcome finds it.
-- name: member.range_told
-- in: queue, lo, hi, count
-- out: id, member_key, payload, remark
select m.id, m.member_key, m.payload, coalesce((
    select o.remark from {outcome} o
    where o.lo <= m.id and o.lo > m.id - 1000 and o.hi > m.id and o.queue = m.queue
    order by o.started_us desc, o.attempts desc, o.hi - o.lo limit 1), '') as remark
from {member} m
where m.id >= :lo and m.id < :hi and m.queue + 0 = :queue order by m.id limit :count;

-- Of rows that finished before an instant, a piece of all by id.
-- name: outcome.prune
-- in: queue, after, until, finished_before_us
delete from {outcome}
where lo > :after and lo <= :until and queue = :queue and finished_us < :finished_before_us;

-- The first above, of whichever queue; null: there is none. Ids are not dense.
-- name: outcome.next
-- in: after
-- out: lo
select min(lo) from {outcome} where lo > :after;

-- name: claim.prune
-- in: reclaimed_before_us
delete from {claim} where reclaimed_us < :reclaimed_before_us;

-- name: queue.now
-- out: now_us
select {now};

-- What ended since an instant: the ranges of ids from `lo` to `hi`.
-- name: outcome.since
-- in: lo, hi, since_us
-- out: lo, hi
select lo, hi from {outcome}
where lo > :lo - 1000 and lo < :hi and hi > :lo and finished_us >= :since_us order by lo;

-- Members that came before an instant, but for those that somebody above waits for (member.awaited).
-- name: member.forget
-- in: queue, lo, hi, before_us
-- holes: awaited
delete from {member}
where id >= :lo and id < :hi and queue = :queue and created_us < :before_us
  and not ({awaited});

-- Counts the tasks that claims take before a task of this lane that a person asks for now: due tasks
-- of higher priority, and tasks of its own lane that were asked for sooner.
-- name: task.in_front
-- in: queue, lane, member
-- out: tasks
