-- Only a monitoring role sees whether a standby is synchronous: for others that is "unknown".
-- name: doctor.settings
select name, coalesce(pg_catalog.current_setting(name, true), '')
from unnest(array['fsync', 'full_page_writes', 'synchronous_commit', 'transaction_read_only',
  'default_transaction_read_only', 'default_transaction_isolation', 'server_version_num',
  'server_encoding', 'TimeZone', 'lock_timeout', 'idle_in_transaction_session_timeout']) as name
union all
select 'in_recovery', case when pg_catalog.pg_is_in_recovery() then 'on' else 'off' end
union all
select kind.name, case when bool_or(s.pid is not null and s.sync_state is null) then 'unknown'
                       else count(*) filter (where s.sync_state = any (kind.states))::text end
from (values ('sync_standbys', array['sync', 'quorum']),
             ('async_standbys', array['async', 'potential'])) as kind (name, states)
  left join pg_catalog.pg_stat_replication s on s.state is distinct from 'backup'
group by kind.name
union all
select 'exposed_functions', coalesce(pg_catalog.string_agg(p.proname, ', ' order by p.proname), '')
from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where n.nspname = '{schema}' and p.prosecdef and p.proname ~ '^{prefix}watch_[0-9]+$'
  and (exists (select from pg_catalog.aclexplode(
                 coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) as a
               where a.grantee <> p.proowner)
    or not coalesce(p.proconfig, array[]::text[]) @> array['search_path=pg_catalog, pg_temp'])
union all
select 'unwaited_standbys', case when pg_catalog.current_setting('synchronous_commit') in
  ('local', 'off') then pg_catalog.current_setting('synchronous_standby_names') else '' end
union all
select 'missing_standbys',
  case when pg_catalog.current_setting('synchronous_standby_names') = ''
         or bool_or(s.sync_state in ('sync', 'quorum')) then ''
       when bool_or(s.pid is not null and s.sync_state is null) then 'unknown'
       else pg_catalog.current_setting('synchronous_standby_names') end
from (values (1)) as once (n)
  left join pg_catalog.pg_stat_replication s on s.state is distinct from 'backup'
union all
select 'not_writable', coalesce(pg_catalog.string_agg(c.relname, ', ' order by c.relname), '')
from unnest(array['version', 'clock', 'holder', 'run', 'step', 'attempt', 'intent', 'carry',
  'change', 'queue', 'member_id', 'member', 'segment', 'claim', 'done', 'outcome', 'request',
  'schedule', 'tick', 'watch', 'aggregation', 'aggregation_parent',
  'aggregation_log', 'planner', 'planned', 'planned_period', 'sweep', 'sweep_page',
  'series', 'problem', 'intake', 'intake_place', 'intake_seen', 'intake_refused',
  'token']) as name
  join pg_catalog.pg_class c on c.oid = pg_catalog.to_regclass('{schema}.{prefix}' || name)
where not (pg_catalog.has_table_privilege(c.oid, 'select')
  and pg_catalog.has_table_privilege(c.oid, 'insert')
  and pg_catalog.has_table_privilege(c.oid, 'update')
  and pg_catalog.has_table_privilege(c.oid, 'delete'));

-- name: doctor.tables
select substr(c.relname, char_length('{prefix}') + 1)
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = '{schema}' and c.relkind in ('r', 'p')
  and left(c.relname, char_length('{prefix}')) = '{prefix}';
