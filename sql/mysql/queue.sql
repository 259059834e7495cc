-- name: queue.make
insert ignore into {queue} (name, period_us, grain_us, cadence, mode, detail, attempts, backoff_us,
  backoff_max_us, crash_limit, running_limit, slot_us, rounds, retention_us, segment_size, on_new,
  forget_us, in_order, paused, slot_next_us, version, created_us)
values (:name, :period_us, :grain_us, :cadence, :mode, :detail, :attempts, :backoff_us,
  :backoff_max_us, :crash_limit, :running_limit, :slot_us, :rounds, :retention_us, :segment_size,
  :on_new, :forget_us, :in_order, 0, 0, 1, {now});

-- name: member.block
update {member_id} set next_id = next_id + :count where only_row = 1;
-- then
select next_id from {member_id} where only_row = 1;

-- name: member.add
insert ignore into {member} (id, queue, member_key, payload, created_us)
values (:id, :queue, :key, :payload, {now});

-- name: member.add_all
insert ignore into {member} (id, queue, member_key, payload, created_us)
select r.id, :queue, r.k, r.payload, {now}
from json_table(:rows, '$[*]' columns (id bigint path '$[0]',
    k longtext character set utf8mb4 path '$[1]',
    payload longtext character set utf8mb4 path '$[2]')) as r;

-- An insert that selects from a table would lock what it reads at the server's own isolation level,
-- until the application commits: the queue's row is read before. None: it is not seen here.
-- name: member.arm
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

-- name: member.arm_unseen
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, due_us, turn_us)
select :hi, :lo, :queue, :lane, 0, 0, 0, :period_us,
  coalesce(:at_us, case when :rounds = 1 and :on_new = 1 then 0
                 when :rounds = 1 then (clock.us + 999999) div 1000000 * 1000000
                 else clock.us div :grain_us * :grain_us end),
  (coalesce(:at_us, clock.us) + :grain_us - 1) div :grain_us * :grain_us
from (select {now} as us) as clock;
