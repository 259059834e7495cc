-- Those of ours, whose names begin so: on a table, where they fire; and on whichever, for one that
-- is renamed keeps them.
-- name: watch.triggers
select count(*) filter (where n.nspname = :schema and c.relname = :table and g.tgenabled <> 'D'),
  count(*)
from pg_catalog.pg_trigger g
  join pg_catalog.pg_class c on c.oid = g.tgrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where pg_catalog.substr(g.tgname, 1, pg_catalog.length(:prefix)) = :prefix;

-- name: watch.conversion
select case when f.text then '(' end, case when f.text then f.type end, '(', f.type
from (
  select l.oid is not null as text,
    ')::' || case when l.oid is null then pg_catalog.format_type(a.atttypid, a.atttypmod)
                  when a.atttypid = 'pg_catalog.bpchar'::pg_catalog.regtype then 'pg_catalog.bpchar'
                  else 'pg_catalog.text' end
      || coalesce(' collate ' || pg_catalog.quote_ident(s.nspname) || '.'
                    || pg_catalog.quote_ident(l.collname), '') as type
  from pg_catalog.pg_attribute a
    join pg_catalog.pg_class c on c.oid = a.attrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join pg_catalog.pg_collation l on l.oid = a.attcollation
    left join pg_catalog.pg_namespace s on s.oid = l.collnamespace
  where n.nspname = :schema and c.relname = :table and a.attname = :key
) as f;

-- Statement triggers, so that a thousand rows are a few segments. Nobody's transaction waits for
-- another's: ids are of a sequence, each segment is new. In the rights of whoever installs them, so
-- that the application needs none on our tables. `awake`, `told`: see wake.sql; when a member is
-- due: see member.arm. The tag around it is longer than a name may be, so that no column's ends it.
-- A transaction that has one snapshot for all its statements may still see a member that is gone:
-- there the index alone says which are there, at the cost of an id for each. Nor need it see the
-- queue, which may have been made since: `how` it is then done was written when the triggers were
-- installed. Where that is not so any more, the claim mends it, as for any member of before. It has
-- its owner's rights: nobody else may hang it on a table of theirs, nor have it take their
-- temporary types for the server's.
-- name: watch.install
create or replace function "{schema}".{prefix}watch_{id}() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as
$the_function_ends_with_this_tag_which_is_longer_than_any_name_can_be_in_it$
begin
  if tg_op = 'TRUNCATE' then
    delete from {member} where queue = {id};
    return null;
  elsif tg_op = 'DELETE' then
    delete from {member} m using (select {key} collate "C" as k from gone t) as g
    where m.queue = {id} and m.member_key = g.k;
    return null;
  elsif tg_op = 'UPDATE' then
    if not exists (select {key} collate "C" from gone t except select {key} collate "C" from fresh t)
    then
      return null;
    end if;
    delete from {member} m using (
      select {key} collate "C" as k from gone t except select {key} collate "C" from fresh t) as g
    where m.queue = {id} and m.member_key = g.k;
  end if;
  with clock as materialized (select {now} as us),
  given as materialized (
    select p.k from (select {key} collate "C" as k from fresh t) as p
    where {page_ok} and not exists (
      select from {member} m where m.queue = {id} and m.member_key = p.k
        and current_setting('transaction_isolation') in ('read committed', 'read uncommitted'))
  ),
  added as (
    insert into {member} (id, queue, member_key, created_us)
    select nextval('{watched_id}'), {id}, g.k, clock.us
    from (select k from given order by k) as g, clock
    on conflict (queue, member_key) do nothing returning id
  ),
  how as materialized (
    select coalesce(max(period_us), {period_us}) as period_us,
      coalesce(max(grain_us), {grain_us}) as grain_us, coalesce(max(rounds), {rounds}) as rounds,
      coalesce(max(on_new), {on_new}) as on_new,
      coalesce(max(segment_size), {segment_size}) as segment_size
    from {queue} where id = {id}
  ),
  ranges as materialized (
    select min(a.id) as lo, max(a.id) + 1 as hi
    from (select id, id - row_number() over (order by id) as island from added) as a
    group by a.island, a.id / (select segment_size from how)
  ),
  awake as materialized (
    select case
      when not pg_try_advisory_xact_lock_shared(hashtext('{schema}.{prefix}adds'), {id}) then false
      when not pg_try_advisory_lock(hashtext('{schema}.{prefix}sleeps'), {id}) then false
      else pg_advisory_unlock(hashtext('{schema}.{prefix}sleeps'), {id}) end as everybody
    from (select from ranges limit 1) as something
  ),
  told as materialized (
    select case when not everybody then pg_notify('{prefix}wake_{id}', '') end from awake
  )
  insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, due_us, turn_us)
  select r.hi, r.lo, {id}, 5, 0, 0, 0, q.period_us,
    case when q.rounds = 1 and q.on_new = 1 then 0
         when q.rounds = 1 then (clock.us + 999999) / 1000000 * 1000000
         else clock.us / q.grain_us * q.grain_us end,
    (clock.us + q.grain_us - 1) / q.grain_us * q.grain_us
  from ranges r, how q, clock, told;
  return null;
end
$the_function_ends_with_this_tag_which_is_longer_than_any_name_can_be_in_it$;
-- then
revoke all on function "{schema}".{prefix}watch_{id}() from public;
-- then
drop trigger if exists {prefix}watch_{own}_insert on {source};
-- then
drop trigger if exists {prefix}watch_{own}_delete on {source};
-- then
drop trigger if exists {prefix}watch_{own}_update on {source};
-- then
drop trigger if exists {prefix}watch_{own}_truncate on {source};
-- then
create trigger {prefix}watch_{own}_insert after insert on {source}
  referencing new table as fresh
  for each statement execute function "{schema}".{prefix}watch_{id}();
-- then
create trigger {prefix}watch_{own}_delete after delete on {source}
  referencing old table as gone
  for each statement execute function "{schema}".{prefix}watch_{id}();
-- then
create trigger {prefix}watch_{own}_update after update on {source}
  referencing old table as gone new table as fresh
  for each statement execute function "{schema}".{prefix}watch_{id}();
-- then
create trigger {prefix}watch_{own}_truncate after truncate on {source}
  for each statement execute function "{schema}".{prefix}watch_{id}();

-- From whatever table they are on by now.
-- name: watch.uninstall
drop function if exists "{schema}".{prefix}watch_{id}() cascade;

-- name: watch.first_rows
select p.value, p.k, case when {page_ok} then 1 else 0 end,
  case when exists (select from {member} m where m.queue = :queue and m.member_key = p.k)
    then 0 else 1 end
from (select {column}::text as value, {key} collate "C" as k, {column} as place from {source} t
      order by {column} limit :count) as p
order by p.place;

-- name: watch.next_rows
select p.value, p.k, case when {page_ok} then 1 else 0 end,
  case when exists (select from {member} m where m.queue = :queue and m.member_key = p.k)
    then 0 else 1 end
from (select {column}::text as value, {key} collate "C" as k, {column} as place from {source} t
      where {column} > {mark_from}:mark::text{mark_to}
      order by {column} limit :count) as p
order by p.place;

-- name: watch.members
select m.id, m.member_key,
  case when exists (select from {source} t
                    where {column} = {value} and {key} collate "C" = m.member_key)
    then 0 else 1 end
from (select id, member_key from {member} where queue = :queue and member_key > :after
      order by member_key limit :count) as m
order by m.member_key;

-- name: watch.drop_members
delete from {member} m
where m.id = any (array(select (r->>0)::bigint from json_array_elements(:rows::json) as r))
  and not exists (select from {source} t
                  where {column} = {value} and {key} collate "C" = m.member_key);
