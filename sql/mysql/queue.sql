-- Queues, their members, and what people ask for. No statement here locks a row that claims need.

-- name: queue.make
-- in: name, period_us, grain_us, cadence, mode, detail, attempts, backoff_us, backoff_max_us,
--   crash_limit, running_limit, slot_us, rounds, retention_us, segment_size, on_new,
--   forget_us, in_order, burst
insert ignore into {queue} (name, period_us, grain_us, cadence, mode, detail, attempts, backoff_us,
  backoff_max_us, crash_limit, running_limit, slot_us, rounds, retention_us, segment_size, on_new,
  forget_us, in_order, burst, paused, slot_next_us, version, created_us)
values (:name, :period_us, :grain_us, :cadence, :mode, :detail, :attempts, :backoff_us,
  :backoff_max_us, :crash_limit, :running_limit, :slot_us, :rounds, :retention_us, :segment_size,
  :on_new, :forget_us, :in_order, :burst, 0, 0, 1, {now});

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

-- Those who ask how many may start take turns. A statement of its own: the next sees what the one
-- before has claimed, which a snapshot from before the wait for this lock does not.
-- name: queue.turn
-- in: queue
-- out: id
select id from {queue} where id = :queue for update;

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
update {member_id} set next_id = next_id + :count where only_row = 1;
-- then
select next_id from {member_id} where only_row = 1;

-- How far ids are given out.
-- name: member.next
-- out: next_id
select next_id from {member_id} where only_row = 1;

-- Nothing where the key is there; or, under another key, the id, which was given out twice then, as
-- after a fail-over that lost the first time.
-- name: member.add
-- in: id, queue, key, payload
insert ignore into {member} (id, queue, member_key, payload, created_us)
values (:id, :queue, :key, :payload, {now});

-- Rows of [id, key, payload].
-- name: member.add_all
-- in: queue, rows
insert ignore into {member} (id, queue, member_key, payload, created_us)
select r.id, :queue, r.k, r.payload, {now}
from json_table(:rows, '$[*]' columns (id bigint path '$[0]',
    k longtext character set utf8mb4 path '$[1]',
    payload longtext character set utf8mb4 path '$[2]')) as r;

-- A segment of new members. Without `at_us` they are due at once, and their turn is the next
-- instant of the grain, so that those who come together stay together. In a queue of rounds they
-- are due after the instant of a round that is open, or, where the queue says so, in none.
-- An insert that selects from a table would lock what it reads at the server's own isolation level,
-- until the application commits: the queue's row is read before. None: it is not seen here.
-- name: member.arm
-- in: queue, lo, hi, lane, at_us
select max(q.period_us),
  max(coalesce(:at_us, case when q.rounds = 1 and q.on_new = 1 then 0
                            when q.rounds = 1 then (clock.us + 999999) div 1000000 * 1000000
                            else clock.us div q.grain_us * q.grain_us end)),
  max((coalesce(:at_us, clock.us) + q.grain_us - 1) div q.grain_us * q.grain_us)
into @daybook_period, @daybook_due, @daybook_turn
from {queue} q, (select {now} as us) as clock where q.id = :queue;
-- then
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, due_us, turn_us)
select :hi, :lo, :queue, :lane, 0, 0, 0, @daybook_period, @daybook_due, @daybook_turn
from dual where @daybook_period is not null;

-- The same where this transaction does not see the queue, which was made after its snapshot: as the
-- process knows it.
-- name: member.arm_unseen
-- in: queue, lo, hi, lane, at_us, period_us, grain_us, rounds, on_new
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, due_us, turn_us)
select :hi, :lo, :queue, :lane, 0, 0, 0, :period_us,
  coalesce(:at_us, case when :rounds = 1 and :on_new = 1 then 0
                 when :rounds = 1 then (clock.us + 999999) div 1000000 * 1000000
                 else clock.us div :grain_us * :grain_us end),
  (coalesce(:at_us, clock.us) + :grain_us - 1) div :grain_us * :grain_us
from (select {now} as us) as clock;

-- name: member.remove
-- in: queue, key
delete from {member} where queue = :queue and member_key = :key;

-- name: member.set_payload
-- in: queue, key, payload
update {member} set payload = :payload where queue = :queue and member_key = :key;

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
for update skip locked;

-- name: request.put_priority
-- in: queue, key, priority
insert into {request} (member, queue, kind, at_us)
select id, queue, 1, :priority - 10 from {member} where queue = :queue and member_key = :key;

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
with clock as (select {now} as us),
firsts as (
  select q.id, q.name, q.paused, coalesce(q.in_order, 0) as in_order, q.grain_us,
    clock.us as now_us,
    greatest(case when q.rounds = 1 then coalesce(q.round_us, 0) else 0 end,
                  case when q.slot_us > 0 then q.slot_next_us else 0 end) as from_us,
    case when q.rounds = 1 then coalesce(q.round_us, 0) else clock.us end as until_us,
    case f.asked when 0
      then (select due_us from {segment} where queue = q.id and lane = p.lane and due_us >= 0
            order by due_us, hi limit 1)
      else (select due_us from {segment} where queue = q.id and lane = p.lane and due_us < 0
            order by due_us, hi limit 1) end as due_us
  from {queue} q cross join clock
    cross join json_table('[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]', '$[*]'
      columns (lane int path '$')) as p
    cross join (select 0 as asked union all select 1) as f
  where :queue = 0 or q.id = :queue
),
hands as (
  select queue, sum(living) as living,
    sum(case when living = 1 then 0 else size end) as abandoned
  from (
    select c.queue, c.size, case when h.ended_us is null and h.lease_until_us between clock.us
                                   and clock.us + h.ttl_us + :max_skew_us then 1 else 0 end as living
    from {claim} c cross join clock left join {holder} h on h.uuid = c.holder
    where c.reclaimed_us is null) as one
  group by queue
)
select f.id, f.name, f.paused, f.in_order, f.grain_us,
  min(case when f.due_us is null or f.due_us > f.until_us or f.due_us > f.now_us
             or f.from_us > f.now_us then null
           when f.due_us < 0 then greatest(f.due_us + 288230376151711744, f.from_us)
           else greatest(f.due_us, f.from_us) end),
  max(coalesce(a.living, 0)), max(coalesce(a.abandoned, 0)), f.now_us
from firsts f left join hands a on a.queue = f.id
group by f.id, f.name, f.paused, f.in_order, f.grain_us, f.now_us
order by f.name;

-- Of all queues, tasks that wait for a person.
-- name: queue.stuck
-- out: name, state, tasks
select q.name, s.state, sum(s.hi - s.lo)
from {segment} s join {queue} q on q.id = s.queue
where s.state in (4, 5) group by q.name, s.state order by 1, 2;
