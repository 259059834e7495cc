-- name: doctor.settings
select 'journal_mode', journal_mode from pragma_journal_mode
union all select 'synchronous', cast(synchronous as text) from pragma_synchronous
union all select 'attached', cast(count(*) as text) from pragma_database_list
  where name not in ('main', 'temp');
