-- The tables of the application, as the engine's own catalogue has them; and how a key of theirs is
-- written as one of ours.

-- name: table.about
-- in: schema, table
-- out: kind, transactional, strict
select case t.type when 'table' then 'table' when 'view' then 'view' else 'other' end, 1, t.strict
from pragma_table_list(:table) t where t.schema = :schema and t.name = :table;

-- The kind goes by what SQLite makes of the type's name.
-- name: table.columns
-- in: schema, table
-- out: name, kind, low, high, length, nullable, generated, type
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
-- in: schema, table
-- out: name, column, is_unique, is_primary, is_deferrable, condition
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

-- Not the book's own.
-- name: table.names
-- in: schema, prefix, count
-- out: name
select t.name from pragma_table_list t
where t.schema = :schema and t.type = 'table' and t.name not like 'sqlite_%'
  and substr(t.name, 1, length(:prefix)) <> :prefix
order by t.name limit :count;

-- A column as the text that is its key with us.
-- name: key.of_integer
-- holes: column
cast({column} as text);

-- name: key.of_text
-- holes: column
cast({column} as text);

-- name: key.of_uuid
-- holes: column
cast({column} as text);

-- name: key.of_date
-- holes: column
cast({column} as text);

-- What a person may run.
-- name: table.create_index
-- holes: index, schema_name, table, columns
create index {schema_name}.{index} on {table} ({columns});

-- A key of ours as a value of the column's kind, so that the index on that serves; null where it is
-- none. It may be the value of another key: compare the texts as well.
-- name: key.as_integer
-- holes: key
cast({key} as integer);

-- name: key.as_text
-- holes: key
{key};

-- name: key.as_uuid
-- holes: key
{key};

-- name: key.as_date
-- holes: key
{key};

-- Whether a text may be a key of ours: 1 to 255 bytes without control characters.
-- name: key.is_one
-- holes: key
({key} is not null and length(cast({key} as blob)) between 1 and 255
  and {key} not glob '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*');
