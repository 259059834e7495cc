-- name: queue.make
insert ignore into {queue} (name, period_us, grain_us, cadence, mode, detail, attempts, backoff_us,
  backoff_max_us, crash_limit, running_limit, slot_us, rounds, retention_us, segment_size, on_new,
  forget_us, in_order, burst, paused, slot_next_us, version, created_us)
values (:name, :period_us, :grain_us, :cadence, :mode, :detail, :attempts, :backoff_us,
  :backoff_max_us, :crash_limit, :running_limit, :slot_us, :rounds, :retention_us, :segment_size,
  :on_new, :forget_us, :in_order, :burst, 0, 0, 1, {now});

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

-- name: member.set_payloads
update {member} m join json_table(:rows, '$[*]' columns (
    k varchar(255) character set utf8mb4 path '$[0]',
    payload longtext character set utf8mb4 path '$[1]')) as r
  on m.queue = :queue and m.member_key = cast(r.k as binary)
set m.payload = r.payload;

-- name: member.remove_all
delete m from {member} m join json_table(:rows, '$[*]' columns (
    k varchar(255) character set utf8mb4 path '$[0]')) as r
  on m.member_key = cast(r.k as binary)
where m.queue = :queue;

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

-- name: queue.standing
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

-- MySQL would read the table whole.
-- name: queue.due
select cast(coalesce(sum(s.hi - s.lo), 0) as signed), count(*)
from (
  select hi, lo from {segment} force index (segment_by_due)
  where queue = :queue and due_us <= {now}
    and lane in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
  limit :limit
) s;
