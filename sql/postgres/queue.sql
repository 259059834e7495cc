-- The clock goes on within a statement; where one instant is meant, it is asked once (`clock`).

-- name: queue.pause
with told as materialized (select pg_catalog.pg_notify('{prefix}wake_' || :queue::int, ''))
update {queue} set paused = :paused, version = version + 1 from told
where id = :queue and paused <> :paused;

-- name: queue.open_round
with told as materialized (select pg_catalog.pg_notify('{prefix}wake_' || :queue::int, ''))
update {queue} set round_us = :at_us, version = version + 1 from told
where id = :queue and rounds = 1 and (round_us is null or round_us < :at_us);

-- name: member.add_all
insert into {member} (id, queue, member_key, payload, created_us)
select (r->>0)::bigint, :queue, r->>1, r->>2, clock.us
from json_array_elements(:rows::json) as r, (select {now} as us) as clock
on conflict (queue, member_key) do nothing;

-- name: member.set_payloads
update {member} as m set payload = r->>1 from json_array_elements(:rows::json) as r
where m.queue = :queue and m.member_key = r->>0;

-- name: member.remove_all
delete from {member}
where queue = :queue
  and member_key = any (array(select r->>0 from json_array_elements(:rows::json) as r));

-- `awake`, `told`: see wake.sql.
-- name: member.arm
with awake as materialized (
  select case
    when not pg_catalog.pg_try_advisory_xact_lock_shared(
               pg_catalog.hashtext('{schema}.{prefix}adds'), :queue::int) then false
    when not pg_catalog.pg_try_advisory_lock(
               pg_catalog.hashtext('{schema}.{prefix}sleeps'), :queue::int) then false
    else pg_catalog.pg_advisory_unlock(
           pg_catalog.hashtext('{schema}.{prefix}sleeps'), :queue::int) end as everybody
),
told as materialized (
  select case when not everybody then pg_catalog.pg_notify('{prefix}wake_' || :queue::int, '') end
  from awake
)
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, due_us, turn_us)
select :hi, :lo, q.id, :lane, 0, 0, 0, q.period_us,
  coalesce(:at_us::bigint, case when q.rounds = 1 and q.on_new = 1 then 0
                          when q.rounds = 1 then (clock.us + 999999) / 1000000 * 1000000
                          else clock.us / q.grain_us * q.grain_us end),
  (coalesce(:at_us::bigint, clock.us) + q.grain_us - 1) / q.grain_us * q.grain_us
from {queue} q, (select {now} as us) as clock, told where q.id = :queue;

-- name: member.arm_unseen
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, due_us, turn_us)
select :hi, :lo, :queue, :lane, 0, 0, 0, :period_us,
  coalesce(:at_us::bigint, case when :rounds::int = 1 and :on_new::int = 1 then 0
                 when :rounds::int = 1 then (clock.us + 999999) / 1000000 * 1000000
                 else clock.us / :grain_us::bigint * :grain_us::bigint end),
  (coalesce(:at_us::bigint, clock.us) + :grain_us::bigint - 1) / :grain_us::bigint * :grain_us::bigint
from (select {now} as us) as clock, (select pg_catalog.pg_notify('{prefix}wake_' || :queue::int, '')) as told;

-- name: request.put
with told as materialized (select pg_catalog.pg_notify('{prefix}wake_' || :queue::int, ''))
insert into {request} (member, queue, kind, at_us)
select id, queue, :kind::smallint, case when :in_turn::int = 1 then 0 else {now} end from {member}, told where queue = :queue and member_key = :key;

-- name: request.put_range
with told as materialized (select pg_catalog.pg_notify('{prefix}wake_' || :queue::int, ''))
insert into {request} (member, queue, kind, at_us)
select id, queue, :kind::smallint, {now} from {member}, told
where id >= :lo and id < :hi and queue = :queue;

-- Lane by lane: else the planner reads the table from its beginning, past other queues' rows.
-- name: queue.due
select coalesce(sum(s.hi - s.lo), 0)::bigint, count(*)
from (
  select d.hi, d.lo
  from (select {now} as us) as clock cross join generate_series(0, 19) as p (lane)
    cross join lateral (
      select hi, lo from {segment}
      where queue = :queue and lane = p.lane and due_us <= clock.us
      order by due_us, hi limit :limit) as d
  limit :limit
) as s;

-- name: queue.standing
with clock as (select {now} as us),
firsts as (
  select q.id, q.name, q.paused, coalesce(q.in_order, 0) as in_order, q.grain_us,
    clock.us as now_us,
    greatest(case when q.rounds = 1 then coalesce(q.round_us, 0) else 0 end,
                  case when q.slot_us > 0 then q.slot_next_us else 0 end) as from_us,
    case when q.rounds = 1 then coalesce(q.round_us, 0) else clock.us end as until_us,
    (select due_us from {segment}
     where queue = q.id and lane = p.lane and due_us >= f.low_us
     order by due_us, hi limit 1) as due_us
  from {queue} q cross join clock
    cross join generate_series(0, 19) as p (lane)
    cross join (select 0::bigint as low_us union all select -9223372036854775807) as f
  where :queue = 0 or q.id = :queue
),
hands as (
  select queue, sum(living)::bigint as living,
    sum(case when living = 1 then 0 else size end)::bigint as abandoned
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
