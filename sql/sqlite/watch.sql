-- name: watch.triggers
select coalesce(sum(g.tbl_name = :table), 0), count(*)
from sqlite_schema g
where g.type = 'trigger' and :schema = 'main'
  and substr(g.name, 1, length(:prefix)) = :prefix;

-- name: watch.conversion
select null, null, '(', ')' where :schema is not null and :table is not null and :key is not null;

-- Row triggers, in the transaction of the one writer. Names of tables stand without a schema, as
-- SQLite wants it. An id that is not used is nobody's. The condition is asked before the row that
-- answers it is there: under "insert or replace" a conflict here would be resolved so, too. When a
-- member is due: see member.arm.
-- name: watch.install
drop trigger if exists {place}.{prefix}watch_{own}_insert;
-- then
drop trigger if exists {place}.{prefix}watch_{own}_delete;
-- then
drop trigger if exists {place}.{prefix}watch_{own}_update;
-- then
create trigger {place}.{prefix}watch_{own}_insert after insert on {name}
when {new_ok} and not exists (
  select 1 from {prefix}member where queue = {id} and member_key = {new_key})
begin
  update {prefix}member_id set next_id = next_id + 1 where only_row = 1;
  insert into {prefix}member (id, queue, member_key, created_us)
  select i.next_id - 1, {id}, {new_key}, {now} from {prefix}member_id i;
  insert into {prefix}segment (hi, lo, queue, lane, state, attempts, crashes, period_us, due_us,
    turn_us)
  select i.next_id, i.next_id - 1, q.id, 5, 0, 0, 0, q.period_us,
    case when q.rounds = 1 and q.on_new = 1 then 0
         when q.rounds = 1 then (clock.us + 999999) / 1000000 * 1000000
         else clock.us / q.grain_us * q.grain_us end,
    (clock.us + q.grain_us - 1) / q.grain_us * q.grain_us
  from {prefix}member_id i, {prefix}queue q, (select {now} as us) as clock where q.id = {id};
end;
-- then
create trigger {place}.{prefix}watch_{own}_delete after delete on {name}
begin
  delete from {prefix}member where queue = {id} and member_key = {old_key};
end;
-- then
create trigger {place}.{prefix}watch_{own}_update after update{of_key} on {name}
when {old_key} collate binary is not {new_key}
begin
  delete from {prefix}member where queue = {id} and member_key = {old_key};
  update {prefix}member_id set next_id = next_id + 1 where only_row = 1;
  insert into {prefix}segment (hi, lo, queue, lane, state, attempts, crashes, period_us, due_us,
    turn_us)
  select i.next_id, i.next_id - 1, q.id, 5, 0, 0, 0, q.period_us,
    case when q.rounds = 1 and q.on_new = 1 then 0
         when q.rounds = 1 then (clock.us + 999999) / 1000000 * 1000000
         else clock.us / q.grain_us * q.grain_us end,
    (clock.us + q.grain_us - 1) / q.grain_us * q.grain_us
  from {prefix}member_id i, {prefix}queue q, (select {now} as us) as clock
  where q.id = {id} and {new_ok} and not exists (
    select 1 from {prefix}member where queue = {id} and member_key = {new_key});
  insert into {prefix}member (id, queue, member_key, created_us)
  select i.next_id - 1, {id}, {new_key}, {now} from {prefix}member_id i
  where {new_ok} and not exists (
    select 1 from {prefix}member where queue = {id} and member_key = {new_key});
end;

-- Only values of the column's kind: columns may hold others.
-- name: watch.typed
typeof({value}) = '{type}';

-- name: watch.first_rows
select p.value, p.k, case when {page_ok} then 1 else 0 end,
  case when exists (select 1 from {member} m where m.queue = :queue and m.member_key = p.k)
    then 0 else 1 end
from (select {column} as value, {key} as k from {source} t order by {column} limit :count) as p
order by p.value;

-- name: watch.next_rows
select p.value, p.k, case when {page_ok} then 1 else 0 end,
  case when exists (select 1 from {member} m where m.queue = :queue and m.member_key = p.k)
    then 0 else 1 end
from (select {column} as value, {key} as k from {source} t
      where {column} > {mark_from}:mark{mark_to}
      order by {column} limit :count) as p
order by p.value;

-- name: watch.members
select m.id, m.member_key,
  case when exists (select 1 from {source} t
                    where {column} = {value} and {key} collate binary = m.member_key)
    then 0 else 1 end
from (select id, member_key from {member} where queue = :queue and member_key > :after
      order by member_key limit :count) as m
order by m.member_key;

-- name: watch.drop_members
delete from {member} as m
where m.id in (select c0 from daybook_rows(:rows))
  and not exists (select 1 from {source} t
                  where {column} = {value} and {key} collate binary = m.member_key);
