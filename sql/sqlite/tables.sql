-- name: table.about
select case t.type when 'table' then 'table' when 'view' then 'view' else 'other' end, 1, t.strict
from pragma_table_list(:table) t where t.schema = :schema and t.name = :table;

-- The kind goes by what SQLite makes of the type's name.
-- name: table.columns
select c.name,
  case when upper(c.type) = 'UUID' then 'uuid' when upper(c.type) = 'DATE' then 'date'
    when upper(c.type) like '%INT%' or upper(c.type) like 'BOOL%' then 'integer'
    when upper(c.type) like '%CHAR%' or upper(c.type) like '%CLOB%'
      or upper(c.type) like '%TEXT%' then 'text'
    when upper(c.type) like '%REAL%' or upper(c.type) like '%FLOA%'
      or upper(c.type) like '%DOUB%' then 'real'
    when upper(c.type) like '%DEC%' or upper(c.type) like '%NUM%' then 'decimal'
    else 'other' end,
  -9223372036854775807 - 1, 9223372036854775807, null,
  case when c."notnull" = 1 or (c.pk > 0 and upper(c.type) = 'INTEGER') then 0 else 1 end,
  case when c.hidden in (2, 3) then 1 else 0 end, c.type
from pragma_table_xinfo(:table, :schema) c where c.hidden <> 1 order by c.cid;

-- A row for each column of each index, also of the rowid; `column` is null for an expression.
-- name: table.indexes
select i.name, x.name, i."unique", case when i.origin = 'pk' then 1 else 0 end, 0,
  case when i.partial = 0 then ''
    else (select substr(m.sql, instr(lower(m.sql), ' where ') + 7) from sqlite_schema m
          where m.type = 'index' and m.name = i.name) end
from pragma_index_list(:table, :schema) i, pragma_index_xinfo(i.name, :schema) x
where x.key = 1
union all
select 'rowid', c.name, 1, 1, 0, '' from pragma_table_xinfo(:table, :schema) c
where c.pk = 1 and upper(c.type) = 'INTEGER'
  and not exists (select 1 from pragma_table_xinfo(:table, :schema) o where o.pk = 2)
  and not exists (select 1 from pragma_index_list(:table, :schema) i where i.origin = 'pk');

-- name: table.names
select t.name from pragma_table_list t
where t.schema = :schema and t.type = 'table' and t.name not like 'sqlite_%'
  and substr(t.name, 1, length(:prefix)) <> :prefix
order by t.name limit :count;

-- name: key.of_integer
cast({column} as text);

-- name: key.of_text
cast({column} as text);

-- name: key.of_uuid
cast({column} as text);

-- name: key.of_date
cast({column} as text);

-- name: table.create_index
create index {schema_name}.{index} on {table} ({columns});

-- It may be the value of another key: compare the texts as well.
-- name: key.as_integer
cast({key} as integer);

-- name: key.as_uuid
{key};

-- name: key.as_date
{key};

-- name: key.is_one
({key} is not null and length(cast({key} as blob)) between 1 and 255
  and {key} not glob '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*');
