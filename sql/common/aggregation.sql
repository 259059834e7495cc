-- Aggregations: rows of a table of the application's, gathered into rows of another. The statements
-- on those tables are shapes: `s` is a row of the source, `p` one of the parents. Rows go in as a
-- JSON array of arrays.

-- A transaction that says so a second time finds its row, after whoever said it first has ended.
-- name: aggregation.begin
-- in: aggregation, action, call, parent, actor, reason
insert into {aggregation_log} (at_us, items, aggregation, action, call_id, parent_key, actor,
  reason, detail)
values ({now}, 0, :aggregation, :action, :call{::uuid}, :parent, :actor, :reason, '')
on conflict do nothing;

-- name: aggregation.done
-- in: call, parent, items, detail
update {aggregation_log} set items = :items, detail = :detail, parent_key = :parent
where call_id = :call{::uuid};

-- Newest first; `parent` empty: of all.
-- name: aggregation.history
-- in: aggregation, parent, before, limit
-- out: id, at_us, action, parent, items, actor, reason, detail
select l.id, l.at_us, l.action, coalesce(l.parent_key, ''), l.items, l.actor, l.reason, l.detail
from {aggregation_log} l
where l.aggregation = :aggregation and (:parent = '' or l.parent_key = :parent) and l.id < :before
order by l.id desc limit :limit;

-- name: aggregation.make
-- in: name, declared
insert into {aggregation} (created_us, changed_us, pass, name, declared)
values ({now}, {now}, 0, :name, :declared) on conflict do nothing;

-- name: aggregation.look
-- in: name
-- out: id, declared, open
select a.id, a.declared, (select count(*) from {aggregation_parent} o
  where o.aggregation = a.id and o.ended_us is null)
from {aggregation} a where a.name = :name;

-- name: aggregation.declare
-- in: name, declared, before
update {aggregation} set declared = :declared, changed_us = {now}, position = null, pass = pass + 1
where name = :name and declared = :before;

-- Who writes by a declaration keeps it as it is until the transaction ends.
-- name: aggregation.hold
-- in: name
-- out: name

-- After aggregation.hold, and by a look of its own: nothing where it is declared otherwise.
-- name: aggregation.stands
-- in: aggregation, declared
-- out: id
select a.id from {aggregation} a where a.id = :aggregation and a.declared = :declared;

-- Elsewhere this waits for those who hold it. PostgreSQL: waits for those who hold it. MariaDB:
-- waits for those who hold it.
-- name: aggregation.lock
-- in: name
-- out: name
select a.name from {aggregation} a where a.name = :name {for_update};

-- name: aggregation.names
-- out: name
select a.name from {aggregation} a order by a.name;

-- Who changes the position waits for its turn here.
-- name: aggregation.turn
-- in: aggregation
-- out: pass, position, now_us

-- name: aggregation.advance
-- in: aggregation, pass, position
update {aggregation} set pass = :pass, position = :position where id = :aggregation;

-- Of groups: a row [group] for each. Locked, none of them is closed meanwhile.
-- name: aggregation.open
-- in: aggregation, groups
-- out: group_key, parent_key, opened_us
-- holes: lock

-- name: aggregation.open_parents
-- in: aggregation
-- out: parent_key
select o.parent_key from {aggregation_parent} o
where o.aggregation = :aggregation and o.open_group is not null order by o.parent_key;

-- Rows [parent, group, ...]; fewer than those: another has made one.
-- name: aggregation.add_open
-- in: aggregation, parents

-- No rows are added to the parent any more. `ended`: nor is anything else changed of it.
-- name: aggregation.shut
-- in: aggregation, parent, ended
update {aggregation_parent} set open_group = null, closed_us = coalesce(closed_us, {now}),
  ended_us = case when :ended = 1 then coalesce(ended_us, {now}) else ended_us end
where aggregation = :aggregation and parent_key = :parent;

-- name: aggregation.parent_of_ours
-- in: aggregation, parent
-- out: group_key, opened_us, is_open
select o.group_key, o.opened_us, case when o.open_group is null then 0 else 1 end
from {aggregation_parent} o where o.aggregation = :aggregation and o.parent_key = :parent;

-- What a text is to be compared with a text column of the table by the column's own rules, so that
-- its index serves: the type of one that is given, and what goes around an expression.
-- name: aggregation.conversion
-- in: schema, table, column
-- out: given, before, after

-- Whether something else changes rows of the table when one is updated.
-- name: aggregation.triggers
-- in: schema, table
-- out: count

-- Pieces of the statements below.

-- An amount's sum, how many are null, whether one is negative, how many are no integers.
-- name: aggregation.amount
-- holes: column

-- As aggregation.amount, of rows as they usually are.
-- name: aggregation.usual_amount
-- holes: column

-- A group as one text.
-- name: aggregation.group
-- holes: keys

-- A column of a group, other than a text: it tells groups apart as its text does, for less.
-- name: aggregation.native
-- holes: column
{column};

-- name: aggregation.separator
-- holes: none

-- name: aggregation.as_integer
-- holes: key

-- Elements of a row that is given.
-- name: aggregation.given_integer
-- holes: name, at, type

-- name: aggregation.given_text
-- holes: name, at, type

-- name: aggregation.given_group
-- holes: name, at

-- name: aggregation.given_uuid
-- holes: name, at, type

-- name: aggregation.given_date
-- holes: name, at, type

-- What of an expression is set, so that an integer column has an integer.
-- name: aggregation.whole
-- holes: expression
({expression});

-- name: aggregation.is_whole
-- holes: column
{column} is not null;

-- name: aggregation.differ
-- holes: one, other

-- name: aggregation.lock_rows
-- holes: none
{for_update};

-- An amount's sum under a name, whether that is not what a parent's column says, and as text.
-- name: aggregation.row_sum
-- holes: column, name
coalesce(sum({column}), 0) as {name};

-- name: aggregation.sum_differs
-- holes: column, name

-- name: aggregation.sum_text
-- holes: name

-- The statements.

-- `kind`: "blob" where a key is one, which comes after all that are none.
-- name: aggregation.last_key
-- out: key, kind
-- holes: source, key
select {key}, '' from {source} as s order by {key} desc limit 1;

-- The first and the last of the next keys, how many they are, and whether the first is one of those
-- up to a bound.
-- name: aggregation.range_first
-- in: bound, limit
-- out: first, last, count, within, kind
-- holes: source, key, is_free

-- name: aggregation.range_next
-- in: after, bound, limit
-- out: first, last, count, within, kind
-- holes: source, key, is_free

-- The groups of the free rows of a range. Where the rows are locked by this, they are those that
-- aggregation.take takes, and that returns nothing.
-- name: aggregation.survey
-- in: first, last
-- out: group_key, first_key, count, strays, amounts
-- holes: source, key, is_free, group, apart, first_key, amounts
select {group}, {first_key}, count(*), 0, {amounts}
from {source} as s where {key} between :first and :last and {is_free} group by {apart};

-- The free rows of a range that nobody else holds; held from now on.
-- name: aggregation.hold_rows
-- in: first, last, limit
-- out: key
-- holes: source, key, is_free

-- As aggregation.survey, of the rows [key, ...] that aggregation.hold_rows has found.
-- name: aggregation.survey_held
-- in: keys
-- out: group_key, first_key, count, strays, amounts
-- holes: source, key, key_index, given_key, group, apart, first_key, amounts

-- name: aggregation.preview
-- in: limit
-- out: group_key, first_key, count, strays, amounts
-- holes: source, is_free, group, first_key, amounts
select {group}, {first_key}, count(*), 0, {amounts}
from {source} as s where {is_free} group by 1 order by 1 limit :limit;

-- Rows [parent, group, first key].
-- name: aggregation.make_parents
-- in: parents
-- holes: source, key, group, given, parent, columns, values, group_columns

-- The rows of a range whose group has an open parent and is not among [group, ...]. `strays` are
-- those that are not as they were set: a trigger has changed them.
-- name: aggregation.take
-- in: first, last, aggregation, excluded
-- out: group_key, parent_key, count, strays, amounts
-- holes: source, key, state, taken, link, is_free, is_taken, group, as_link, returned, amounts_of

-- As aggregation.take, of the rows [key, ...] that aggregation.hold_rows has found.
-- name: aggregation.take_held
-- in: keys, aggregation, excluded
-- out: group_key, parent_key, count, strays, amounts
-- holes: source, key, key_index, given_key, state, taken, link, is_taken, group, as_link, returned, amounts_of

-- name: aggregation.wait
-- in: limit
-- out: before

-- Whether aggregation.wait limits how long aggregation.take waits for rows that others hold. If
-- not, the statement aggregation.take limits it itself, or waits for nobody.
-- name: aggregation.take_waits
-- holes: none
false;

-- How many rows of a range are taken by the open parent of their group.
-- name: aggregation.landed
-- in: first, last, aggregation
-- out: count
-- holes: source, key, is_taken, group, as_link
select count(*) from {source} as s where {key} between :first and :last
  and {is_taken} = (select {as_link} from {aggregation_parent} as o
                    where o.aggregation = :aggregation and o.open_group = {group});

-- Rows [parent, count, sum, ...] or [parent].
-- name: aggregation.set_parents
-- in: rows
-- holes: parent, parent_key, parent_key_index, given, changes, condition

-- name: aggregation.follow
-- in: rows
-- holes: parent, parent_key, parent_key_index, given, following

-- name: aggregation.parent
-- in: parent
-- out: state, count, sums
-- holes: parent, parent_key, parent_values, lock
select {parent_values} from {parent} as p where {parent_key} = :parent {lock};

-- Open parents of groups, and what they are now.
-- name: aggregation.open_values
-- in: aggregation, groups
-- out: group_key, parent_key, there, state, count, sums
-- holes: parent, parent_key, key_text, parent_values

-- name: aggregation.parents
-- in: after, limit, aggregation
-- out: key, group_key, opened_us, state, count, sums
-- holes: parent, parent_key, key_text, parent_values, condition
select o.parent_key, o.group_key, o.opened_us, {parent_values}
from {aggregation_parent} as o join {parent} as p on {parent_key} = {key_text}
where o.aggregation = :aggregation and o.parent_key > :after and {condition}
order by o.parent_key limit :limit;

-- The rows of a parent; locked, where aggregation.move_rows returns nothing.
-- name: aggregation.sum_rows
-- in: parent
-- out: group_key, first_key, count, strays, amounts
-- holes: source, state, of_parent, amounts
select '', '', count(*), 0, {amounts} from {source} as s where {of_parent};

-- name: aggregation.move_rows
-- in: parent
-- out: group_key, first_key, count, strays, amounts
-- holes: source, of_parent, changes, is_done, returned, amounts_of
update {source} as s set {changes} where {of_parent};

-- How many rows name a parent and are not what they were made: a trigger has changed them.
-- name: aggregation.left_behind
-- in: parent
-- out: count
-- holes: source, link, otherwise
select count(*) from {source} as s where s.{link} = :parent and {otherwise};

-- name: aggregation.link_of
-- in: row
-- out: parent, is_taken
-- holes: source, key, link_text, is_linked
select {link_text}, case when {is_linked} then 1 else 0 end from {source} as s where {key} = :row;

-- name: aggregation.free_row
-- in: row, parent
-- holes: source, key, link, changes, is_held
update {source} as s set {changes} where {key} = :row and s.{link} = :parent and {is_held};

-- name: aggregation.rows_first
-- in: parent, limit
-- out: key, state, amounts
-- holes: source, key, of_parent, row_values
select {row_values} from {source} as s where {of_parent} order by {key} limit :limit;

-- name: aggregation.rows_next
-- in: parent, after, limit
-- out: key, state, amounts
-- holes: source, key, of_parent, row_values
select {row_values} from {source} as s where {of_parent} and {key} > :after
order by {key} limit :limit;

-- Every parent that is not as its rows are, or not as our row of it. The link is converted within,
-- so that a key can be made for what is joined.
-- name: aggregation.verify_parents
-- in: aggregation, limit
-- out: key, group_key, is_open, state, rows, held, sums
-- holes: source, link, of_rows, held, row_sums, parent, parent_key, parent_text, link_as_key,
--   parent_values, sum_texts, condition
select {parent_text}, o.group_key, case when o.open_group is null then 0 else 1 end,
  {parent_values}, coalesce(r.n, 0), coalesce(r.held, 0), {sum_texts}
from {parent} as p
  left join {aggregation_parent} as o
    on o.aggregation = :aggregation and o.parent_key = {parent_text}
  left join (
    select {link_as_key} as k, count(*) as n, sum(case when {held} then 1 else 0 end) as held,
      {row_sums}
    from {source} as s where {of_rows} group by s.{link}) as r on r.k = {parent_key}
where {condition} order by {parent_key} limit :limit;

-- name: aggregation.verify_rows
-- in: aggregation, limit
-- out: key, link, state, group_key, parent_group
-- holes: source, key, link_text, group, state, condition
select {key}, {link_text}, s.{state}, {group}, o.group_key
from {source} as s
  left join {aggregation_parent} as o
    on o.aggregation = :aggregation and o.parent_key = {link_text}
where {condition} order by {key} limit :limit;

-- Parents of ours that are gone, and have not ended.
-- name: aggregation.verify_gone
-- in: aggregation, limit
-- out: key, group_key
-- holes: parent, parent_key, key_text
select o.parent_key, o.group_key from {aggregation_parent} as o
where o.aggregation = :aggregation and o.ended_us is null
  and not exists (select 1 from {parent} as p where {parent_key} = {key_text})
order by o.parent_key limit :limit;

-- name: aggregation.verify_counts
-- in: aggregation
-- out: parents, rows
-- holes: source, of_rows
select (select count(*) from {aggregation_parent} as o where o.aggregation = :aggregation),
  (select count(*) from {source} as s where {of_rows});
