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
