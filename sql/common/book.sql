-- The version row and what the book knows of itself.

-- name: book.exists
-- in: prefix
-- out: found

-- name: book.version
-- out: version, oldest, book_id, movable_clock
select version, oldest, book_id, movable_clock from {version} where only_row = 1;

-- name: book.create
-- in: book_id, movable_clock
insert into {version} (only_row, version, oldest, book_id, movable_clock, created_us)
values (1, 0, 0, :book_id, :movable_clock{::int}, {real_now})
on conflict (only_row) do nothing;

-- name: book.create_clock
insert into {clock} (only_row, offset_us, stopped_us) values (1, 0, null)
on conflict (only_row) do nothing;

-- name: book.advance
-- in: version, oldest
update {version} set version = :version, oldest = :oldest where only_row = 1 and version < :version;

-- On MariaDB the clock of every statement stands still at the statement's start: one that waited
-- for a row's lock sees an instant that is too early, never one that is too late. Hence a late
-- renewal is short, and a holder that renewed meanwhile is not taken for dead.
-- name: book.now
-- out: now_us
select {now};
