-- name: doctor.settings
select 'journal_mode', journal_mode from pragma_journal_mode
union all select 'synchronous', cast(synchronous as text) from pragma_synchronous
union all select 'attached', cast(count(*) as text) from pragma_database_list
  where name not in ('main', 'temp');

-- name: doctor.tables
select substr(name, length('{prefix}') + 1) from {schema}.sqlite_schema
where type = 'table' and substr(name, 1, length('{prefix}')) = '{prefix}';
