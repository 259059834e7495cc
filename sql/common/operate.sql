-- What people change. Each is guarded in its own `where`, by state and epoch: it hits once, and no
-- attempt that came later. `change` is written in the same transaction, only where it hit.

-- name: operate.look
-- in: process, key
-- out: state, run_no, attempt, epoch, acquisition, in_hand
select r.state, r.run_no, r.attempt, r.epoch, r.acquisition, coalesce(h.in_hand, '')
from {run} r left join {holder} h on h.uuid = r.holder
where r.process = :process and r.run_key = :key;

-- Takes the run from its holder, dead or alive: the attempt goes to the history, and the fence
-- of its holder fails from then on.
-- name: operate.release
-- in: process, key, epoch, acquisition, error, in_hand, progress_done, progress_total,
--   progress_note

-- So that its holder hears of it with its next renewal.
-- name: operate.recall
-- in: process, key
update {holder} set recalls = coalesce(recalls, 0) + 1
where uuid = (select r.holder from {run} r where r.process = :process and r.run_key = :key);

-- Discards what is there: the next start begins afresh, also one that asks for `once`.
-- name: operate.restart
-- in: process, key, epoch
update {run} set succeeded_us = null, version = version + 1, state = -5
where process = :process and run_key = :key and epoch = :epoch
  and (state in (0, -1, -2, -3, -4) or (state = -5 and succeeded_us is not null));

-- The run's part in settling an intent: with its last one it waits for nobody any more. The intent
-- itself must be there to be deleted, in the same transaction.
-- name: operate.resolve
-- in: process, key, epoch, done
update {run} set steps_done = steps_done + :done{::int}, version = version + 1,
  state = case when state = -4 and open_intents <= 1 then -2 else state end,
  unknown_intents = case when open_intents <= 1 then 0 else unknown_intents end,
  open_intents = open_intents - 1
where process = :process and run_key = :key and epoch = :epoch
  and state in (-1, -2, -3, -4) and open_intents > 0;

-- It counts as done by the attempt that began it.
-- name: operate.record_step
-- in: process, key, run_no, name, value
insert into {step} (process, run_key, run_no, name, seq, attempt, epoch, acquisition, ended_us,
  value, mode)
select i.process, i.run_key, i.run_no, i.name, r.steps_done, i.attempt, i.epoch, i.token,
  {now}, :value{::text}, 3
from {intent} i join {run} r on r.process = i.process and r.run_key = i.run_key
where i.process = :process and i.run_key = :key and i.run_no = :run_no and i.name = :name;

-- name: operate.change
-- in: process, key, actor, action, reason, detail, request
insert into {change} (at_us, process, run_key, actor, action, reason, detail, request)
values ({now}, :process, :key, :actor, :action, :reason, :detail, :request{::text});

-- name: operate.changed
-- in: process, key, actor, action, reason, detail
-- out: found
select count(*) from {change}
where process = :process and run_key = :key and actor = :actor and action = :action
  and reason = :reason and detail = :detail;

-- name: operate.changes
-- in: process, key
-- out: at_us, actor, action, reason, detail
select at_us, actor, action, reason, detail from {change}
where process = :process and run_key = :key order by id;

-- The newest of the whole book; null: any.
-- name: operate.all_changes
-- in: actor, process, action, request, since_us, before, limit
-- out: id, at_us, process, run_key, actor, action, reason, detail
select id, at_us, process, run_key, actor, action, reason, detail from {change}
where id < :before{::bigint} and at_us >= :since_us{::bigint}
  and (:actor{::text} is null or actor = :actor{::text})
  and (:process{::text} is null or process = :process{::text})
  and (:action{::text} is null or action = :action{::text})
  and (:request{::text} is null or request = :request{::text})
order by id desc limit :limit{::bigint};

-- Whoever is second waits here until the first has committed.
-- name: operate.take_turns
update {version} set oldest = oldest where only_row = 1;

-- For a change without a guarded write of its own.
-- name: operate.change_once
-- in: process, key, actor, action, reason, detail, request, since_us
insert into {change} (at_us, process, run_key, actor, action, reason, detail, request)
select {now}, :process{::text}, :key{::text}, :actor{::text}, :action{::text}, :reason{::text},
  :detail{::text}, :request{::text}
where not exists (select 1 from {change} c where c.process = :process{::text}
                    and c.run_key = :key{::text}
                    and c.actor = :actor{::text} and c.action = :action{::text}
                    and c.reason = :reason{::text}
                    and c.detail = :detail{::text} and c.at_us >= :since_us);

-- name: operate.processes
-- out: process
select distinct process from {run} order by process;

-- The keys of a piece of a process, in their order.
-- name: operate.keys
-- in: process, after, limit
-- out: run_key
select run_key from {run} where process = :process and run_key > :after
order by run_key limit :limit{::bigint};

-- What is deleted is old and of a run that nobody has in hand; and of a run's last round only
-- where it is over: an unfinished run keeps what it has done, begun and carried.
-- Ranges of keys: the walk touches each row once.
-- name: operate.prune_attempts
-- in: process, after, last, before_us, limit
delete from {attempt} where (process, run_key, epoch) in (
  select d.process, d.run_key, d.epoch from {attempt} d
  where d.process = :process and d.run_key > :after and d.run_key <= :last
    and d.ended_us < :before_us
    and exists (select 1 from {run} r where r.process = d.process
                  and r.run_key = d.run_key and r.state not in (9, 8))
  limit :limit{::bigint});

-- name: operate.prune_steps
-- in: process, after, last, before_us, limit
delete from {step} where (process, run_key, run_no, name) in (
  select d.process, d.run_key, d.run_no, d.name from {step} d
  where d.process = :process and d.run_key > :after and d.run_key <= :last
    and d.ended_us < :before_us
    and exists (select 1 from {run} r where r.process = d.process
                  and r.run_key = d.run_key and r.state not in (9, 8)
                  and (d.run_no < r.run_no or (r.state in (0, -5) and r.ended_us < :before_us)))
  limit :limit{::bigint});

-- name: operate.prune_carried
-- in: process, after, last, before_us, limit
delete from {carry} where (process, run_key, run_no, name) in (
  select d.process, d.run_key, d.run_no, d.name from {carry} d
  where d.process = :process and d.run_key > :after and d.run_key <= :last
    and d.updated_us < :before_us
    and exists (select 1 from {run} r where r.process = d.process
                  and r.run_key = d.run_key and r.state not in (9, 8)
                  and (d.run_no < r.run_no or (r.state in (0, -5) and r.ended_us < :before_us)))
  limit :limit{::bigint});

-- name: operate.prune_intents
-- in: process, after, last, before_us, limit
delete from {intent} where (process, run_key, run_no, name) in (
  select d.process, d.run_key, d.run_no, d.name from {intent} d
  where d.process = :process and d.run_key > :after and d.run_key <= :last
    and d.started_us < :before_us
    and exists (select 1 from {run} r where r.process = d.process
                  and r.run_key = d.run_key and r.state not in (9, 8)
                  and (d.run_no < r.run_no or (r.state in (0, -5) and r.ended_us < :before_us)))
  limit :limit{::bigint});

-- Only where nothing is left under the key: a fresh one begins with epoch 1, as its history did.
-- The condition stands outside again, for a start may come between finding and deleting.
-- name: operate.prune_runs
-- in: process, after, last, before_us, limit
delete from {run} where (process, run_key) in (
  select d.process, d.run_key from {run} d
  where d.process = :process and d.run_key > :after and d.run_key <= :last
    and d.state in (0, -5) and d.ended_us < :before_us
    and not exists (select 1 from {attempt} a where a.process = d.process
                      and a.run_key = d.run_key)
    and not exists (select 1 from {step} s where s.process = d.process
                      and s.run_key = d.run_key)
    and not exists (select 1 from {carry} c where c.process = d.process
                      and c.run_key = d.run_key)
    and not exists (select 1 from {intent} i where i.process = d.process
                      and i.run_key = d.run_key)
  limit :limit{::bigint})
  and state in (0, -5) and ended_us < :before_us;

-- Holders of long ago that nothing names, a page by their uuids: read once for many, for it reads all
-- runs and attempts. Nothing comes to name one that is not alive, so what is found stays so.
-- name: operate.idle_holders
-- in: before_us, after, limit
-- out: uuid

-- Rows of [uuid]. One that has renewed its lease since stays.
-- name: operate.prune_holders
-- in: uuids, before_us
