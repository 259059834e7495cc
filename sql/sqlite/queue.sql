-- name: member.add_all
insert into {member} (id, queue, member_key, payload, created_us)
select r.c0, :queue, r.c1, r.c2, {now} from daybook_rows(:rows) as r where true
on conflict (queue, member_key) do nothing;

-- name: member.arm
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, due_us, turn_us)
select :hi, :lo, q.id, :lane, 0, 0, 0, q.period_us,
  coalesce(:at_us, case when q.rounds = 1 and q.on_new = 1 then 0
                          when q.rounds = 1 then (clock.us + 999999) / 1000000 * 1000000
                          else clock.us / q.grain_us * q.grain_us end),
  (coalesce(:at_us, clock.us) + q.grain_us - 1) / q.grain_us * q.grain_us
from {queue} q, (select {now} as us) as clock where q.id = :queue;

-- name: member.arm_unseen
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, due_us, turn_us)
select :hi, :lo, :queue, :lane, 0, 0, 0, :period_us,
  coalesce(:at_us, case when :rounds = 1 and :on_new = 1 then 0
                 when :rounds = 1 then (clock.us + 999999) / 1000000 * 1000000
                 else clock.us / :grain_us * :grain_us end),
  (coalesce(:at_us, clock.us) + :grain_us - 1) / :grain_us * :grain_us
from (select {now} as us) as clock;
