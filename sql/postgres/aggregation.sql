-- Who writes by a declaration keeps it as it is until the transaction ends, and others from
-- declaring it otherwise, but nobody from taking turns.
-- name: aggregation.hold
select a.name from {aggregation} a where a.name = :name for key share;

-- name: aggregation.turn
select a.pass, a.position, {now} from {aggregation} a
where a.id = :aggregation for no key update;

-- name: aggregation.open
select o.open_group, o.parent_key, o.opened_us from {aggregation_parent} o
where o.aggregation = :aggregation
  and o.open_group = any (array(select j ->> 0 from json_array_elements(:groups::json) as j))
order by o.parent_key {lock};

-- name: aggregation.add_open
insert into {aggregation_parent} (aggregation, opened_us, parent_key, group_key, open_group)
select :aggregation, {now}, j.value ->> 0, j.value ->> 1, j.value ->> 1
from json_array_elements(:parents::json) with ordinality as j (value, place)
order by j.place on conflict do nothing;

-- name: aggregation.conversion
select '::' || f.type, '(', ')::' || f.type || f.collation
from (
  select case when b.typname = 'bpchar' then 'pg_catalog.bpchar' else 'pg_catalog.text' end as type,
    coalesce(' collate ' || pg_catalog.quote_ident(s.nspname) || '.'
               || pg_catalog.quote_ident(l.collname), '') as collation
  from pg_catalog.pg_attribute a
    join pg_catalog.pg_class c on c.oid = a.attrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_type t on t.oid = a.atttypid
    join pg_catalog.pg_type b on b.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
    left join pg_catalog.pg_collation l on l.oid = a.attcollation
    left join pg_catalog.pg_namespace s on s.oid = l.collnamespace
  where n.nspname = :schema and c.relname = :table and a.attname = :column
    and not a.attisdropped) as f;

-- name: aggregation.triggers
select count(*) from pg_catalog.pg_trigger t join pg_catalog.pg_class c on c.oid = t.tgrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = :schema and c.relname = :table and not t.tgisinternal and (t.tgtype & 16) <> 0;

-- name: aggregation.amount
coalesce(sum({column}), 0)::text, count(*) - count({column}),
  case when min({column}) < 0 then 1 else 0 end, 0;

-- name: aggregation.usual_amount
coalesce(sum({column}), 0)::text, count(*) - count({column}),
  case when min({column}) < 0 then 1 else 0 end, 0;

-- name: aggregation.group
({keys}) collate "C";

-- name: aggregation.separator
|| chr(31) ||;

-- name: aggregation.as_integer
{key}::bigint;

-- name: aggregation.given_integer
(j.value ->> {at})::bigint as {name};

-- name: aggregation.given_text
(j.value ->> {at}){type} as {name};

-- name: aggregation.given_group
(j.value ->> {at}) as {name};

-- name: aggregation.given_uuid
(j.value ->> {at})::uuid as {name};

-- name: aggregation.given_date
(j.value ->> {at})::date as {name};

-- name: aggregation.differ
{one} is distinct from {other};

-- name: aggregation.sum_differs
coalesce(r.{name}, 0) is distinct from {column};

-- name: aggregation.sum_text
coalesce(r.{name}, 0)::text;

-- Not by min and max, which know no uuids.
-- name: aggregation.range_first
with c as materialized (
  select {key} as k from {source} as s where {is_free} order by {key} limit :limit)
select (select c.k from c order by c.k limit 1), (select c.k from c order by c.k desc limit 1),
  (select count(*) from c),
  (select case when c.k <= :bound then 1 else 0 end from c order by c.k limit 1), '';

-- name: aggregation.range_next
with c as materialized (
  select {key} as k from {source} as s where {is_free} and {key} > :after
  order by {key} limit :limit)
select (select c.k from c order by c.k limit 1), (select c.k from c order by c.k desc limit 1),
  (select count(*) from c),
  (select case when c.k <= :bound then 1 else 0 end from c order by c.k limit 1), '';

-- name: aggregation.hold_rows
select {key} from {source} as s where {key} between :first and :last and {is_free}
order by {key} limit :limit for no key update skip locked;

-- name: aggregation.survey_held
select {group}, {first_key}, count(*), 0, {amounts}
from {source} as s
where {key} in (select g.daybook_key
                from (select {given_key} from json_array_elements(:keys::json) as j (value)) as g)
group by {apart};

-- name: aggregation.make_parents
insert into {parent} ({columns})
select {values} from (
  select g.daybook_key, {group_columns}
  from (select {given} from json_array_elements(:parents::json) as j (value)) as g
  join {source} as s on {key} = g.daybook_first and {group} = g.daybook_group) as daybook_row;

-- name: aggregation.take
with u as (
  update {source} as s set {state} = {taken}, {link} = o.daybook_key
  from (select {as_link} as daybook_key, o.open_group as daybook_group,
          o.parent_key as daybook_parent
        from {aggregation_parent} as o
        where o.aggregation = :aggregation and o.open_group is not null) as o
  where {key} between :first and :last and {is_free} and o.daybook_group = {group}
    and (:excluded::text = '[]' or {group} <> all (array(
      select e #>> '{{}}' from json_array_elements(:excluded::text::json) as e)))
  returning o.daybook_group, o.daybook_parent,
    case when {is_taken} = o.daybook_key then 1 else 0 end as well, {returned})
select u.daybook_group, u.daybook_parent, count(*), count(*) - sum(u.well), {amounts_of} from u
group by 1, 2;

-- name: aggregation.take_held
with u as (
  update {source} as s set {state} = {taken}, {link} = o.daybook_key
  from (select {as_link} as daybook_key, o.open_group as daybook_group,
          o.parent_key as daybook_parent
        from {aggregation_parent} as o
        where o.aggregation = :aggregation and o.open_group is not null) as o
  where {key} in (select g.daybook_key
                  from (select {given_key} from json_array_elements(:keys::json) as j (value)) as g)
    and o.daybook_group = {group}
    and (:excluded::text = '[]' or {group} <> all (array(
      select e #>> '{{}}' from json_array_elements(:excluded::text::json) as e)))
  returning o.daybook_group, o.daybook_parent,
    case when {is_taken} = o.daybook_key then 1 else 0 end as well, {returned})
select u.daybook_group, u.daybook_parent, count(*), count(*) - sum(u.well), {amounts_of} from u
group by 1, 2;

-- How long a statement of this transaction waits for what others hold, in milliseconds; and how
-- long it did.
-- name: aggregation.wait
select pg_catalog.current_setting('lock_timeout'),
  pg_catalog.set_config('lock_timeout', :limit::text, true);

-- Whether taking rows waits for those that others hold.
-- name: aggregation.take_waits
true;

-- Locked first, in the order that they have in :rows: how an update is joined is the engine's to
-- choose, and two in different orders wait for each other.
-- name: aggregation.set_parents
with g as materialized (
  select {given}, j.place from json_array_elements(:rows::json) with ordinality as j (value, place)),
held as materialized (
  select g.place from g join {parent} as p on {parent_key} = g.daybook_key
  order by g.place for no key update of p)
update {parent} as p set {changes} from g
where {parent_key} = g.daybook_key and {condition} and (select count(*) from held) >= 0;

-- name: aggregation.follow
update {parent} as p set {following}
where {parent_key} in (
  select g.daybook_key
  from (select {given} from json_array_elements(:rows::json) as j (value)) as g);

-- name: aggregation.open_values
select o.open_group, o.parent_key, case when {parent_key} is null then 0 else 1 end,
  {parent_values}
from {aggregation_parent} as o left join {parent} as p on {parent_key} = {key_text}
where o.aggregation = :aggregation
  and o.open_group = any (array(select j ->> 0 from json_array_elements(:groups::json) as j));

-- name: aggregation.move_rows
with u as (
  update {source} as s set {changes} where {of_parent}
  returning case when {is_done} then 1 else 0 end as well, {returned})
select '', '', count(*), count(*) - coalesce(sum(u.well), 0), {amounts_of} from u;
