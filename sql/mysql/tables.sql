-- The tables of the application, as the engine's own catalogue has them; and how a key of theirs is
-- written as one of ours.

-- name: table.about
-- in: schema, table
-- out: kind, transactional, strict
select case when t.table_type like '%VIEW%' then 'view'
            when t.create_options like '%partitioned%' then 'partitioned' else 'table' end,
  case when t.engine = 'InnoDB' then 1 else 0 end, 1
from information_schema.tables t where t.table_schema = :schema and t.table_name = :table;

-- name: table.columns
-- in: schema, table
-- out: name, kind, low, high, length, nullable, generated, type
select c.column_name,
  case when c.data_type in ('tinyint', 'smallint', 'mediumint', 'int', 'bigint') then 'integer'
    when c.data_type in ('char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext') then 'text'
    when c.data_type = 'uuid' then 'uuid' when c.data_type = 'date' then 'date'
    when c.data_type = 'decimal' then 'decimal'
    when c.data_type in ('float', 'double') then 'real' else 'other' end,
  case when c.column_type like '%unsigned%' then 0
    else case c.data_type when 'tinyint' then -128 when 'smallint' then -32768
      when 'mediumint' then -8388608 when 'int' then -2147483648
      when 'bigint' then -9223372036854775808 else 0 end end,
  case c.data_type
    when 'tinyint' then case when c.column_type like '%unsigned%' then 255 else 127 end
    when 'smallint' then case when c.column_type like '%unsigned%' then 65535 else 32767 end
    when 'mediumint' then case when c.column_type like '%unsigned%' then 16777215 else 8388607 end
    when 'int' then case when c.column_type like '%unsigned%' then 4294967295 else 2147483647 end
    when 'bigint' then 9223372036854775807 else 0 end,
  cast(c.character_maximum_length as signed),
  case when c.is_nullable = 'YES' then 1 else 0 end,
  case when c.extra like '%GENERATED%' then 1 else 0 end,
  c.column_type
from information_schema.columns c
where c.table_schema = :schema and c.table_name = :table order by c.ordinal_position;

-- A row for each column of each index; `column` is null where only the start of it is in the index.
-- name: table.indexes
-- in: schema, table
-- out: name, column, is_unique, is_primary, is_deferrable, condition
select s.index_name, case when s.sub_part is null then s.column_name end,
  case when s.non_unique = 0 then 1 else 0 end,
  case when s.index_name = 'PRIMARY' then 1 else 0 end, 0, ''
from information_schema.statistics s
where s.table_schema = :schema and s.table_name = :table
order by s.index_name, s.seq_in_index;

-- Not the book's own.
-- name: table.names
-- in: schema, prefix, count
-- out: name
select t.table_name from information_schema.tables t
where t.table_schema = :schema and t.table_type = 'BASE TABLE'
  and substr(t.table_name, 1, char_length(:prefix)) <> :prefix
order by t.table_name limit :count;

-- A column as the text that is its key with us.
-- name: key.of_integer
-- holes: column
cast({column} as char character set utf8mb4);

-- name: key.of_text
-- holes: column
cast({column} as char character set utf8mb4);

-- name: key.of_uuid
-- holes: column
lower(cast({column} as char character set utf8mb4));

-- name: key.of_date
-- holes: column
date_format({column}, '%Y-%m-%d');

-- What a person may run.
-- name: table.create_index
-- holes: index, schema_name, table, columns
create index {index} on {schema_name}.{table} ({columns});

-- A key of ours as a value of the column's kind, so that the index on that serves; null where it is
-- none. It may be the value of another key: compare the texts as well, as bytes.
-- name: key.as_integer
-- holes: key
case when {key} regexp '^-?[0-9]{{1,20}}$' then cast({key} as decimal(20, 0)) end;

-- name: key.as_text
-- holes: key
convert({key} using utf8mb4);

-- name: key.as_uuid
-- holes: key
case when {key} regexp '^[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}$' 
  then cast(convert({key} using utf8mb4) as uuid) end;

-- name: key.as_date
-- holes: key
case when {key} regexp '^[0-9]{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' then cast({key} as date) end;

-- Whether a text may be a key of ours: 1 to 255 bytes without control characters.
-- name: key.is_one
-- holes: key
({key} is not null and octet_length({key}) between 1 and 255
  and {key} not regexp '[\\x{{1}}-\\x{{1f}}\\x{{7f}}-\\x{{9f}}]');
