-- What MariaDB and MySQL do not both have (tx_isolation, super_read_only,
-- innodb_snapshot_isolation, wsrep_on, ...) comes with the driver's facts.

-- name: doctor.settings
select 'version', cast(@@global.version as char)
union all select 'innodb_flush_log_at_trx_commit',
  cast(@@global.innodb_flush_log_at_trx_commit as char)
union all select 'innodb_doublewrite', cast(@@global.innodb_doublewrite as char)
union all select 'log_bin', cast(@@global.log_bin as char)
union all select 'binlog_format', cast(@@global.binlog_format as char)
union all select 'sync_binlog', cast(@@global.sync_binlog as char)
union all select 'read_only', cast(@@global.read_only as char)
union all select 'sql_mode', cast(@@session.sql_mode as char)
union all select 'time_zone', cast(@@session.time_zone as char)
union all select 'autocommit', cast(@@session.autocommit as char)
union all select 'innodb_lock_wait_timeout', cast(@@session.innodb_lock_wait_timeout as char)
union all select 'other_engines', coalesce(
  (select cast(group_concat(concat(table_name, ' ', engine) order by table_name separator ', ')
               as char)
   from information_schema.tables
   where table_schema = '{schema}' and table_type = 'BASE TABLE' and engine <> 'InnoDB'
     and left(table_name, char_length('{prefix}')) = '{prefix}'
     and substr(table_name, char_length('{prefix}') + 1)
         in ('version', 'clock', 'holder', 'run', 'step', 'attempt', 'intent', 'carry',
             'change', 'queue', 'member_id', 'member', 'segment', 'claim', 'done', 'outcome',
             'request', 'schedule', 'tick', 'watch', 'watched_id', 'aggregation',
             'aggregation_parent', 'aggregation_log', 'planner', 'planned', 'planned_period',
             'sweep', 'sweep_page', 'series', 'problem', 'intake', 'intake_place', 'intake_seen',
             'intake_refused', 'token')), '')
-- The application's own: an effect in such a table is not rolled back with its step.
union all select 'other_engines_in_schema', cast(count(*) as char)
  from information_schema.tables
  where table_schema = '{schema}' and table_type = 'BASE TABLE' and engine <> 'InnoDB';

-- name: doctor.tables
select substr(table_name, char_length('{prefix}') + 1) from information_schema.tables
where table_schema = '{schema}' and table_type = 'BASE TABLE'
  and left(table_name, char_length('{prefix}')) = '{prefix}';
