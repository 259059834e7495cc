-- Schedules and their ticks. A tick is a run; here stands what is not the run's: which ticks there
-- were, their windows, and up to where they are decided. Whoever decides changes the schedule's row
-- first, by its version: two nodes that decide the same see to it that one of them finds nothing.

-- `since_us`: where its ticks and its first window begin; null: now.
-- name: schedule.make
-- in: name, cron, zone, gap, fold, catch_up, most, grace_us, overlap, attempts, backoff_us,
--   longest_backoff_us, crash_limit, keep, since_us

-- One that was removed is there again.
-- name: schedule.change
-- in: name, version, cron, zone, gap, fold, catch_up, most, grace_us, overlap, attempts,
--   backoff_us, longest_backoff_us, crash_limit, keep, decided_us
update {schedule} set cron = :cron, zone = :zone, gap = :gap, fold = :fold, catch_up = :catch_up,
  most = :most, grace_us = :grace_us, overlap = :overlap, attempts = :attempts,
  backoff_us = :backoff_us, longest_backoff_us = :longest_backoff_us,
  crash_limit = :crash_limit, keep = :keep, decided_us = :decided_us,
  state = case when state = 2 then 0 else state end, version = version + 1
where name = :name and {unchanged};

-- `standing`, of the tick that runs: 0 none does, 1 its holder lives, 2 nobody has its run, 3 its
-- holder is dead, 4 its run was ended as failed by another process that takes part in it.
-- `left_us`: since when nobody runs it, where that is so.
-- name: schedule.look
-- in: name, max_skew_us
-- out: name, cron, zone, gap, fold, catch_up, most, grace_us, overlap, attempts, backoff_us,
--   longest_backoff_us, crash_limit, keep, state, version, decisions, decided_us, window_us,
--   running_us, running_since_us, standing, open_due_us, now_us, holder, node, pid, left_us
select s.name, s.cron, s.zone, s.gap, s.fold, s.catch_up, s.most, s.grace_us, s.overlap, s.attempts,
  s.backoff_us, s.longest_backoff_us, s.crash_limit, s.keep, s.state, s.version, s.decisions,
  s.decided_us, s.window_us, s.running_us, s.running_since_us,
  case when s.running_us is null then 0
       when r.state = -1 then 4
       when r.state is null or r.state not in (9, 8) then 2
       when h.uuid is null or h.ended_us is not null or h.lease_until_us < clock.us
            or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us then 3
       else 1 end,
  (select min(t.due_us) from {tick} t
   where t.schedule = s.name and t.state = 0 and (s.state = 0 or t.by_hand > 0)),
  clock.us, coalesce(r.holder, ''), coalesce(h.node, ''), coalesce(h.pid, 0),
  coalesce(case when r.state in (9, 8)
                then {least}(h.lease_until_us, coalesce(h.ended_us, h.lease_until_us))
                else r.ended_us end, s.running_since_us)
from {schedule} s left join {run} r on r.process = s.name and r.run_key = s.running_key
  left join {holder} h on h.uuid = r.holder cross join (select {now} as us) as clock
where s.name = :name;

-- The same of all that may have something to do: a tick that runs goes on after a removal.
-- name: schedule.all
-- in: max_skew_us
-- out: name, cron, zone, gap, fold, catch_up, most, grace_us, overlap, attempts, backoff_us,
--   longest_backoff_us, crash_limit, keep, state, version, decisions, decided_us, window_us,
--   running_us, running_since_us, standing, open_due_us, now_us, holder, node, pid, left_us
select s.name, s.cron, s.zone, s.gap, s.fold, s.catch_up, s.most, s.grace_us, s.overlap, s.attempts,
  s.backoff_us, s.longest_backoff_us, s.crash_limit, s.keep, s.state, s.version, s.decisions,
  s.decided_us, s.window_us, s.running_us, s.running_since_us,
  case when s.running_us is null then 0
       when r.state = -1 then 4
       when r.state is null or r.state not in (9, 8) then 2
       when h.uuid is null or h.ended_us is not null or h.lease_until_us < clock.us
            or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us then 3
       else 1 end,
  (select min(t.due_us) from {tick} t
   where t.schedule = s.name and t.state = 0 and (s.state = 0 or t.by_hand > 0)),
  clock.us, coalesce(r.holder, ''), coalesce(h.node, ''), coalesce(h.pid, 0),
  coalesce(case when r.state in (9, 8)
                then {least}(h.lease_until_us, coalesce(h.ended_us, h.lease_until_us))
                else r.ended_us end, s.running_since_us)
from {schedule} s left join {run} r on r.process = s.name and r.run_key = s.running_key
  left join {holder} h on h.uuid = r.holder cross join (select {now} as us) as clock
where s.state <> 2 or s.running_us is not null
order by s.name;

-- Decides all ticks up to an instant that is not in the future; `launch_us`, if any, is launched.
-- name: schedule.advance
-- in: name, version, decided_us, launch_us, run_key
update {schedule} set decided_us = :decided_us,
  window_us = coalesce(:launch_us{::bigint}, window_us),
  decisions = decisions + 1,
  running_since_us = case when :launch_us{::bigint} is null then running_since_us else {now} end,
  running_key = case when :launch_us{::bigint} is null then running_key else :run_key{::text} end,
  running_us = coalesce(:launch_us{::bigint}, running_us), version = version + 1
where name = :name and {unchanged} and state = 0 and :decided_us <= {now};

-- A tick that is there already: one that failed, or was asked for.
-- name: schedule.begin
-- in: name, version, tick_us, run_key
update {schedule} set running_us = :tick_us, running_key = :run_key, running_since_us = {now},
  version = version + 1
where name = :name and {unchanged} and running_us is null;

-- name: schedule.end
-- in: name, tick_us
update {schedule} set running_us = null, running_key = null, running_since_us = null,
  version = version + 1
where name = :name and running_us = :tick_us;

-- Whoever goes on with the tick that runs, or ends it, has seen it as it is.
-- name: schedule.seen
-- in: name, version
update {schedule} set version = version + 1 where name = :name and {unchanged};

-- Before a tick of it is tried again by hand: one that is pruned meanwhile is gone, or stays.
-- name: schedule.touch
-- in: name
update {schedule} set version = version + 1 where name = :name and state <> 2;

-- What people change.
-- name: schedule.set
-- in: name, version, state, decided_us, window_us
update {schedule} set state = :state, decided_us = :decided_us, window_us = :window_us,
  version = version + 1
where name = :name and {unchanged};

-- `ticks` in a row, from `first_us` to `tick_us`. `due_us` null: now.
-- name: tick.add
-- in: schedule, tick_us, first_us, ticks, state, window_us, by_hand, run_key, reason
insert into {tick} (schedule, tick_us, first_us, ticks, state, window_us, due_us, launched_us,
  ended_us, failures, crashes, by_hand, run_key, reason)
select :schedule{::text}, :tick_us{::bigint}, :first_us{::bigint}, :ticks{::bigint},
  :state{::smallint}, :window_us{::bigint}, clock.us,
  case when :state{::smallint} = 1 then clock.us end,
  case when :state{::smallint} = 4 then clock.us end,
  0, 0, :by_hand{::smallint}, :run_key{::text}, :reason{::text}
from (select {now} as us) as clock;

-- More that are skipped for the same reason as those just before them.
-- name: tick.extend
-- in: schedule, was_us, tick_us, ticks, run_key, reason
update {tick} set tick_us = :tick_us, ticks = ticks + :ticks, window_us = :tick_us,
  run_key = :run_key, ended_us = {now}
where schedule = :schedule and tick_us = :was_us and state = 4 and reason = :reason;

-- name: tick.begin
-- in: schedule, tick_us
update {tick} set state = 1, launched_us = coalesce(launched_us, {now})
where schedule = :schedule and tick_us = :tick_us and state = 0 and due_us <= {now};

-- Its run was freed because its holder died, by us or by another who has not gone on with it.
-- Within the start that takes it over, before that.
-- name: tick.crashed
-- in: schedule, tick_us, run_key
update {tick} set crashes = crashes + 1
where schedule = :schedule and tick_us = :tick_us and state = 1
  and exists (select 1 from {run} r where r.process = :schedule and r.run_key = :run_key
              and r.state = -2 and r.error = 'its holder died');

-- `delay_us`: until it is tried again, of one that is due again (state 0).
-- name: tick.end
-- in: schedule, tick_us, state, failures, delay_us, reason
update {tick} set state = :state, failures = :failures, due_us = {now} + :delay_us,
  reason = :reason,
  ended_us = case when :state = 0 then null else {now} end
where schedule = :schedule and tick_us = :tick_us and state = 1;

-- What failed is due again, because a person says so.
-- name: tick.again
-- in: schedule, tick_us
update {tick} set state = 0, failures = 0, crashes = 0, due_us = {now}, ended_us = null,
  by_hand = case when by_hand = 1 then 1 else 2 end
where schedule = :schedule and tick_us = :tick_us and state = 3;

-- name: tick.find
-- in: schedule, tick_us
-- out: tick_us, first_us, ticks, state, window_us, due_us, launched_us, ended_us, failures,
--   crashes, by_hand, run_key, reason
select tick_us, first_us, ticks, state, window_us, due_us, launched_us, ended_us, failures, crashes,
  by_hand, run_key, reason
from {tick} where schedule = :schedule and tick_us = :tick_us;

-- The one to try next of those that are due. `paused`: of those that a person asked for.
-- name: tick.next_open
-- in: schedule, paused
-- out: tick_us, first_us, ticks, state, window_us, due_us, launched_us, ended_us, failures,
--   crashes, by_hand, run_key, reason
select tick_us, first_us, ticks, state, window_us, due_us, launched_us, ended_us, failures, crashes,
  by_hand, run_key, reason
from {tick} where schedule = :schedule and state = 0 and due_us <= {now}
  and (:paused = 0 or by_hand > 0)
order by due_us, tick_us limit 1;

-- The newest first. `state` -1: any.
-- name: tick.list
-- in: schedule, before_us, state, limit
-- out: tick_us, first_us, ticks, state, window_us, due_us, launched_us, ended_us, failures,
--   crashes, by_hand, run_key, reason
select tick_us, first_us, ticks, state, window_us, due_us, launched_us, ended_us, failures, crashes,
  by_hand, run_key, reason
from {tick} where schedule = :schedule and tick_us < :before_us and (:state = -1 or state = :state)
order by tick_us desc limit :limit;

-- The newest of those beyond `keep`.
-- name: tick.cutoff
-- in: schedule, keep
-- out: tick_us
select tick_us from {tick} where schedule = :schedule
order by tick_us desc limit 1 offset :keep;

-- Which of them go now: a piece, marked for tick.prune in the same transaction. What has a run that
-- is in hand, or waits for a person, stays; so does what is tried again since the piece was read.
-- name: tick.mark
-- in: schedule, cutoff_us, failed, piece
update {tick} set state = 5
where schedule = :schedule and (state in (2, 4) or (state = 3 and :failed = 1)) and tick_us in (
  select t.tick_us from {tick} t
  where t.schedule = :schedule and t.tick_us <= :cutoff_us
    and (t.state in (2, 4) or (t.state = 3 and :failed = 1))
    and not exists (select 1 from {run} r where r.process = t.schedule and r.run_key = t.run_key
                    and r.state in (9, 8, -4))
  order by t.tick_us limit :piece);

-- Forgets what is marked, and its runs. None of it comes again: see decided_us.
-- name: tick.prune
-- in: schedule, cutoff_us
delete from {step} where process = :schedule and run_key in (
  select run_key from {tick}
  where schedule = :schedule and tick_us <= :cutoff_us and state = 5);
-- then
delete from {intent} where process = :schedule and run_key in (
  select run_key from {tick}
  where schedule = :schedule and tick_us <= :cutoff_us and state = 5);
-- then
delete from {carry} where process = :schedule and run_key in (
  select run_key from {tick}
  where schedule = :schedule and tick_us <= :cutoff_us and state = 5);
-- then
delete from {attempt} where process = :schedule and run_key in (
  select run_key from {tick}
  where schedule = :schedule and tick_us <= :cutoff_us and state = 5);
-- then
delete from {run} where process = :schedule and run_key in (
  select run_key from {tick}
  where schedule = :schedule and tick_us <= :cutoff_us and state = 5);
-- then
delete from {tick} where schedule = :schedule and tick_us <= :cutoff_us and state = 5;
