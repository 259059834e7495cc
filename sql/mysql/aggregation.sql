-- A text of one says its character set: it would have the database's default, which may lack its
-- characters.

-- name: aggregation.begin
insert ignore into {aggregation_log} (at_us, items, aggregation, action, call_id, parent_key, actor,
  reason, detail)
values ({now}, 0, :aggregation, :action, :call, :parent, :actor, :reason, '');

-- name: aggregation.make
insert ignore into {aggregation} (created_us, changed_us, pass, name, declared)
values ({now}, {now}, 0, :name, :declared);

-- Who writes by a declaration keeps it as it is until the transaction ends, and others from
-- declaring it otherwise. Of the index of names alone, whose entry nobody locks but who declares:
-- others take their turns at the row meanwhile.
-- name: aggregation.hold
select a.name from {aggregation} a where a.name = :name lock in share mode;

-- name: aggregation.turn
select a.pass, a.position, {now} from {aggregation} a where a.id = :aggregation for update;

-- name: aggregation.open
select o.open_group, o.parent_key, o.opened_us from {aggregation_parent} o
where o.aggregation = :aggregation
  and o.open_group in (select cast(j.g as binary)
    from json_table(:groups, '$[*]'
      columns (g varchar(700) character set utf8mb4 path '$[0]')) as j)
order by o.parent_key {lock};

-- name: aggregation.add_open
insert ignore into {aggregation_parent} (aggregation, opened_us, parent_key, group_key, open_group)
select :aggregation, {now}, j.k, j.g, j.g
from json_table(:parents, '$[*]' columns (place for ordinality,
  k varchar(255) character set utf8mb4 path '$[0]',
  g varchar(700) character set utf8mb4 path '$[1]')) as j
order by j.place;

-- name: aggregation.conversion
select concat('character set ', c.character_set_name, ' collate ', c.collation_name),
  'convert(convert(',
  concat(' using utf8mb4) using ', c.character_set_name, ') collate ', c.collation_name)
from information_schema.columns c
where c.table_schema = :schema and c.table_name = :table and c.column_name = :column;

-- name: aggregation.triggers
select count(*) from information_schema.triggers t
where t.event_object_schema = :schema and t.event_object_table = :table
  and t.event_manipulation = 'UPDATE';

-- name: aggregation.amount
cast(coalesce(sum({column}), 0) as char), count(*) - count({column}),
  case when min({column}) < 0 then 1 else 0 end, 0;

-- name: aggregation.usual_amount
cast(coalesce(sum({column}), 0) as char), count(*) - count({column}),
  case when min({column}) < 0 then 1 else 0 end, 0;

-- name: aggregation.group
cast(concat({keys}) as binary);

-- name: aggregation.separator
, char(31 using utf8mb4),;

-- name: aggregation.as_integer
cast({key} as signed);

-- name: aggregation.given_integer
{name} bigint path '$[{at}]';

-- name: aggregation.given_text
{name} varchar(700) {type} path '$[{at}]';

-- A group, as our tables have it.
-- name: aggregation.given_group
{name} varchar(700) character set utf8mb4 path '$[{at}]';

-- name: aggregation.given_uuid
{name} uuid path '$[{at}]';

-- name: aggregation.given_date
{name} date path '$[{at}]';

-- name: aggregation.differ
not ({one} <=> {other});

-- name: aggregation.sum_differs
not (coalesce(r.{name}, 0) <=> {column});

-- name: aggregation.sum_text
cast(coalesce(r.{name}, 0) as char);

-- name: aggregation.range_first
select min(c.k), max(c.k), count(*), case when min(c.k) <= :bound then 1 else 0 end, ''
from (
  select {key} as k from {source} as s where {is_free} order by {key} limit :limit) as c;

-- name: aggregation.range_next
select min(c.k), max(c.k), count(*), case when min(c.k) <= :bound then 1 else 0 end, ''
from (
  select {key} as k from {source} as s where {is_free} and {key} > :after
  order by {key} limit :limit) as c;

-- Where the rows are locked by this, they are those that aggregation.take takes, and that returns
-- nothing; rows that others hold are left out.
-- name: aggregation.survey
select {group}, {first_key}, count(*), 0, {amounts}
from {source} as s where {key} between :first and :last and {is_free} group by {apart}
for update skip locked;

-- name: aggregation.hold_rows
select {key} from {source} as s where {key} between :first and :last and {is_free}
order by {key} limit :limit for update skip locked;

-- name: aggregation.survey_held
select {group}, {first_key}, count(*), 0, {amounts}
from json_table(:keys, '$[*]' columns ({given_key})) as g
  straight_join {source} as s force index ({key_index}) on {key} = g.daybook_key
group by {apart};

-- name: aggregation.make_parents
insert into {parent} ({columns})
select {values} from (
  select g.daybook_key, {group_columns}
  from json_table(:parents, '$[*]' columns ({given})) as g
  join {source} as s on {key} = g.daybook_first and {group} = g.daybook_group) as daybook_row;

-- Distinct, so that the list is read once; what is longer than a group can be is null there, and no
-- group. With innodb_snapshot_isolation an update waits for rows of the range that are no longer,
-- or not yet, free and that others hold: it is refused instead. MySQL waits.
-- name: aggregation.take
/*M! set statement innodb_lock_wait_timeout = 0 for */
update {source} as s set s.{state} = {taken},
  s.{link} = (select {as_link} from {aggregation_parent} as o
              where o.aggregation = :aggregation and o.open_group = {group})
where {key} between :first and :last and {is_free}
  and exists (select 1 from {aggregation_parent} as o
              where o.aggregation = :aggregation and o.open_group = {group})
  and (:excluded = '[]' or not exists (
    select 1 from (select distinct cast(j.g as binary) as g
                   from json_table(:excluded, '$[*]'
                     columns (g varchar(700) character set utf8mb4 path '$')) as j) as e
    where e.g = {group}));

-- An update of joined tables waits for each row that it reads: by the key's index it reads these
-- alone, where the optimizer would read the whole of a small table.
-- name: aggregation.take_held
update json_table(:keys, '$[*]' columns ({given_key})) as g
  straight_join {source} as s force index ({key_index}) on {key} = g.daybook_key
set s.{state} = {taken},
  s.{link} = (select {as_link} from {aggregation_parent} as o
              where o.aggregation = :aggregation and o.open_group = {group})
where exists (select 1 from {aggregation_parent} as o
              where o.aggregation = :aggregation and o.open_group = {group})
  and (:excluded = '[]' or not exists (
    select 1 from (select distinct cast(j.g as binary) as g
                   from json_table(:excluded, '$[*]'
                     columns (g varchar(700) character set utf8mb4 path '$')) as j) as e
    where e.g = {group}));

-- How long a statement of this transaction waits for what others hold; and how long it did.
-- name: aggregation.wait
select cast(:limit as char);

-- By the index, as aggregation.take_held.
-- name: aggregation.set_parents
update json_table(:rows, '$[*]' columns ({given})) as g
  straight_join {parent} as p force index ({parent_key_index}) on {parent_key} = g.daybook_key
set {changes} where {condition};

-- name: aggregation.follow
update json_table(:rows, '$[*]' columns ({given})) as g
  straight_join {parent} as p force index ({parent_key_index}) on {parent_key} = g.daybook_key
set {following};

-- name: aggregation.open_values
select o.open_group, o.parent_key, case when {parent_key} is null then 0 else 1 end,
  {parent_values}
from {aggregation_parent} as o left join {parent} as p on {parent_key} = {key_text}
where o.aggregation = :aggregation
  and o.open_group in (select cast(j.g as binary)
    from json_table(:groups, '$[*]'
      columns (g varchar(700) character set utf8mb4 path '$[0]')) as j);

-- name: aggregation.sum_rows
update {source} as s set s.{state} = s.{state} where {of_parent};
-- then
select '', '', count(*), 0, {amounts} from {source} as s where {of_parent};
