-- name: operate.release
with released as (
  update {run} set state = -2, ended_us = clock.us, error = :error, version = version + 1,
    progress_done = coalesce(:progress_done::bigint, progress_done),
    progress_total = coalesce(:progress_total::bigint, progress_total),
    progress_note = coalesce(:progress_note::text, progress_note)
  from (select {now} as us) as clock
  where process = :process and run_key = :key and epoch = :epoch
    and acquisition = :acquisition and state in (9, 8)
  returning process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
    ended_us, state, error
)
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  ended_us, state, error, :in_hand::text from released;

-- name: operate.idle_holders
select h.uuid from {holder} h
where coalesce(h.ended_us, h.lease_until_us) < :before_us and h.uuid > :after
  and not exists (select from {run} r where r.holder = h.uuid)
  and not exists (select from {attempt} a where a.holder = h.uuid)
order by h.uuid limit :limit::bigint;

-- name: operate.prune_holders
delete from {holder}
where uuid = any (array(select r->>0 from json_array_elements(:uuids::json) as r))
  and coalesce(ended_us, lease_until_us) < :before_us;
