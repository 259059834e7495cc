-- Sweeps: the pages that a table of the application's is cut into. `place`, `low` and `high` are
-- where a row stands in the order of the table's index. The statements on that table are shapes: `s`
-- is a row of it.

-- The last one.
-- name: sweep.look
-- in: planner
-- out: sweep, state, place, pages, items, late, found, compared, comparisons, ended_us, now_us
select w.sweep, w.state, w.place, w.pages, w.items, w.late, w.found, w.compared, w.comparisons,
  w.ended_us, {now}
from {sweep} w where w.planner = :planner order by w.sweep desc limit 1;

-- The next one, unless one is under way.
-- name: sweep.begin
-- in: planner
insert into {sweep} (started_us, pages, items, late, found, compared, comparisons, planner,
  sweep, state)
select {now}, 0, 0, 0, 0, 0, 0, l.planner, l.sweep + 1, 0
from (select :planner{::int} as planner, coalesce(max(w.sweep), 0) as sweep,
        coalesce(min(w.state), 3) as state
      from {sweep} w where w.planner = :planner) l
where l.state = 3
on conflict do nothing;

-- name: sweep.advance
-- in: planner, sweep, state, place, pages, items, late, found, compared, comparisons
update {sweep} set state = :state, place = :place, pages = :pages, items = :items, late = :late,
  found = :found, compared = :compared, comparisons = :comparisons
where planner = :planner and sweep = :sweep;

-- name: sweep.end
-- in: planner, sweep, comparisons
update {sweep} set state = 3, ended_us = {now}, comparisons = :comparisons
where planner = :planner and sweep = :sweep;

-- name: sweep.add_page
-- in: planner, sweep, page, base, items, state, low, high, row_keys
insert into {sweep_page} (base, items, vanished, planner, sweep, page, state, low, high, row_keys)
values (:base, :items, 0, :planner, :sweep, :page, :state, :low, :high, :row_keys);

-- name: sweep.page
-- in: planner, sweep, page
-- out: state, base, low, high, row_keys
select p.state, p.base, p.low, p.high, p.row_keys
from {sweep_page} p where p.planner = :planner and p.sweep = :sweep and p.page = :page;

-- Those that are not done.
-- name: sweep.open_pages
-- in: planner, sweep, limit
-- out: page, state
select p.page, p.state from {sweep_page} p
where p.planner = :planner and p.sweep = :sweep and p.state < 2 order by p.page limit :limit;

-- Pages that were cut in order.
-- name: sweep.bases
-- in: planner, sweep, after, limit
-- out: page, low, high
select p.page, p.low, p.high from {sweep_page} p
where p.planner = :planner and p.sweep = :sweep and p.page > :after and p.base = p.page
order by p.page limit :limit;

-- What was seen in the range of a page.
-- name: sweep.seen
-- in: planner, sweep, base
-- out: row_keys
select p.row_keys from {sweep_page} p
where p.planner = :planner and p.sweep = :sweep and p.base = :base;

-- name: sweep.launched
-- in: planner, sweep, page
update {sweep_page} set state = 1
where planner = :planner and sweep = :sweep and page = :page and state = 0;

-- name: sweep.page_done
-- in: planner, sweep, page, state, vanished
update {sweep_page} set state = :state, vanished = :vanished, done_us = {now}
where planner = :planner and sweep = :sweep and page = :page and state < 2;

-- Newest first.
-- name: sweep.list
-- in: planner, before, limit
-- out: sweep, state, started_us, ended_us, pages, items, late, comparisons, done, given_up, vanished
select w.sweep, w.state, w.started_us, w.ended_us, w.pages, w.items, w.late, w.comparisons,
  coalesce(sum(case when p.state = 2 then 1 else 0 end), 0),
  coalesce(sum(case when p.state = 3 then 1 else 0 end), 0),
  coalesce(sum(p.vanished), 0)
from (select x.* from {sweep} x where x.planner = :planner and x.sweep < :before
      order by x.sweep desc limit :limit) w
  left join {sweep_page} p on p.planner = w.planner and p.sweep = w.sweep
group by w.sweep, w.state, w.started_us, w.ended_us, w.pages, w.items, w.late, w.comparisons
order by w.sweep desc;

-- The oldest, where it ended so long ago, and is not the last.
-- name: sweep.oldest
-- in: planner, keep_us
-- out: sweep
select w.sweep from {sweep} w
where w.planner = :planner and w.state = 3 and w.ended_us <= {now} - :keep_us{::bigint}
  and exists (select 1 from {sweep} x where x.planner = w.planner and x.sweep > w.sweep)
order by w.sweep limit 1;

-- name: sweep.prune_pages
-- in: planner, sweep, limit
delete from {sweep_page}
where planner = :planner and sweep = :sweep
  and page in (select x.page from {sweep_page} x
               where x.planner = :planner and x.sweep = :sweep order by x.page limit :limit);

-- name: sweep.prune
-- in: planner, sweep
delete from {sweep} where planner = :planner and sweep = :sweep;

-- Rows of the table, in the order of its index.
-- name: sweep.rows
-- holes: source, hint, columns, condition, order
select {columns} from {source} as s {hint} where {condition} order by {order} limit :limit;

-- Has it read by that index where the engine would not do so by itself.
-- name: sweep.by_index
-- holes: index
;

-- Whether an index has the table's primary key after its own columns.
-- name: sweep.index_ends_with_key
-- holes: none
false;

-- Where a value stands, as a text; the value that such a text means; and whether it is one whose
-- order is known.
-- name: sweep.place_integer
-- holes: column

-- Bare on SQLite, so that the column's affinity makes it a number: a range of the index goes by
-- both columns of a row value only where no expression brings an affinity of its own.
-- name: sweep.value_integer
-- holes: given
{given}{::bigint};

-- name: sweep.ok_integer
-- holes: column
true;

-- name: sweep.place_text
-- holes: column
{column}{::text};

-- Bare: on MariaDB, what is given yields to the column's own character set and collation, in which
-- its index is.
-- name: sweep.value_text
-- holes: given
{given};

-- name: sweep.ok_text
-- holes: column
true;

-- name: sweep.place_uuid
-- holes: column
{column}{::text};

-- name: sweep.value_uuid
-- holes: given
{given}{::uuid};

-- name: sweep.ok_uuid
-- holes: column
true;

-- name: sweep.place_date
-- holes: column

-- name: sweep.value_date
-- holes: given

-- name: sweep.ok_date
-- holes: column

-- name: sweep.place_time
-- holes: column

-- name: sweep.value_time
-- holes: given

-- name: sweep.ok_time
-- holes: column

-- name: sweep.place_zoned
-- holes: column

-- name: sweep.value_zoned
-- holes: given

-- name: sweep.ok_zoned
-- holes: column

-- How a row is compared with a place: all its columns at once, or one after the other.
-- name: sweep.compared
-- holes: none
together;
