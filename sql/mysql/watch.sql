-- name: watch.put
insert into {watch} (queue, created_us, source, key_column)
values (:queue, {now}, :table, :key)
on duplicate key update source = values(source), key_column = values(key_column),
  installed_us = null, reconciled_us = null;

-- name: watch.triggers
select coalesce(sum(g.event_object_table = :table), 0), count(*)
from information_schema.triggers g
where g.trigger_schema = :schema
  and substr(g.trigger_name, 1, char_length(:prefix)) = :prefix;

-- name: watch.conversion
select case when c.collation_name is not null then 'convert(convert(' end,
  concat(' using utf8mb4) using ', c.character_set_name, ') collate ', c.collation_name),
  case when c.collation_name is not null then 'convert(convert(' else 'cast(convert(' end,
  case when c.collation_name is not null
         then concat(' using utf8mb4) using ', c.character_set_name, ') collate ', c.collation_name)
       when c.data_type in ('date', 'uuid') then concat(' using utf8mb4) as ', c.data_type, ')')
       else ' using utf8mb4) as decimal(20, 0))' end
from information_schema.columns c
where c.table_schema = :schema and c.table_name = :table and c.column_name = :key;

-- Row triggers. Nobody's transaction waits for another's: an id is of a counter that no transaction
-- holds, each segment is new, and the queue's row is read without a lock. In the rights of whoever
-- installs them, so that the application needs none on our tables. When a member is due: see
-- member.arm. Keys are compared as bytes, whatever the column's collation. A "delete" of several
-- tables, although it is of one: that finds its row by the unique key, where the other reads a
-- small table whole, and waits for the rows of others. And a member is deleted by its id, where
-- this transaction sees it: by its key, at the server's own isolation level, others could add no
-- key beside it. Whether a member was added is asked for: within a trigger row_count() of an
-- "insert ignore" that hit a key says 1 (seen with 10.11). What a transaction sees may be old: a
-- member that others have deleted since, and added anew, is found by its key. Nor need it see the
-- queue, which may have been made since: options are then those of when the triggers were
-- installed. Where that is not so any more, the claim mends it, as for any member of before. Where
-- the table, the book and the session are of one schema, none is named (`own_schema`, `book_schema`
-- are empty): a dump can then be restored under another name. MySQL has no "or replace": there a
-- trigger is dropped first, and what the table's rows do in that moment the next reconcile finds.
-- name: watch.install
drop trigger if exists /*M! {own_schema}{prefix}watch_none */
  /*!80000 {own_schema}{prefix}watch_{own}_insert */;
-- then
create /*M! or replace */ trigger {own_schema}{prefix}watch_{own}_insert after insert
  on {own_schema}{name} for each row
begin
  declare fresh, size, grain, at_us bigint;
  declare by_round, at_once tinyint;
  if {new_ok} then
    insert into {book_schema}{prefix}watched_id values (null);
    set fresh = last_insert_id();
    delete w from {book_schema}{prefix}watched_id w where w.id = fresh;
    set at_us = {now};
    insert ignore into {book_schema}{prefix}member (id, queue, member_key, created_us)
    values (fresh, {id}, {new_key}, at_us);
    if exists (select 1 from {book_schema}{prefix}member where id = fresh) then
      select coalesce(max(period_us), {period_us}), coalesce(max(grain_us), {grain_us}),
        coalesce(max(rounds), {rounds}), coalesce(max(on_new), {on_new})
      into size, grain, by_round, at_once from {book_schema}{prefix}queue where id = {id};
      insert into {book_schema}{prefix}segment (hi, lo, queue, lane, state, attempts, crashes,
        period_us, due_us, turn_us)
      values (fresh + 1, fresh, {id}, 5, 0, 0, 0, size,
        case when by_round = 1 and at_once = 1 then 0
             when by_round = 1 then (at_us + 999999) div 1000000 * 1000000
             else at_us div grain * grain end,
        (at_us + grain - 1) div grain * grain);
    end if;
  end if;
end;
-- then
drop trigger if exists /*M! {own_schema}{prefix}watch_none */
  /*!80000 {own_schema}{prefix}watch_{own}_delete */;
-- then
create /*M! or replace */ trigger {own_schema}{prefix}watch_{own}_delete after delete
  on {own_schema}{name} for each row
begin
  declare gone bigint;
  select max(id) into gone from {book_schema}{prefix}member
  where queue = {id} and member_key = cast({old_key} as binary);
  if gone is not null then
    delete m from {book_schema}{prefix}member m where m.id = gone;
    if row_count() = 0 then set gone = null; end if;
  end if;
  if gone is null then
    delete m from {book_schema}{prefix}member m
    where m.queue = {id} and m.member_key = cast({old_key} as binary);
  end if;
end;
-- then
drop trigger if exists /*M! {own_schema}{prefix}watch_none */
  /*!80000 {own_schema}{prefix}watch_{own}_update */;
-- then
create /*M! or replace */ trigger {own_schema}{prefix}watch_{own}_update after update
  on {own_schema}{name} for each row
begin
  declare gone, fresh, size, grain, at_us bigint;
  declare by_round, at_once tinyint;
  if not cast({old_key} as binary) <=> cast({new_key} as binary) then
    select max(id) into gone from {book_schema}{prefix}member
    where queue = {id} and member_key = cast({old_key} as binary);
    if gone is not null then
      delete m from {book_schema}{prefix}member m where m.id = gone;
      if row_count() = 0 then set gone = null; end if;
    end if;
    if gone is null then
      delete m from {book_schema}{prefix}member m
      where m.queue = {id} and m.member_key = cast({old_key} as binary);
    end if;
    if {new_ok} then
      insert into {book_schema}{prefix}watched_id values (null);
      set fresh = last_insert_id();
      delete w from {book_schema}{prefix}watched_id w where w.id = fresh;
      set at_us = {now};
      insert ignore into {book_schema}{prefix}member (id, queue, member_key, created_us)
      values (fresh, {id}, {new_key}, at_us);
      if exists (select 1 from {book_schema}{prefix}member where id = fresh) then
        select coalesce(max(period_us), {period_us}), coalesce(max(grain_us), {grain_us}),
          coalesce(max(rounds), {rounds}), coalesce(max(on_new), {on_new})
        into size, grain, by_round, at_once from {book_schema}{prefix}queue where id = {id};
        insert into {book_schema}{prefix}segment (hi, lo, queue, lane, state, attempts, crashes,
          period_us, due_us, turn_us)
        values (fresh + 1, fresh, {id}, 5, 0, 0, 0, size,
          case when by_round = 1 and at_once = 1 then 0
               when by_round = 1 then (at_us + 999999) div 1000000 * 1000000
               else at_us div grain * grain end,
          (at_us + grain - 1) div grain * grain);
      end if;
    end if;
  end if;
end;

-- name: watch.first_rows
select p.k, p.k, case when {page_ok} then 1 else 0 end,
  case when exists (select 1 from {member} m
                    where m.queue = :queue and m.member_key = cast(p.k as binary))
    then 0 else 1 end
from (select {key} as k, {column} as place from {source} t order by {column} limit :count) as p
order by p.place;

-- name: watch.next_rows
select p.k, p.k, case when {page_ok} then 1 else 0 end,
  case when exists (select 1 from {member} m
                    where m.queue = :queue and m.member_key = cast(p.k as binary))
    then 0 else 1 end
from (select {key} as k, {column} as place from {source} t
      where {column} > {mark_from}:mark{mark_to}
      order by {column} limit :count) as p
order by p.place;

-- name: watch.members
select m.id, m.member_key,
  case when exists (select 1 from {source} t
                    where {column} = {value} and cast({key} as binary) = m.member_key)
    then 0 else 1 end
from (select id, member_key from {member} where queue = :queue and member_key > :after
      order by member_key limit :count) as m
order by m.member_key;

-- name: watch.drop_members
delete m from json_table(:rows, '$[*]' columns (id bigint path '$[0]')) as r
  straight_join {member} m on m.id = r.id
where not exists (select 1 from {source} t
                  where {column} = {value} and cast({key} as binary) = m.member_key);
