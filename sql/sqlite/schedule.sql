-- name: schedule.make
insert into {schedule} (name, cron, zone, gap, fold, catch_up, most, grace_us, overlap, attempts,
  backoff_us, longest_backoff_us, crash_limit, keep, decided_us, window_us, created_us, state,
  version, decisions)
select :name, :cron, :zone, :gap, :fold, :catch_up, :most,
  :grace_us, :overlap, :attempts, :backoff_us,
  :longest_backoff_us, :crash_limit, :keep,
  coalesce(:since_us, clock.us), coalesce(:since_us, clock.us), clock.us, 0, 1, 0
from (select {now} as us) as clock
where true
on conflict do nothing;
