-- name: schedule.make
insert ignore into {schedule} (name, cron, zone, gap, fold, catch_up, most, grace_us, overlap,
  attempts, backoff_us, longest_backoff_us, crash_limit, keep, decided_us, window_us, created_us,
  state, version, decisions)
select :name, :cron, :zone, :gap, :fold, :catch_up, :most,
  :grace_us, :overlap, :attempts, :backoff_us,
  :longest_backoff_us, :crash_limit, :keep,
  coalesce(:since_us, clock.us), coalesce(:since_us, clock.us), clock.us, 0, 1, 0
from (select {now} as us) as clock;

-- name: tick.mark
update {tick} gone join (
  select t.tick_us from {tick} t
  where t.schedule = :schedule and t.tick_us <= :cutoff_us
    and (t.state in (2, 4) or (t.state = 3 and :failed = 1))
    and not exists (select 1 from {run} r where r.process = t.schedule and r.run_key = t.run_key
                    and r.state in (9, 8, -4))
  order by t.tick_us limit :piece) as p on p.tick_us = gone.tick_us
set gone.state = 5
where gone.schedule = :schedule
  and (gone.state in (2, 4) or (gone.state = 3 and :failed = 1));

-- name: tick.prune
delete gone from {step} gone join {tick} t
  on t.schedule = gone.process and t.run_key = gone.run_key
where t.schedule = :schedule and t.tick_us <= :cutoff_us and t.state = 5;
-- then
delete gone from {intent} gone join {tick} t
  on t.schedule = gone.process and t.run_key = gone.run_key
where t.schedule = :schedule and t.tick_us <= :cutoff_us and t.state = 5;
-- then
delete gone from {carry} gone join {tick} t
  on t.schedule = gone.process and t.run_key = gone.run_key
where t.schedule = :schedule and t.tick_us <= :cutoff_us and t.state = 5;
-- then
delete gone from {attempt} gone join {tick} t
  on t.schedule = gone.process and t.run_key = gone.run_key
where t.schedule = :schedule and t.tick_us <= :cutoff_us and t.state = 5;
-- then
delete gone from {run} gone join {tick} t
  on t.schedule = gone.process and t.run_key = gone.run_key
where t.schedule = :schedule and t.tick_us <= :cutoff_us and t.state = 5;
-- then
delete from {tick} where schedule = :schedule and tick_us <= :cutoff_us and state = 5;
