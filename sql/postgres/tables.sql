-- name: table.about
select case c.relkind when 'r' then 'table' when 'p' then 'partitioned' when 'v' then 'view'
         when 'm' then 'view' else 'other' end, 1, 1
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = :schema and c.relname = :table and c.relkind in ('r', 'p', 'v', 'm', 'f');

-- name: table.columns
select a.attname,
  case base.typname when 'int2' then 'integer' when 'int4' then 'integer' when 'int8' then 'integer'
    when 'text' then 'text' when 'varchar' then 'text' when 'bpchar' then 'text'
    when 'uuid' then 'uuid' when 'date' then 'date' when 'bool' then 'boolean'
    when 'numeric' then 'decimal' when 'float4' then 'real' when 'float8' then 'real'
    else 'other' end,
  case base.typname when 'int2' then -32768 when 'int4' then -2147483648
    when 'int8' then -9223372036854775808 else 0 end::bigint,
  case base.typname when 'int2' then 32767 when 'int4' then 2147483647
    when 'int8' then 9223372036854775807 else 0 end::bigint,
  case when base.typname in ('varchar', 'bpchar') and a.atttypmod > 4 then a.atttypmod - 4 end::bigint,
  case when a.attnotnull then 0 else 1 end,
  case when a.attgenerated <> '' or a.attidentity = 'a' then 1 else 0 end,
  pg_catalog.format_type(a.atttypid, a.atttypmod)
from pg_catalog.pg_attribute a
  join pg_catalog.pg_class c on c.oid = a.attrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_type t on t.oid = a.atttypid
  join pg_catalog.pg_type base
    on base.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
where n.nspname = :schema and c.relname = :table and a.attnum > 0 and not a.attisdropped
order by a.attnum;

-- A row for each column of each index; `column` is null for an expression.
-- name: table.indexes
select i.relname, a.attname, case when x.indisunique then 1 else 0 end,
  case when x.indisprimary then 1 else 0 end, case when x.indimmediate then 0 else 1 end,
  coalesce(pg_catalog.pg_get_expr(x.indpred, x.indrelid), '')
from pg_catalog.pg_index x
  join pg_catalog.pg_class c on c.oid = x.indrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_class i on i.oid = x.indexrelid
  cross join lateral unnest(x.indkey::int2[]) with ordinality as k (attnum, place)
  left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum and k.attnum > 0
where n.nspname = :schema and c.relname = :table and x.indisvalid and k.place <= x.indnkeyatts
order by i.relname, k.place;

-- name: table.names
select c.relname from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = :schema and c.relkind in ('r', 'p')
  and pg_catalog.substr(c.relname, 1, pg_catalog.length(:prefix)) <> :prefix
order by c.relname limit :count;

-- name: key.of_integer
{column}::text;

-- name: key.of_text
{column}::text;

-- name: key.of_uuid
{column}::text;

-- name: key.of_date
to_char({column}, 'FMYYYY-MM-DD');

-- It may be the value of another key: compare the texts as well.
-- name: key.as_integer
case when {key} ~ '^-?[0-9]{{1,18}}$' then {key}::bigint
     when {key} ~ '^-?[0-9]{{19}}$'
       and {key}::numeric between -9223372036854775808 and 9223372036854775807 then {key}::bigint end;

-- name: key.as_uuid
case when {key} ~ '^[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}$' then {key}::uuid end;

-- name: key.as_date
case when {key} ~ '^[0-9]{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'
  then (pg_catalog.substr({key}, 1, 7) || '-01')::date + (pg_catalog.substr({key}, 9, 2)::int - 1) end;

-- name: key.is_one
({key} is not null and octet_length({key}) between 1 and 255 and {key} !~ '[\u0001-\u001f\u007f-\u009f]');
