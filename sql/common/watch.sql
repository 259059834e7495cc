-- A queue that follows a table of the application: what is remembered of it, its triggers, and the
-- comparison of its rows with the members. Casts stand on our side, so that the index of the one
-- that is asked for by key serves.

-- name: watch.put
-- in: queue, table, key
insert into {watch} (queue, created_us, source, key_column)
values (:queue, {now}, :table, :key)
on conflict (queue) do update set source = excluded.source, key_column = excluded.key_column,
  installed_us = null, reconciled_us = null;

-- name: watch.look
-- in: queue
-- out: source, key_column, installed_us, reconciled_us
select source, key_column, installed_us, reconciled_us from {watch} where queue = :queue;

-- name: watch.names
-- out: name
select q.name from {watch} w join {queue} q on q.id = w.queue order by q.name;

-- name: watch.remove
-- in: queue
delete from {watch} where queue = :queue;

-- name: watch.set_installed
-- in: queue, installed
update {watch} set installed_us = case when :installed{::int} = 1 then {now} end where queue = :queue;

-- name: watch.set_reconciled
-- in: queue
update {watch} set reconciled_us = {now} where queue = :queue;

-- Those of ours, whose names begin so: on a table; and on whichever, for one that is renamed keeps
-- them.
-- name: watch.triggers
-- in: schema, table, prefix
-- out: here, anywhere

-- What goes around a key of ours, to be compared with the column by the column's own collation
-- (null: tables::value_of); and around the value where a page has ended.
-- name: watch.conversion
-- in: schema, table, key
-- out: key_from, key_to, mark_from, mark_to

-- name: watch.install
-- holes: id, own, source, place, own_schema, book_schema, name, of_key, key, new_key, old_key,
--   page_ok, new_ok, period_us, grain_us, rounds, on_new, segment_size

-- name: watch.uninstall
-- holes: id, own, place
drop trigger if exists {place}.{prefix}watch_{own}_insert;
-- then
drop trigger if exists {place}.{prefix}watch_{own}_delete;
-- then
drop trigger if exists {place}.{prefix}watch_{own}_update;

-- Only values of the column's kind: SQLite's columns may hold others.
-- name: watch.typed
-- holes: value, type
true;

-- A page of the table's rows, in the order of its index.
-- name: watch.first_rows
-- in: queue, count
-- out: value, key, can_be, missing
-- holes: source, column, key, page_ok

-- name: watch.next_rows
-- in: queue, count, mark
-- out: value, key, can_be, missing
-- holes: source, column, key, page_ok, mark_from, mark_to

-- A page of the members, in the order of their keys.
-- name: watch.members
-- in: queue, count, after
-- out: id, key, extra
-- holes: source, column, key, value

-- Of these ids, members that still have no row.
-- name: watch.drop_members
-- in: rows
-- holes: source, column, key, value
