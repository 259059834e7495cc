-- Elsewhere this keeps a declaration as it is until the transaction ends; here there is one writer.
-- name: aggregation.hold
select a.name from {aggregation} a where a.name = :name;

-- name: aggregation.turn
select a.pass, a.position, {now} from {aggregation} a where a.id = :aggregation;

-- name: aggregation.open
select o.open_group, o.parent_key, o.opened_us from {aggregation_parent} o
where o.aggregation = :aggregation
  and o.open_group in (select json_extract(j.value, '$[0]') from json_each(:groups) as j)
order by o.parent_key {lock};

-- name: aggregation.add_open
insert into {aggregation_parent} (aggregation, opened_us, parent_key, group_key, open_group)
select :aggregation, {now}, json_extract(j.value, '$[0]'), json_extract(j.value, '$[1]'),
  json_extract(j.value, '$[1]')
from json_each(:parents) as j where true order by j.key on conflict do nothing;

-- name: aggregation.conversion
select '', '', '' where :schema <> '' and :table <> '' and :column <> '';

-- name: aggregation.triggers
select count(*) from sqlite_schema t where t.type = 'trigger' and t.tbl_name = :table
  and :schema <> '' and t.sql like '%update%';

-- The sum is that of the upper halves and that of the lower, neither of which can overflow.
-- name: aggregation.amount
coalesce(sum({column} >> 32), 0) || ' ' || coalesce(sum({column} & 4294967295), 0),
  count(*) - count({column}), case when min({column}) < 0 then 1 else 0 end,
  coalesce(sum(typeof({column}) not in ('integer', 'null')), 0);

-- As aggregation.amount, of rows as they usually are: a sum beyond 64 bits fails.
-- name: aggregation.usual_amount
case typeof(sum({column})) when 'real' then 0 else coalesce(sum({column}), 0) end,
  count(*) - count({column}), case when min({column}) < 0 then 1 else 0 end,
  case typeof(sum({column})) when 'real' then 1 else 0 end;

-- name: aggregation.group
({keys} || '');

-- name: aggregation.native
{column} collate binary;

-- name: aggregation.separator
|| char(31) ||;

-- name: aggregation.as_integer
cast({key} as integer);

-- name: aggregation.given_integer
json_extract(j.value, '$[{at}]') as {name};

-- name: aggregation.given_text
json_extract(j.value, '$[{at}]') as {name};

-- name: aggregation.given_group
json_extract(j.value, '$[{at}]') as {name};

-- name: aggregation.given_uuid
json_extract(j.value, '$[{at}]') as {name};

-- name: aggregation.given_date
json_extract(j.value, '$[{at}]') as {name};

-- name: aggregation.whole
case when typeof({expression}) = 'integer' then {expression} else abs(-9223372036854775807 - 1) end;

-- name: aggregation.is_whole
typeof({column}) = 'integer';

-- name: aggregation.differ
{one} is not {other};

-- name: aggregation.row_sum
coalesce(sum({column} >> 32), 0) as {name}, coalesce(sum({column} & 4294967295), 0) as {name}_low;

-- name: aggregation.sum_differs
(typeof({column}) <> 'integer'
  or coalesce(r.{name} + (r.{name}_low >> 32), 0) <> {column} >> 32
  or coalesce(r.{name}_low & 4294967295, 0) <> {column} & 4294967295);

-- name: aggregation.sum_text
coalesce(r.{name} || ' ' || r.{name}_low, '0');

-- name: aggregation.last_key
select {key}, typeof({key}) from {source} as s order by {key} desc limit 1;

-- name: aggregation.range_first
select min(c.k), max(c.k), count(*), case when min(c.k) <= :bound then 1 else 0 end, typeof(max(c.k))
from (
  select {key} as k from {source} as s where {is_free} order by {key} limit :limit) as c;

-- name: aggregation.range_next
select min(c.k), max(c.k), count(*), case when min(c.k) <= :bound then 1 else 0 end, typeof(max(c.k))
from (
  select {key} as k from {source} as s where {is_free} and {key} > :after
  order by {key} limit :limit) as c;

-- As on the other engines; here nobody else writes.
-- name: aggregation.hold_rows
select {key} from {source} as s where {key} between :first and :last and {is_free}
order by {key} limit :limit;

-- name: aggregation.survey_held
select {group}, {first_key}, count(*), 0, {amounts}
from {source} as s
where {key} in (select g.daybook_key from (select {given_key} from json_each(:keys) as j) as g)
group by {apart};

-- name: aggregation.make_parents
insert into {parent} ({columns})
select {values} from (
  select g.daybook_key, {group_columns}
  from (select {given} from json_each(:parents) as j) as g
  join {source} as s on {key} = g.daybook_first and {group} = g.daybook_group) as daybook_row;

-- name: aggregation.take
update {source} as s set {state} = {taken}, {link} = o.daybook_key
from (select {as_link} as daybook_key, o.open_group as daybook_group
      from {aggregation_parent} as o
      where o.aggregation = :aggregation and o.open_group is not null) as o
where {key} between :first and :last and {is_free} and o.daybook_group = {group}
  and (:excluded = '[]' or {group} not in (select e.value from json_each(:excluded) as e));

-- name: aggregation.take_held
update {source} as s set {state} = {taken}, {link} = o.daybook_key
from (select {as_link} as daybook_key, o.open_group as daybook_group
      from {aggregation_parent} as o
      where o.aggregation = :aggregation and o.open_group is not null) as o
where {key} in (select g.daybook_key from (select {given_key} from json_each(:keys) as j) as g)
  and o.daybook_group = {group}
  and (:excluded = '[]' or {group} not in (select e.value from json_each(:excluded) as e));

-- name: aggregation.wait
select cast(:limit as text);

-- name: aggregation.set_parents
update {parent} as p set {changes}
from (select {given} from json_each(:rows) as j) as g
where {parent_key} = g.daybook_key and {condition};

-- name: aggregation.follow
update {parent} as p set {following}
where {parent_key} in
  (select g.daybook_key from (select {given} from json_each(:rows) as j) as g);

-- name: aggregation.open_values
select o.open_group, o.parent_key, case when {parent_key} is null then 0 else 1 end,
  {parent_values}
from {aggregation_parent} as o left join {parent} as p on {parent_key} = {key_text}
where o.aggregation = :aggregation
  and o.open_group in (select json_extract(j.value, '$[0]') from json_each(:groups) as j);
