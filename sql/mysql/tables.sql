-- name: table.about
select case when t.table_type like '%VIEW%' then 'view'
            when t.create_options like '%partitioned%' then 'partitioned' else 'table' end,
  case when t.engine = 'InnoDB' then 1 else 0 end, 1
from information_schema.tables t where t.table_schema = :schema and t.table_name = :table;

-- name: table.columns
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
select s.index_name, case when s.sub_part is null then s.column_name end,
  case when s.non_unique = 0 then 1 else 0 end,
  case when s.index_name = 'PRIMARY' then 1 else 0 end, 0, ''
from information_schema.statistics s
where s.table_schema = :schema and s.table_name = :table
order by s.index_name, s.seq_in_index;

-- name: table.names
select t.table_name from information_schema.tables t
where t.table_schema = :schema and t.table_type = 'BASE TABLE'
  and substr(t.table_name, 1, char_length(:prefix)) <> :prefix
order by t.table_name limit :count;

-- name: key.of_integer
cast({column} as char character set utf8mb4);

-- name: key.of_text
cast({column} as char character set utf8mb4);

-- name: key.of_uuid
lower(cast({column} as char character set utf8mb4));

-- name: key.of_date
date_format({column}, '%Y-%m-%d');

-- It may be the value of another key: compare the texts as well, as bytes.
-- name: key.as_integer
case when convert({key} using utf8mb4) regexp '^-?[0-9]{{1,20}}$' then cast({key} as decimal(20, 0)) end;

-- name: key.as_text
convert({key} using utf8mb4);

-- name: key.as_uuid
case when convert({key} using utf8mb4) regexp '^[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}$' 
  then cast(convert({key} using utf8mb4) as uuid) end;

-- A 30th of February is a day of March: where rows are deleted, MySQL refuses to cast it.
-- name: key.as_date
case when convert({key} using utf8mb4) regexp '^[0-9]{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' 
  then cast(concat(substr(convert({key} using utf8mb4), 1, 8), '01') as date)
    + interval substr(convert({key} using utf8mb4), 9, 2) - 1 day end;

-- name: key.is_one
({key} is not null and octet_length({key}) between 1 and 255
  and convert({key} using utf8mb4) not regexp '[\\x{{1}}-\\x{{1f}}\\x{{7f}}-\\x{{9f}}]');
