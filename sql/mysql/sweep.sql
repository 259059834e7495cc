-- name: sweep.begin
insert ignore into {sweep} (started_us, pages, items, late, found, compared, comparisons, planner,
  sweep, state)
select {now}, 0, 0, 0, 0, 0, 0, l.planner, l.sweep + 1, 0
from (select :planner as planner, coalesce(max(w.sweep), 0) as sweep,
        coalesce(min(w.state), 3) as state
      from {sweep} w where w.planner = :planner) l
where l.state = 3;

-- name: sweep.open_pages
select p.page, p.state from {sweep_page} p
where p.planner = :planner and p.sweep = :sweep and p.state in (0, 1)
order by p.state, p.page limit :limit;

-- name: sweep.list
select w.sweep, w.state, w.started_us, w.ended_us, w.pages, w.items, w.late, w.comparisons,
  coalesce(cast(sum(case when p.state = 2 then 1 else 0 end) as signed), 0),
  coalesce(cast(sum(case when p.state = 3 then 1 else 0 end) as signed), 0),
  coalesce(cast(sum(p.vanished) as signed), 0)
from (select x.* from {sweep} x where x.planner = :planner and x.sweep < :before
      order by x.sweep desc limit :limit) w
  left join {sweep_page} p on p.planner = w.planner and p.sweep = w.sweep
group by w.sweep, w.state, w.started_us, w.ended_us, w.pages, w.items, w.late, w.comparisons
order by w.sweep desc;

-- name: sweep.prune_pages
delete from {sweep_page} where planner = :planner and sweep = :sweep order by page limit :limit;

-- name: sweep.by_index
force index ({index});

-- name: sweep.index_ends_with_key
true;

-- name: sweep.place_integer
cast({column} as char character set utf8mb4);

-- name: sweep.value_integer
cast(convert({given} using utf8mb4) as decimal(20, 0));

-- name: sweep.place_text
cast({column} as char character set utf8mb4);

-- name: sweep.place_uuid
lower(cast({column} as char character set utf8mb4));

-- name: sweep.value_uuid
cast(convert({given} using utf8mb4) as uuid);

-- name: sweep.place_date
cast({column} as char character set utf8mb4);

-- name: sweep.value_date
cast(convert({given} using utf8mb4) as date);

-- name: sweep.ok_date
day({column}) > 0;

-- name: sweep.place_time
cast({column} as char character set utf8mb4);

-- name: sweep.value_time
cast(convert({given} using utf8mb4) as datetime(6));

-- name: sweep.ok_time
day({column}) > 0;

-- name: sweep.place_zoned
cast({column} as char character set utf8mb4);

-- name: sweep.value_zoned
cast(convert({given} using utf8mb4) as datetime(6));

-- name: sweep.ok_zoned
day({column}) > 0;

-- name: sweep.compared
singly;
