-- name: operate.release
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  {now}, -2, :error, :in_hand
from {run} where process = :process and run_key = :key and epoch = :epoch
  and acquisition = :acquisition and state in (9, 8);
-- then
update {run} set state = -2, ended_us = {now}, error = :error, version = version + 1,
  progress_done = coalesce(:progress_done, progress_done),
  progress_total = coalesce(:progress_total, progress_total),
  progress_note = coalesce(:progress_note, progress_note)
where process = :process and run_key = :key and epoch = :epoch
  and acquisition = :acquisition and state in (9, 8);

-- `not in`: those are gathered once here, where `not exists` would look for each anew.
-- name: operate.idle_holders
select h.uuid from {holder} h
where coalesce(h.ended_us, h.lease_until_us) < :before_us and h.uuid > :after
  and h.uuid not in (select holder from {run}) and h.uuid not in (select holder from {attempt})
order by h.uuid limit :limit;

-- name: operate.prune_holders
delete from {holder} where uuid in (select c0 from daybook_rows(:uuids))
  and coalesce(ended_us, lease_until_us) < :before_us;
