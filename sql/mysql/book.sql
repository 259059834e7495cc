-- The version row and what the book knows of itself.

-- Names of tables compare here as they do in the server's file system.
-- name: book.exists
-- in: prefix
-- out: found
select count(*) from information_schema.tables
where table_schema = '{schema}' and table_name = concat(:prefix, 'version')
  and (@@lower_case_table_names <> 0
       or cast(table_name as binary) = cast(concat(:prefix, 'version') as binary));

-- name: book.version
-- out: version, oldest, book_id, movable_clock
select version, oldest, book_id, movable_clock from {version} where only_row = 1;

-- name: book.create
-- in: book_id, movable_clock
insert ignore into {version} (only_row, version, oldest, book_id, movable_clock, created_us)
values (1, 0, 0, :book_id, :movable_clock, {real_now});

-- name: book.create_clock
insert ignore into {clock} (only_row, offset_us, stopped_us) values (1, 0, null);

-- name: book.advance
-- in: version, oldest
update {version} set version = :version, oldest = :oldest where only_row = 1 and version < :version;

-- The clock of every statement stands still at the statement's start: one that waited for a row's
-- lock sees an instant that is too early, never one that is too late. Hence a late renewal is
-- short, and a holder that renewed meanwhile is not taken for dead.
-- name: book.now
-- out: now_us
select {now};
