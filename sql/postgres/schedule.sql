-- name: schedule.make
insert into {schedule} (name, cron, zone, gap, fold, catch_up, most, grace_us, overlap, attempts,
  backoff_us, longest_backoff_us, crash_limit, keep, decided_us, window_us, created_us, state,
  version, decisions)
select :name::text, :cron::text, :zone::text, :gap::smallint, :fold::smallint,
  :catch_up::smallint, :most::int, :grace_us::bigint, :overlap::smallint, :attempts::int,
  :backoff_us::bigint,
  :longest_backoff_us::bigint, :crash_limit::int, :keep::int,
  coalesce(:since_us::bigint, clock.us), coalesce(:since_us::bigint, clock.us), clock.us, 0, 1, 0
from (select {now} as us) as clock
on conflict do nothing;
