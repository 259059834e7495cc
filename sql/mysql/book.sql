-- Names of tables compare here as they do in the server's file system.
-- name: book.exists
select count(*) from information_schema.tables
where table_schema = '{schema}' and table_name = concat(:prefix, 'version')
  and (@@lower_case_table_names <> 0
       or cast(table_name as binary) = cast(concat(:prefix, 'version') as binary));

-- name: book.create
insert ignore into {version} (only_row, version, oldest, book_id, movable_clock, created_us)
values (1, 0, 0, :book_id, :movable_clock, {real_now});

-- name: book.create_clock
insert ignore into {clock} (only_row, offset_us, stopped_us) values (1, 0, null);
