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
