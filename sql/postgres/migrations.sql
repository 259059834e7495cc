-- The tables, version by version. Only what adds: the release before must go on working (the
-- version row says since which version). Printed by `daybook migrate sql`.
--
-- Text is compared byte by byte (collate "C"), also where the database's own order is another,
-- and its indexes survive an upgrade of the system's locales.
--
-- `run` and `holder` rows are rewritten often. Half of each page is left free, so that a new
-- version of a row finds room beside the old one (a HOT update), which no index then hears of.
-- The only other index is on attempt_started_us, which changes when an attempt starts and never
-- in a step, a fence or an end: those stay HOT. An index on any other changing column, or a
-- partial index whose predicate names one (state), would end that.

-- migration: 1 runs
-- Two that migrate at once take turns, so that "if not exists" means it.
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

create table if not exists {version} (
  only_row       smallint not null primary key check (only_row = 1),
  version        int      not null,
  oldest         int      not null,
  book_id        text     collate "C" not null,
  movable_clock  smallint not null,
  created_us     bigint   not null
);

create table if not exists {clock} (
  only_row   smallint not null primary key check (only_row = 1),
  offset_us  bigint   not null,
  stopped_us bigint
);

create table if not exists {holder} (
  lease_until_us bigint not null,
  ttl_us         bigint not null,
  started_us     bigint not null,
  renewed_us     bigint not null,
  ended_us       bigint,
  pid            bigint not null,
  uuid           text   collate "C" not null primary key,
  node           text   collate "C" not null,
  ended_how      text   collate "C",
  in_hand        text   collate "C" not null
) with (fillfactor = 50);

create table if not exists {run} (
  process            text     collate "C" not null check (octet_length(process) <= 255),
  run_key            text     collate "C" not null check (octet_length(run_key) <= 255),
  epoch              bigint   not null,
  version            bigint   not null,
  run_no             bigint   not null,
  first_started_us   bigint   not null,
  started_us         bigint   not null,
  attempt_started_us bigint   not null,
  ended_us           bigint,
  succeeded_us       bigint,
  attempt            int      not null,
  steps_done         int      not null,
  state              smallint not null check (state in (9, 8, 0, -1, -2, -3, -4, -5)),
  acquisition        text     collate "C" not null,
  holder             text     collate "C" not null,
  error              text     collate "C" not null,
  primary key (process, run_key)
) with (fillfactor = 50);

create index if not exists {prefix}run_by_start on {run} (attempt_started_us);

create table if not exists {step} (
  process     text   collate "C" not null check (octet_length(process) <= 255),
  run_key     text   collate "C" not null check (octet_length(run_key) <= 255),
  run_no      bigint not null,
  epoch       bigint not null,
  ended_us    bigint not null,
  attempt     int    not null,
  seq         int    not null,
  name        text   collate "C" not null check (octet_length(name) <= 255),
  acquisition text   collate "C" not null,
  value       text   collate "C" not null,
  primary key (process, run_key, run_no, name)
);

create table if not exists {attempt} (
  process     text     collate "C" not null check (octet_length(process) <= 255),
  run_key     text     collate "C" not null check (octet_length(run_key) <= 255),
  epoch       bigint   not null,
  run_no      bigint   not null,
  started_us  bigint   not null,
  ended_us    bigint   not null,
  attempt     int      not null,
  state       smallint not null,
  acquisition text     collate "C" not null,
  holder      text     collate "C" not null,
  error       text     collate "C" not null,
  primary key (process, run_key, epoch)
);

-- migration: 2 step modes, progress, deadlines
-- A deadline is part of the fence. Programs of version 1 know of none: as long as some still work
-- in the book, give no run a deadline.
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

alter table {run}
  add column if not exists deadline_us     bigint,
  add column if not exists open_intents    int,
  add column if not exists unknown_intents smallint,
  add column if not exists progress_done   bigint,
  add column if not exists progress_total  bigint,
  add column if not exists progress_note   text collate "C",
  add column if not exists data_date       text collate "C";

alter table {holder} add column if not exists recalls bigint;

alter table {step}
  add column if not exists took_us bigint,
  add column if not exists mode    smallint;

alter table {attempt}
  add column if not exists exit_code int,
  add column if not exists in_hand   text collate "C",
  add column if not exists output    text collate "C";

-- `token`: of the call that began it. `open_intents` and `unknown_intents` (whether one of them is
-- known to be unknown) stand in the run's own row, for PostgreSQL asks again for a row that it has
-- waited for, and not for what a subquery found elsewhere.
create table if not exists {intent} (
  process     text     collate "C" not null check (octet_length(process) <= 255),
  run_key     text     collate "C" not null check (octet_length(run_key) <= 255),
  run_no      bigint   not null,
  epoch       bigint   not null,
  started_us  bigint   not null,
  attempt     int      not null,
  state       smallint not null check (state in (1, 4)),
  name        text     collate "C" not null check (octet_length(name) <= 255),
  token       text     collate "C" not null,
  primary key (process, run_key, run_no, name)
);

create table if not exists {carry} (
  process     text   collate "C" not null check (octet_length(process) <= 255),
  run_key     text   collate "C" not null check (octet_length(run_key) <= 255),
  run_no      bigint not null,
  epoch       bigint not null,
  updated_us  bigint not null,
  name        text   collate "C" not null check (octet_length(name) <= 255),
  acquisition text   collate "C" not null,
  value       text   collate "C" not null,
  primary key (process, run_key, run_no, name)
);

create table if not exists {change} (
  id      bigint not null generated always as identity primary key,
  at_us   bigint not null,
  process text   collate "C" not null,
  run_key text   collate "C" not null,
  actor   text   collate "C" not null,
  action  text   collate "C" not null,
  reason  text   collate "C" not null,
  detail  text   collate "C" not null
);

create index if not exists {prefix}change_by_run on {change} (process, run_key, id);
