-- The tables, version by version. Only what adds: the release before must go on working (the
-- version row says since which version). Printed by `daybook migrate sql`.

-- migration: 1 runs
create table if not exists {version} (
  only_row       integer not null primary key check (only_row = 1),
  version        integer not null,
  oldest         integer not null,
  book_id        text    not null,
  movable_clock  integer not null,
  created_us     integer not null
) strict;

create table if not exists {clock} (
  only_row   integer not null primary key check (only_row = 1),
  offset_us  integer not null,
  stopped_us integer
) strict;

create table if not exists {holder} (
  uuid           text    not null primary key,
  lease_until_us integer not null,
  ttl_us         integer not null,
  node           text    not null,
  pid            integer not null,
  started_us     integer not null,
  renewed_us     integer not null,
  in_hand        text    not null,
  ended_us       integer,
  ended_how      text
) strict, without rowid;

create table if not exists {run} (
  process            text    not null,
  run_key                text    not null,
  state              integer not null check (state in (9, 8, 0, -1, -2, -3, -4, -5)),
  run_no             integer not null,
  attempt            integer not null,
  epoch              integer not null,
  acquisition        text    not null,
  holder             text    not null,
  version            integer not null,
  steps_done         integer not null,
  first_started_us   integer not null,
  started_us         integer not null,
  attempt_started_us integer not null,
  ended_us           integer,
  succeeded_us       integer,
  error              text    not null,
  primary key (process, run_key)
) strict, without rowid;

create index if not exists {schema}.{prefix}run_by_start on {prefix}run (attempt_started_us);

create table if not exists {step} (
  process     text    not null,
  run_key         text    not null,
  run_no      integer not null,
  name        text    not null,
  seq         integer not null,
  attempt     integer not null,
  epoch       integer not null,
  acquisition text    not null,
  ended_us    integer not null,
  value       text    not null,
  primary key (process, run_key, run_no, name)
) strict, without rowid;

create table if not exists {attempt} (
  process     text    not null,
  run_key         text    not null,
  epoch       integer not null,
  run_no      integer not null,
  attempt     integer not null,
  acquisition text    not null,
  holder      text    not null,
  started_us  integer not null,
  ended_us    integer not null,
  state       integer not null,
  error       text    not null,
  primary key (process, run_key, epoch)
) strict, without rowid;

-- migration: 2 step modes, progress, deadlines
-- A deadline is part of the fence. Programs of version 1 know of none: as long as some still work
-- in the book, give no run a deadline.
alter table {run} add column deadline_us integer;
alter table {run} add column open_intents integer;
alter table {run} add column unknown_intents integer;
alter table {run} add column progress_done integer;
alter table {run} add column progress_total integer;
alter table {run} add column progress_note text;
alter table {run} add column data_date text;

alter table {holder} add column recalls integer;

alter table {step} add column took_us integer;
alter table {step} add column mode integer;

alter table {attempt} add column exit_code integer;
alter table {attempt} add column in_hand text;
alter table {attempt} add column output text;

-- `token`: of the call that began it. `open_intents` and `unknown_intents` (whether one of them is
-- known to be unknown) stand in the run's own row, for PostgreSQL asks again for a row that it has
-- waited for, and not for what a subquery found elsewhere.
create table if not exists {intent} (
  process     text    not null,
  run_key     text    not null,
  run_no      integer not null,
  name        text    not null,
  state       integer not null check (state in (1, 4)),
  attempt     integer not null,
  epoch       integer not null,
  token       text    not null,
  started_us  integer not null,
  primary key (process, run_key, run_no, name)
) strict, without rowid;

create table if not exists {carry} (
  process     text    not null,
  run_key     text    not null,
  run_no      integer not null,
  name        text    not null,
  value       text    not null,
  epoch       integer not null,
  acquisition text    not null,
  updated_us  integer not null,
  primary key (process, run_key, run_no, name)
) strict, without rowid;

create table if not exists {change} (
  id      integer not null primary key autoincrement,
  at_us   integer not null,
  process text    not null,
  run_key text    not null,
  actor   text    not null,
  action  text    not null,
  reason  text    not null,
  detail  text    not null
) strict;

create index if not exists {schema}.{prefix}change_by_run on {prefix}change (process, run_key, id);
