-- Queues, their members, and what people ask for. No statement here locks a row that claims need.

-- name: queue.make
-- in: name, period_us, grain_us, cadence, mode, detail, attempts, backoff_us, backoff_max_us,
--   crash_limit, running_limit, slot_us, rounds, retention_us, segment_size, on_new,
--   forget_us, in_order, burst
insert into {queue} (name, period_us, grain_us, cadence, mode, detail, attempts, backoff_us,
  backoff_max_us, crash_limit, running_limit, slot_us, rounds, retention_us, segment_size, on_new,
  forget_us, in_order, burst, paused, slot_next_us, version, created_us)
values (:name, :period_us, :grain_us, :cadence, :mode, :detail, :attempts, :backoff_us,
  :backoff_max_us, :crash_limit, :running_limit, :slot_us, :rounds, :retention_us, :segment_size,
  :on_new, :forget_us, :in_order, :burst, 0, 0, 1, {now}) on conflict (name) do nothing;

-- name: queue.change
-- in: name, period_us, grain_us, cadence, mode, detail, attempts, backoff_us, backoff_max_us,
--   crash_limit, running_limit, slot_us, rounds, retention_us, segment_size, on_new,
--   forget_us, in_order, burst
update {queue} set version = version + 1, period_us = :period_us, grain_us = :grain_us,
  cadence = :cadence, mode = :mode, detail = :detail, attempts = :attempts,
  backoff_us = :backoff_us, backoff_max_us = :backoff_max_us, crash_limit = :crash_limit,
  running_limit = :running_limit, slot_us = :slot_us, rounds = :rounds,
  retention_us = :retention_us, segment_size = :segment_size, on_new = :on_new,
  forget_us = :forget_us, in_order = :in_order, burst = :burst
where name = :name;

-- name: queue.look
-- in: name
-- out: id, version, period_us, grain_us, cadence, mode, detail, attempts, backoff_us,
--   backoff_max_us, crash_limit, running_limit, slot_us, rounds, retention_us, segment_size,
--   paused, on_new, forget_us, in_order, burst, round_us
select id, version, period_us, grain_us, cadence, mode, detail, attempts, backoff_us,
  backoff_max_us, crash_limit, running_limit, slot_us, rounds, retention_us, segment_size,
  paused, coalesce(on_new, 0), coalesce(forget_us, 0), coalesce(in_order, 0),
  coalesce(burst, 1), round_us
from {queue} where name = :name;

-- name: queue.names
-- out: name
select name from {queue} order by name;

-- name: queue.pause
-- in: queue, paused
update {queue} set paused = :paused, version = version + 1 where id = :queue and paused <> :paused;

-- Later than the one before: a round never takes back what an earlier one has opened.
-- name: queue.open_round
-- in: queue, at_us
update {queue} set round_us = :at_us, version = version + 1
where id = :queue and rounds = 1 and (round_us is null or round_us < :at_us);

-- Those who ask how many may start take turns; where there is one writer, they do anyway. A
-- statement of its own: the next sees what the one before has claimed, which a snapshot from before
-- the wait for this lock does not.
-- name: queue.turn
-- in: queue
-- out: id
select id from {queue} where id = :queue {for_update};

-- How many may start now, and which slot is the first that nobody has. After queue.turn.
-- name: queue.throttle
-- in: queue
-- out: now_us, running, slot_next_us
select clock.us, (select coalesce(sum(c.size), 0) from {claim} c where c.queue = q.id),
  q.slot_next_us
from {queue} q, (select {now} as us) as clock
where q.id = :queue;

-- name: queue.reserve
-- in: queue, slot_next_us
update {queue} set slot_next_us = :slot_next_us where id = :queue;

-- name: member.block
-- in: count
-- out: next_id
update {member_id} set next_id = next_id + :count where only_row = 1 returning next_id;

-- How far ids are given out.
-- name: member.next
-- out: next_id
select next_id from {member_id} where only_row = 1;

-- Nothing where the key is there; or, under another key, the id, which was given out twice then, as
-- after a fail-over that lost the first time.
-- name: member.add
-- in: id, queue, key, payload
insert into {member} (id, queue, member_key, payload, created_us)
values (:id, :queue, :key, :payload, {now}) on conflict do nothing;

-- Rows of [id, key, payload].
-- name: member.add_all
-- in: queue, rows

-- A segment of new members. Without `at_us` they are due at once, and their turn is the next
-- instant of the grain, so that those who come together stay together. In a queue of rounds they are
-- due after the instant of a round that is open, or, where the queue says so, in none.
-- name: member.arm
-- in: queue, lo, hi, lane, at_us

-- The same where this transaction does not see the queue, which was made after its snapshot: as the
-- process knows it.
-- name: member.arm_unseen
-- in: queue, lo, hi, lane, at_us, period_us, grain_us, rounds, on_new

-- name: member.remove
-- in: queue, key
delete from {member} where queue = :queue and member_key = :key;

-- name: member.set_payload
-- in: queue, key, payload
update {member} set payload = :payload where queue = :queue and member_key = :key;

-- Rows of [key, payload], of members that there are.
-- name: member.set_payloads
-- in: queue, rows

-- Rows of [key].
-- name: member.remove_all
-- in: queue, rows

-- name: member.find
-- in: queue, key
-- out: id, payload
select id, payload from {member} where queue = :queue and member_key = :key;

-- name: member.count
-- in: queue
-- out: members
select count(*) from {member} where queue = :queue;

-- `in_turn`: 1 where it goes behind what is due, and not in front of it; `at_us` is 0 then. Below
-- zero it is no instant, but a priority less ten: a request to have that. Its kind is run_now: a
-- program that knows nothing of it makes the task due, which does the least harm of all kinds.
-- name: request.put
-- in: queue, key, kind, in_turn
insert into {request} (member, queue, kind, at_us)
select id, queue, :kind, case when :in_turn = 1 then 0 else {now} end from {member} where queue = :queue and member_key = :key;

-- name: request.put_range
-- in: queue, lo, hi, kind
insert into {request} (member, queue, kind, at_us)
select id, queue, :kind, {now} from {member} where id >= :lo and id < :hi and queue = :queue;

-- name: request.waiting
-- in: queue, after, count
-- out: seq, member, kind, at_us
select seq, member, kind, at_us from {request}
where queue = :queue and seq > :after order by seq limit :count
{skip_locked};

-- name: request.put_priority
-- in: queue, key, priority
insert into {request} (member, queue, kind, at_us)
select id, queue, 1, :priority{::bigint} - 10 from {member} where queue = :queue and member_key = :key;

-- Whether something is asked of one that no claim has done yet.
-- name: request.of
-- in: queue, member
-- out: kind
select kind from {request} where queue = :queue and member = :member and at_us >= 0 limit 1;

-- name: request.remove
-- in: seq
delete from {request} where seq = :seq;

-- How queues stand; `queue` 0: all. `due_us`: since when the oldest task is due that may start, by
-- the first of each lane, and the first there that nobody asked for. `claims`: of holders that live.
-- `abandoned`: tasks in claims of others.
-- name: queue.standing
-- in: queue, max_skew_us
-- out: id, name, paused, in_order, grain_us, due_us, claims, abandoned, now_us

-- Of all queues, tasks that wait for a person.
-- name: queue.stuck
-- out: name, state, tasks
select q.name, s.state, sum(s.hi - s.lo){::bigint}
from {segment} s join {queue} q on q.id = s.queue
where s.state in (4, 5) group by q.name, s.state order by 1, 2;

-- Tasks of a queue that are due, in its first segments: at most `limit` of them.
-- name: queue.due
-- in: queue, limit
-- out: tasks, segments
select coalesce(sum(s.hi - s.lo), 0){::bigint}, count(*)
from (
  select hi, lo from {segment}
  where queue = :queue and due_us <= {now}
    and lane in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
  limit :limit
) s;

-- name: queue.running
-- out: tasks
select coalesce(sum(size), 0){::bigint} from {claim} where reclaimed_us is null;
