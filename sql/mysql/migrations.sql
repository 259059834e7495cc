-- The tables, version by version. Only what adds: the release before must go on working (the
-- version row says since which version). Printed by `daybook migrate sql`.
--
-- Every statement commits by itself here, so each must be safe to run again: a migration that was
-- cut short is completed by the next call. Names, keys and texts are bytes (varbinary, blob): no
-- collation may take two keys for one.

-- migration: 1 runs
create table if not exists {version} (
  only_row      tinyint        not null primary key check (only_row = 1),
  version       int            not null,
  oldest        int            not null,
  book_id       varbinary(64)  not null,
  movable_clock tinyint        not null,
  created_us    bigint         not null
) engine = InnoDB;

create table if not exists {clock} (
  only_row   tinyint not null primary key check (only_row = 1),
  offset_us  bigint  not null,
  stopped_us bigint
) engine = InnoDB;

create table if not exists {holder} (
  uuid           varbinary(64)   not null primary key,
  lease_until_us bigint          not null,
  ttl_us         bigint          not null,
  node           varbinary(255)  not null,
  pid            bigint          not null,
  started_us     bigint          not null,
  renewed_us     bigint          not null,
  in_hand        varbinary(4000) not null,
  ended_us       bigint,
  ended_how      varbinary(32)
) engine = InnoDB;

create table if not exists {run} (
  process            varbinary(255) not null,
  run_key            varbinary(255) not null,
  state              tinyint        not null check (state in (9, 8, 0, -1, -2, -3, -4, -5)),
  run_no             bigint         not null,
  attempt            bigint         not null,
  epoch              bigint         not null,
  acquisition        varbinary(64)  not null,
  holder             varbinary(64)  not null,
  version            bigint         not null,
  steps_done         bigint         not null,
  first_started_us   bigint         not null,
  started_us         bigint         not null,
  attempt_started_us bigint         not null,
  ended_us           bigint,
  succeeded_us       bigint,
  error              blob           not null,
  primary key (process, run_key),
  index run_by_start (attempt_started_us)
) engine = InnoDB;

create table if not exists {step} (
  process     varbinary(255) not null,
  run_key     varbinary(255) not null,
  run_no      bigint         not null,
  name        varbinary(255) not null,
  seq         bigint         not null,
  attempt     bigint         not null,
  epoch       bigint         not null,
  acquisition varbinary(64)  not null,
  ended_us    bigint         not null,
  value       longblob       not null,
  primary key (process, run_key, run_no, name)
) engine = InnoDB;

create table if not exists {attempt} (
  process     varbinary(255) not null,
  run_key     varbinary(255) not null,
  epoch       bigint         not null,
  run_no      bigint         not null,
  attempt     bigint         not null,
  acquisition varbinary(64)  not null,
  holder      varbinary(64)  not null,
  started_us  bigint         not null,
  ended_us    bigint         not null,
  state       tinyint        not null,
  error       blob           not null,
  primary key (process, run_key, epoch)
) engine = InnoDB;

-- migration: 2 step modes, progress, deadlines
-- A deadline is part of the fence. Programs of version 1 know of none: as long as some still work
-- in the book, give no run a deadline. Each `alter table` is all or nothing; one that a migration
-- cut short had done already says "duplicate column", which is taken for done.
alter table {run}
  add column deadline_us     bigint,
  add column open_intents    bigint,
  add column unknown_intents tinyint,
  add column progress_done   bigint,
  add column progress_total  bigint,
  add column progress_note   varbinary(255),
  add column data_date       varbinary(10);

alter table {holder} add column recalls bigint;

alter table {step}
  add column took_us bigint,
  add column mode    tinyint;

alter table {attempt}
  add column exit_code int,
  add column in_hand   varbinary(255),
  add column output    blob;

-- `token`: of the call that began it. `open_intents` and `unknown_intents` (whether one of them is
-- known to be unknown) stand in the run's own row, for PostgreSQL asks again for a row that it has
-- waited for, and not for what a subquery found elsewhere.
create table if not exists {intent} (
  process     varbinary(255) not null,
  run_key     varbinary(255) not null,
  run_no      bigint         not null,
  name        varbinary(255) not null,
  state       tinyint        not null check (state in (1, 4)),
  attempt     bigint         not null,
  epoch       bigint         not null,
  token       varbinary(64)  not null,
  started_us  bigint         not null,
  primary key (process, run_key, run_no, name)
) engine = InnoDB;

create table if not exists {carry} (
  process     varbinary(255) not null,
  run_key     varbinary(255) not null,
  run_no      bigint         not null,
  name        varbinary(255) not null,
  value       longblob       not null,
  epoch       bigint         not null,
  acquisition varbinary(64)  not null,
  updated_us  bigint         not null,
  primary key (process, run_key, run_no, name)
) engine = InnoDB;

create table if not exists {change} (
  id      bigint         not null auto_increment primary key,
  at_us   bigint         not null,
  process varbinary(255) not null,
  run_key varbinary(255) not null,
  actor   varbinary(255) not null,
  action  varbinary(32)  not null,
  reason  varbinary(255) not null,
  detail  blob           not null,
  index change_by_run (process, run_key, id)
) engine = InnoDB;
