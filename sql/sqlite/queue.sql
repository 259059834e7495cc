-- name: member.add_all
insert into {member} (id, queue, member_key, payload, created_us)
select r.c0, :queue, r.c1, r.c2, {now} from daybook_rows(:rows) as r where true
on conflict (queue, member_key) do nothing;

-- name: member.set_payloads
update {member} as m set payload = r.c1 from daybook_rows(:rows) as r
where m.queue = :queue and m.member_key = r.c0;

-- name: member.remove_all
delete from {member}
where queue = :queue and member_key in (select r.c0 from daybook_rows(:rows) as r);

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

-- name: queue.standing
with clock as (select {now} as us),
firsts as (
  select q.id, q.name, q.paused, coalesce(q.in_order, 0) as in_order, q.grain_us,
    clock.us as now_us,
    max(case when q.rounds = 1 then coalesce(q.round_us, 0) else 0 end,
                  case when q.slot_us > 0 then q.slot_next_us else 0 end) as from_us,
    case when q.rounds = 1 then coalesce(q.round_us, 0) else clock.us end as until_us,
    (select due_us from {segment}
     where queue = q.id and lane = p.lane and due_us >= f.low_us
     order by due_us, hi limit 1) as due_us
  from {queue} q cross join clock
    cross join (select value as lane
      from json_each('[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]')) as p
    cross join (select 0 as low_us union all select -9223372036854775807) as f
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
           when f.due_us < 0 then max(f.due_us + 288230376151711744, f.from_us)
           else max(f.due_us, f.from_us) end),
  max(coalesce(a.living, 0)), max(coalesce(a.abandoned, 0)), f.now_us
from firsts f left join hands a on a.queue = f.id
group by f.id, f.name, f.paused, f.in_order, f.grain_us, f.now_us
order by f.name;
