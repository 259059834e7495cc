-- What people look at.

-- name: inspect.runs
-- in: process, key, state, limit
-- out: process, run_key, state, run_no, attempt, epoch, steps_done, first_started_us, started_us,
--      attempt_started_us, ended_us, succeeded_us, error, holder, node, pid, lease_until_us,
--      in_hand, in_hand_at_us, holder_alive, deadline_us, deadline_over, date, progress_done,
--      progress_total, progress_note
select r.process, r.run_key, r.state, r.run_no, r.attempt, r.epoch, r.steps_done,
  r.first_started_us, r.started_us, r.attempt_started_us, r.ended_us, r.succeeded_us, r.error,
  r.holder, coalesce(h.node, ''), coalesce(h.pid, 0), coalesce(h.lease_until_us, 0),
  coalesce(h.in_hand, ''), coalesce(h.renewed_us, 0),
  coalesce(h.ended_us is null and h.lease_until_us >= {now}, {false}), r.deadline_us,
  coalesce(r.state in (9, 8) and r.deadline_us <= {now}, {false}), r.data_date, r.progress_done,
  r.progress_total, r.progress_note,
  coalesce({least}(h.lease_until_us, coalesce(h.ended_us, h.lease_until_us)), r.attempt_started_us)
from {run} r left join {holder} h on h.uuid = r.holder
where (:process{::text} is null or r.process = :process{::text})
  and (:key{::text} is null or r.run_key = :key{::text})
  and (:state{::int} is null or r.state = :state{::int})
order by r.attempt_started_us desc, r.process, r.run_key
limit :limit;

-- name: inspect.steps
-- in: process, key, run_no
-- out: name, attempt, epoch, ended_us, took_us, mode, value
select name, attempt, epoch, ended_us, took_us, coalesce(mode, 0), value from {step}
where process = :process and run_key = :key and run_no = :run_no order by seq;

-- name: inspect.intents
-- in: process, key, run_no
-- out: name, attempt, started_us, state
select name, attempt, started_us, state from {intent}
where process = :process and run_key = :key and run_no = :run_no order by name;

-- name: inspect.carried
-- in: process, key, run_no
-- out: name, value, updated_us
select name, value, updated_us from {carry}
where process = :process and run_key = :key and run_no = :run_no order by name;

-- name: inspect.attempts
-- in: process, key
-- out: run_no, attempt, epoch, holder, node, pid, started_us, ended_us, state, error,
--      in_hand, output, exit_code
select a.run_no, a.attempt, a.epoch, a.holder, coalesce(h.node, ''), coalesce(h.pid, 0),
  a.started_us, a.ended_us, a.state, a.error,
  coalesce(a.in_hand, ''), coalesce(a.output, ''), a.exit_code
from {attempt} a left join {holder} h on h.uuid = a.holder
where a.process = :process and a.run_key = :key order by a.epoch;

-- The book at a glance. Failed and interrupted runs are counted among the newest of each end, and
-- successes among the runs that began last: `limit` of each. An attempt counts as long as it is its
-- run's last. `capped`: one of them reached the limit. Runs in hand and unknown ones are counted all:
-- the open steps of these lead to them.
-- name: inspect.status
-- by index
-- in: limit
-- out: now_us, holders_alive, in_hand, abandoned, overdue, succeeded, failed, interrupted, unknown,
--      capped
select {now}, (select count(*) from {holder} where ended_us is null and lease_until_us >= {now}),
  h.in_hand, h.abandoned, h.overdue, b.succeeded, e.failed, e.interrupted, u.unknown,
  case when b.looked >= :limit or e.most >= :limit then 1 else 0 end
from (
  select coalesce(sum(case when s.overdue = 0 and s.alive = 1 then 1 else 0 end), 0){::bigint}
      as in_hand,
    coalesce(sum(case when s.overdue = 0 and s.alive = 0 then 1 else 0 end), 0){::bigint}
      as abandoned,
    coalesce(sum(s.overdue), 0){::bigint} as overdue
  from (
    select case when r.deadline_us <= {now} then 1 else 0 end as overdue,
      case when h.ended_us is null and h.lease_until_us >= {now} then 1 else 0 end as alive
    from {run} r left join {holder} h on h.uuid = r.holder
    where r.ended_us is null and r.state in (9, 8)
  ) s
) h cross join (
  select coalesce(sum(case when n.state = 0 then 1 else 0 end), 0){::bigint} as succeeded,
    count(*) as looked
  from (select state from {run} {by_start} order by attempt_started_us desc limit :limit) n
) b cross join (
  select coalesce(sum(case when s.ended in (-1, -3) then s.last else 0 end), 0){::bigint} as failed,
    coalesce(sum(case when s.ended = -2 then s.last else 0 end), 0){::bigint} as interrupted,
    coalesce(max(s.looked), 0) as most
  from (
    select a.state as ended, count(*) as looked,
      sum(case when r.epoch = a.epoch and r.state = a.state then 1 else 0 end){::bigint} as last
    from (
      select * from (select process, run_key, epoch, state from {attempt}
        where state <> 0 and state = -1 order by ended_us desc limit :limit) s1
      union all
      select * from (select process, run_key, epoch, state from {attempt}
        where state <> 0 and state = -2 order by ended_us desc limit :limit) s2
      union all
      select * from (select process, run_key, epoch, state from {attempt}
        where state <> 0 and state = -3 order by ended_us desc limit :limit) s3
    ) a join {run} r on r.process = a.process and r.run_key = a.run_key
    group by a.state
  ) s
) e cross join (
  select count(*) as unknown
  from (select distinct process, run_key from {intent}) i
    join {run} r on r.process = i.process and r.run_key = i.run_key and r.state = -4
) u;

-- The same, counted among all.
-- name: inspect.status_of_all
-- out: now_us, holders_alive, in_hand, abandoned, overdue, succeeded, failed, interrupted, unknown
select {now}, (select count(*) from {holder} where ended_us is null and lease_until_us >= {now}),
  coalesce(sum(case when s.held = 1 and s.overdue = 0 and s.alive = 1 then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.held = 1 and s.overdue = 0 and s.alive = 0 then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.held = 1 and s.overdue = 1 then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.state = 0 then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.state in (-1, -3) then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.state = -2 then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.state = -4 then 1 else 0 end), 0){::bigint}
from (
  select r.state, case when r.state in (9, 8) then 1 else 0 end as held,
    case when r.deadline_us <= {now} then 1 else 0 end as overdue,
    case when h.ended_us is null and h.lease_until_us >= {now} then 1 else 0 end as alive
  from {run} r left join {holder} h on r.state in (9, 8) and h.uuid = r.holder
) s;

-- Holders that have not ended; `all` 1: those too; and the one of this `uuid`. `state`: 0 alive, 1
-- it has not renewed for two thirds of its lease, 2 dead, 3 ended.
-- name: inspect.holders
-- in: all, uuid, max_skew_us
-- out: uuid, node, pid, state, started_us, renewed_us, lease_until_us, ended_us
select h.uuid, h.node, h.pid,
  case when h.ended_how = 'dead' then 2
       when h.ended_us is not null then 3
       when h.lease_until_us < clock.us or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us
       then 2
       when clock.us - h.renewed_us > h.ttl_us / 3 * 2 then 1
       else 0 end,
  h.started_us, h.renewed_us, h.lease_until_us, h.ended_us
from {holder} h cross join (select {now} as us) as clock
where h.ended_us is null or :all = 1 or h.uuid = :uuid
order by h.started_us, h.uuid;

-- Runs that a holder has, and those whose outcome is unknown: their open steps lead to them.
-- name: inspect.open_runs
-- by index
-- out: process, run_key, state, attempt_started_us, ended_us, holder, deadline_us
select r.process, r.run_key, r.state, r.attempt_started_us, r.ended_us, r.holder, r.deadline_us
from {run} r
where r.ended_us is null and r.state in (9, 8)
union all
select r.process, r.run_key, r.state, r.attempt_started_us, r.ended_us, r.holder, r.deadline_us
from (select distinct process, run_key from {intent}) i
  join {run} r on r.process = i.process and r.run_key = i.run_key and r.state = -4
order by 4, 1, 2;

-- What each holder has of each queue.
-- name: inspect.claims
-- out: holder, queue, claims, tasks, since_us
select c.holder, q.name, count(*), sum(c.size){::bigint}, min(c.claimed_us)
from {claim} c join {queue} q on q.id = c.queue
where c.reclaimed_us is null
group by c.holder, q.name
order by 5, 1, 2;
