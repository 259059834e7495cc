-- Planners, and what they know of keys.

-- name: planner.make
-- in: name, every_us, timeout_us, since_us, again_us, few, queue, page, most, unit_count,
--   strategy, rule, priority, unit, newest_first, in_memory, source, key_columns,
--   created_column, check_sql
insert into {planner} (
  created_us, next_us, passes, launched, paused, error, name, every_us, timeout_us, since_us,
  again_us, few, queue, page, most, unit_count, strategy, rule, priority, unit, newest_first,
  in_memory, source, key_columns, created_column, check_sql)
values ({now}, {now}, 0, 0, 0, '', :name, :every_us, :timeout_us, :since_us, :again_us, :few, :queue,
  :page, :most, :unit_count, :strategy, :rule, :priority, :unit, :newest_first, :in_memory,
  :source, :key_columns, :created_column, :check_sql)
on conflict (name) do nothing;

-- The next pass is no later than it were after one just now. Not what a pass under way rests on: its
-- queue and kind, and what a sweep (3) cuts.
-- name: planner.change
-- in: name, every_us, timeout_us, since_us, again_us, few, queue, page, most, unit_count,
--   strategy, rule, priority, unit, newest_first, in_memory, source, key_columns,
--   created_column, check_sql
update {planner} set
  every_us = :every_us, timeout_us = :timeout_us, since_us = :since_us, again_us = :again_us,
  few = :few, queue = :queue, page = :page, most = :most, unit_count = :unit_count,
  strategy = :strategy, rule = :rule, priority = :priority, unit = :unit,
  newest_first = :newest_first, in_memory = :in_memory, source = :source,
  key_columns = :key_columns, created_column = :created_column, check_sql = :check_sql,
  next_us = {least}(next_us, {now} + :every_us)
where name = :name and queue = :queue and strategy = :strategy
  and (strategy <> 3 or (source = :source and key_columns = :key_columns
                         and created_column = :created_column));

-- That, where no pass is under way; planner.change follows, in the same transaction.
-- name: planner.turn
-- in: name, queue, strategy, source, key_columns, created_column
update {planner} set queue = :queue, strategy = :strategy, source = :source,
  key_columns = :key_columns, created_column = :created_column
where name = :name;

-- name: planner.look
-- in: name
-- out: id, next_us, ended_us, passes, launched, paused, error, every_us,
--   timeout_us, since_us, again_us, few, queue, page, most, unit_count, strategy, rule,
--   priority, unit, newest_first, in_memory, source, key_columns, created_column, check_sql,
--   now_us
select p.id, p.next_us, p.ended_us, p.passes, p.launched, p.paused, p.error,
  p.every_us, p.timeout_us, p.since_us, p.again_us, p.few, q.name, p.page, p.most, p.unit_count,
  p.strategy, p.rule, p.priority, p.unit, p.newest_first, p.in_memory, p.source, p.key_columns,
  p.created_column, p.check_sql, {now}
from {planner} p join {queue} q on q.id = p.queue where p.name = :name;

-- name: planner.names
-- out: name
select name from {planner} order by name;

-- name: planner.pause
-- in: planner, paused
update {planner} set paused = :paused where id = :planner and paused <> :paused;

-- When a pass is to be made, from now; empty: none is.
-- name: planner.due
-- in: name
-- out: due_in_us
select next_us - {now} from {planner} where name = :name and paused = 0;

-- The end of a pass, with that of its run.
-- name: planner.passed
-- in: planner, began_us, error
update {planner} set passes = passes + 1, ended_us = {now}, error = :error,
  next_us = :began_us + every_us
where id = :planner;

-- With its page, so that what a pass that dies has launched counts, too.
-- name: planner.launched
-- in: planner, count
update {planner} set launched = launched + :count where id = :planner;

-- The steps of the passes before.
-- name: planner.forget_steps
-- in: process, key, run_no
delete from {step} where process = :process and run_key = :key and run_no < :run_no;

-- What is known of these keys, rows of [key].
-- name: planned.of
-- in: planner, keys
-- out: key, launches, first_us, last_us

-- Rows of [key].
-- name: planned.launch
-- in: planner, keys

-- Rows of [key, reason].
-- name: planned.refuse
-- in: planner, keys

-- name: planned.refused
-- in: planner, after, limit
-- out: key, reason, first_us, last_us, refusals
select planned_key, reason, first_refused_us, last_refused_us, refusals from {planned}
where planner = :planner and standing = 2 and planned_key > :after
order by planned_key limit :limit;

-- name: planned.count_refused
-- in: planner
-- out: refused
select count(*) from {planned} where planner = :planner and standing = 2;

-- name: planned.find
-- in: planner, key
-- out: launches, first_us, last_us, refusals, first_refused_us, last_refused_us, reason
select launches, first_us, last_us, refusals, first_refused_us, last_refused_us, reason
from {planned} where planner = :planner and planned_key = :key;

-- name: planned.forget
-- in: planner, key
delete from {planned} where planner = :planner and planned_key = :key;

-- Those from a key to another.
-- name: planned.prune
-- in: planner, low, high, limit
delete from {planned}
where planner = :planner
  and planned_key in (select x.planned_key from {planned} x
                      where x.planner = :planner and x.planned_key >= :low
                        and x.planned_key < :high
                      order by x.planned_key limit :limit);

-- Those rows of a query that were never launched by this planner. The cast stands on the query's
-- side, so that our key's index serves.
-- name: planned.new_rows
-- holes: query, columns, planner

-- How the engine would execute a query of the application's.
-- name: planned.explain
-- holes: query
explain {query};

-- Whether any adds to a queue.
-- name: queue.is_planned
-- in: queue
-- out: planned
select exists (select 1 from {planner} where queue = :queue);

-- What a queue does not forget, as it asks of each member (member.forget): those whose end a planner
-- has not seen yet, of a period that is not done, or of a sweep that is under way.
-- name: member.awaited
-- holes: in_queue, key
exists (select 1 from {planner} n
    join {planned_period} p on p.planner = n.id and p.period_key = {key}
  where n.queue = {in_queue} and p.state <> 2)
  or exists (select 1 from {planner} n
    join {sweep} w on w.planner = n.id
      and w.sweep = (select max(x.sweep) from {sweep} x where x.planner = n.id)
  where n.queue = {in_queue} and w.state <> 3
    and {key} > n.name || '/' || w.sweep || '/'
    and {key} < n.name || '/' || w.sweep || '0');
