-- `for update` as in run.free.
-- name: operate.release
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  {now}, -2, :error, :in_hand
from {run} where process = :process and run_key = :key and epoch = :epoch
  and acquisition = :acquisition and state in (9, 8)
for update;
-- then
update {run} set ended_us = {now}, error = :error, version = version + 1,
  progress_done = coalesce(:progress_done, progress_done),
  progress_total = coalesce(:progress_total, progress_total),
  progress_note = coalesce(:progress_note, progress_note), state = -2
where process = :process and run_key = :key and epoch = :epoch
  and acquisition = :acquisition and state in (9, 8);

-- name: operate.change_once
insert into {change} (at_us, process, run_key, actor, action, reason, detail, request)
select {now}, :process, :key, :actor, :action, :reason, :detail, :request from dual
where not exists (select 1 from {change} c where c.process = :process and c.run_key = :key
                    and c.actor = :actor and c.action = :action and c.reason = :reason
                    and c.detail = :detail and c.at_us >= :since_us);

-- name: operate.prune_attempts
delete from {attempt}
where process = :process and run_key > :after and run_key <= :last
  and {attempt}.ended_us < :before_us
  and exists (select 1 from {run} r where r.process = {attempt}.process
                and r.run_key = {attempt}.run_key and r.state not in (9, 8))
limit :limit;

-- name: operate.prune_steps
delete from {step}
where process = :process and run_key > :after and run_key <= :last
  and {step}.ended_us < :before_us
  and exists (select 1 from {run} r where r.process = {step}.process
                and r.run_key = {step}.run_key and r.state not in (9, 8)
                and ({step}.run_no < r.run_no or (r.state in (0, -5) and r.ended_us < :before_us)))
limit :limit;

-- name: operate.prune_carried
delete from {carry}
where process = :process and run_key > :after and run_key <= :last
  and {carry}.updated_us < :before_us
  and exists (select 1 from {run} r where r.process = {carry}.process
                and r.run_key = {carry}.run_key and r.state not in (9, 8)
                and ({carry}.run_no < r.run_no or (r.state in (0, -5) and r.ended_us < :before_us)))
limit :limit;

-- name: operate.prune_intents
delete from {intent}
where process = :process and run_key > :after and run_key <= :last
  and {intent}.started_us < :before_us
  and exists (select 1 from {run} r where r.process = {intent}.process
                and r.run_key = {intent}.run_key and r.state not in (9, 8)
                and ({intent}.run_no < r.run_no
                     or (r.state in (0, -5) and r.ended_us < :before_us)))
limit :limit;

-- name: operate.prune_runs
delete from {run}
where process = :process and run_key > :after and run_key <= :last
  and {run}.state in (0, -5) and {run}.ended_us < :before_us
  and not exists (select 1 from {attempt} a where a.process = {run}.process
                    and a.run_key = {run}.run_key)
  and not exists (select 1 from {step} s where s.process = {run}.process
                    and s.run_key = {run}.run_key)
  and not exists (select 1 from {carry} c where c.process = {run}.process
                    and c.run_key = {run}.run_key)
  and not exists (select 1 from {intent} i where i.process = {run}.process
                    and i.run_key = {run}.run_key)
limit :limit;

-- name: operate.idle_holders
select h.uuid from {holder} h
where coalesce(h.ended_us, h.lease_until_us) < :before_us and h.uuid > :after
  and not exists (select 1 from {run} r where r.holder = h.uuid)
  and not exists (select 1 from {attempt} a where a.holder = h.uuid)
order by h.uuid limit :limit;

-- name: operate.prune_holders
delete h from json_table(:uuids, '$[*]'
    columns (uuid varchar(64) character set utf8mb4 path '$[0]')) as given
  straight_join {holder} h force index (primary) on h.uuid = cast(given.uuid as binary)
where coalesce(h.ended_us, h.lease_until_us) < :before_us;
