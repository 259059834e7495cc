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
-- cut short had done already says "duplicate column" or "duplicate key name", which is taken for done.
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

-- migration: 3 queues
-- A task is not a row: a segment stands for all the members in [lo, hi) that share what it says.
-- Only what schedules is in it; who did what and when is in `outcome`, which is appended to.
create table if not exists {queue} (
  created_us     bigint   not null,
  period_us      bigint   not null,
  grain_us       bigint   not null,
  backoff_us     bigint   not null,
  backoff_max_us bigint   not null,
  retention_us   bigint   not null,
  slot_us        bigint   not null,
  slot_next_us   bigint   not null,
  round_us       bigint,
  id             int      not null auto_increment primary key,
  version        int      not null,
  attempts       int      not null,
  crash_limit    int      not null,
  running_limit  int      not null,
  segment_size   int      not null,
  cadence        smallint not null check (cadence in (0, 1)),
  mode           smallint not null check (mode in (1, 2, 3)),
  detail         smallint not null check (detail in (0, 1)),
  rounds         smallint not null check (rounds in (0, 1)),
  paused         smallint not null check (paused in (0, 1)),
  name           varbinary(255) not null unique
) engine = InnoDB;

-- The ids of members are given out in blocks. One row.
create table if not exists {member_id} (
  next_id  bigint   not null,
  only_row smallint not null primary key check (only_row = 1)
) engine = InnoDB;

insert ignore into {member_id} (next_id, only_row) values (1, 1);

create table if not exists {member} (
  id         bigint not null primary key,
  created_us bigint not null,
  queue      int    not null,
  member_key varbinary(255) not null,
  payload    longblob,
  unique member_by_key (queue, member_key)
) engine = InnoDB;

-- By `hi`: the segment of an id is the first whose hi is above it, and to cut a segment at its
-- lower end changes no index. `lane`: the priority, 0 to 9, and 10 more for those that are claimed
-- singly.
create table if not exists {segment} (
  hi        bigint   not null primary key,
  lo        bigint   not null,
  due_us    bigint   not null,
  turn_us   bigint   not null,
  period_us bigint   not null,
  queue     int      not null,
  attempts  int      not null,
  crashes   int      not null,
  lane      smallint not null check (lane between 0 and 19),
  state     smallint not null check (state in (0, 2, 3, 4, 5, 6, 7)),
  check (lo < hi),
  index segment_by_due (queue, lane, due_us, hi)
) engine = InnoDB;

-- `ranges`: rows of [lo, hi, hi of the segment it was cut from, lane, state, attempts, crashes,
-- turn_us, period_us, due_us], in JSON. `reclaimed_us`: its holder died; the row stays so that the
-- holder, should it live after all, hears of it. json_valid: a server that cuts long texts short
-- (group_concat_max_len) must say so, and not lose tasks.
create table if not exists {claim} (
  claimed_us   bigint not null,
  reclaimed_us bigint,
  queue        int    not null,
  size         int    not null,
  id           varbinary(64) not null primary key,
  holder       varbinary(64) not null,
  ranges       longtext character set ascii collate ascii_bin not null check (json_valid(ranges))
) engine = InnoDB;

-- What is finished of a claim that goes on.
create table if not exists {done} (
  lo          bigint   not null,
  hi          bigint   not null,
  finished_us bigint   not null,
  delay_us    bigint   not null,
  attempts    int      not null,
  state       smallint not null,
  claim       varbinary(64) not null,
  remark      blob not null,
  primary key (claim, lo)
) engine = InnoDB;

create table if not exists {outcome} (
  lo          bigint   not null,
  hi          bigint   not null,
  turn_us     bigint   not null,
  started_us  bigint   not null,
  finished_us bigint   not null,
  queue       int      not null,
  attempts    int      not null,
  state       smallint not null,
  claim       varbinary(64) not null,
  remark      blob not null,
  primary key (lo, claim)
) engine = InnoDB;

create table if not exists {request} (
  seq    bigint   not null auto_increment primary key,
  member bigint   not null,
  at_us  bigint   not null,
  queue  int      not null,
  kind   smallint not null check (kind between 1 and 5)
) engine = InnoDB;

-- migration: 4 schedules
-- A tick is a run whose process is the schedule's name. `decided_us`: all ticks up to there are
-- launched or skipped, for ever, whatever is pruned. `window_us`: where the next window begins, the
-- tick launched last.
create table if not exists {schedule} (
  created_us         bigint not null,
  decided_us         bigint not null,
  window_us          bigint not null,
  running_us         bigint,
  running_since_us   bigint,
  version            bigint not null,
  decisions          bigint not null,
  grace_us           bigint not null,
  backoff_us         bigint not null,
  longest_backoff_us bigint not null,
  most               int not null,
  attempts           int not null,
  crash_limit        int not null,
  keep               int not null,
  gap                smallint not null check (gap in (0, 1)),
  fold               smallint not null check (fold in (0, 1, 2)),
  catch_up           smallint not null check (catch_up in (0, 1, 2)),
  overlap            smallint not null check (overlap in (0, 1)),
  state              smallint not null check (state in (0, 1, 2)),
  name               varbinary(255) not null primary key,
  cron               varbinary(255) not null,
  zone               varbinary(255) not null,
  running_key        varbinary(255)
) engine = InnoDB;

-- Several in a row that were skipped for one reason are one row.
create table if not exists {tick} (
  tick_us     bigint not null,
  first_us    bigint not null,
  ticks       bigint not null,
  window_us   bigint not null,
  due_us      bigint not null,
  launched_us bigint,
  ended_us    bigint,
  failures    int not null,
  crashes     int not null,
  state       smallint not null check (state between 0 and 5),
  by_hand     smallint not null check (by_hand in (0, 1, 2)),
  schedule    varbinary(255) not null,
  run_key     varbinary(255) not null,
  reason      blob not null,
  primary key (schedule, tick_us),
  index tick_open (schedule, state, due_us)
) engine = InnoDB;

-- migration: 5 tables of yours
-- A queue follows a table of the application: one row for each that does. Triggers (printed first,
-- installed on request) are the fast way; the comparison of both is what holds.
alter table {queue} add column on_new tinyint;

create table if not exists {watch} (
  queue         int not null primary key,
  created_us    bigint not null,
  installed_us  bigint,
  reconciled_us bigint,
  source        blob not null,
  key_column    blob not null
) engine = InnoDB;

-- Ids of members that triggers add: above all that processes take in blocks, and taken by nobody's
-- transaction from another. Rows are deleted as they come.
create table if not exists {watched_id} (
  id bigint not null auto_increment primary key
) engine = InnoDB auto_increment = 4611686018427387904;

-- `position`: where the pass has come to that all who aggregate share; only a hint. `declared`: what
-- was declared last, as text.
create table if not exists {aggregation} (
  id         int not null auto_increment primary key,
  created_us bigint not null,
  changed_us bigint not null,
  pass       bigint not null,
  name       varbinary(255) not null,
  position   blob,
  declared   mediumblob not null,
  unique index aggregation_name (name)
) engine = InnoDB;

-- Each parent that was ever made. `open_group` is its group while rows may be added to it, so that
-- there is one for each group.
create table if not exists {aggregation_parent} (
  aggregation int not null,
  opened_us   bigint not null,
  closed_us   bigint,
  ended_us    bigint,
  parent_key  varbinary(255) not null,
  group_key   varbinary(700) not null,
  open_group  varbinary(700),
  primary key (aggregation, parent_key),
  unique index aggregation_open (aggregation, open_group),
  index aggregation_group (aggregation, group_key)
) engine = InnoDB;

-- What was done: a row for each chunk, and for each parent that was closed, settled or reverted.
-- `call_id`: of the transaction, so that one whose reply was lost is not done twice.
create table if not exists {aggregation_log} (
  id          bigint not null auto_increment primary key,
  at_us       bigint not null,
  items       bigint not null,
  aggregation int not null,
  action      smallint not null,
  call_id     binary(36) not null,
  parent_key  varbinary(255),
  actor       varbinary(255) not null,
  reason      varbinary(255) not null,
  detail      blob not null,
  unique index aggregation_log_call (call_id),
  index aggregation_log_parent (aggregation, parent_key, id)
) engine = InnoDB;

-- migration: 6 planners
-- `source`: the query, the queue of events, the zone, or the table.

create table if not exists {planner} (
  id             int not null auto_increment primary key,
  created_us     bigint not null,
  next_us        bigint not null,
  ended_us       bigint,
  passes         bigint not null,
  launched       bigint not null,
  every_us       bigint not null,
  timeout_us     bigint not null,
  since_us       bigint not null,
  again_us       bigint not null,
  few            bigint not null,
  queue          int not null,
  page           int not null,
  most           int not null,
  unit_count     int not null,
  strategy       smallint not null,
  rule           smallint not null,
  priority       smallint not null,
  unit           smallint not null,
  newest_first   smallint not null,
  in_memory      smallint not null,
  paused         smallint not null,
  name           varbinary(255) not null,
  source         mediumblob not null,
  key_columns    blob not null,
  created_column blob not null,
  check_sql      mediumblob not null,
  error          blob not null,
  unique index planner_name (name)
) engine = InnoDB;

-- What a planner knows of a key, for ever: that a task is gone is no reason to launch it again.
-- `standing`: when it came up last it was 1 launched, 2 refused.
create table if not exists {planned} (
  launches         bigint not null,
  first_us         bigint,
  last_us          bigint,
  refusals         bigint not null,
  first_refused_us bigint,
  last_refused_us  bigint,
  planner          int not null,
  standing         smallint not null,
  planned_key      varbinary(255) not null,
  reason           blob not null,
  primary key (planner, planned_key),
  index planned_standing (planner, standing, planned_key)
) engine = InnoDB;

-- A period of a window planner. `state`: 0 due, 1 launched, 2 done.
create table if not exists {planned_period} (
  start_us    bigint not null,
  end_us      bigint not null,
  launched_us bigint,
  done_us     bigint,
  reopened_us bigint,
  launches    int not null,
  planner     int not null,
  state       smallint not null,
  period_key  varbinary(255) not null,
  primary key (planner, start_us),
  unique index planned_period_key (planner, period_key),
  index planned_period_state (planner, state, start_us)
) engine = InnoDB;

-- A sweep over a table. `state`: 0 cutting, 1 working, 2 closing, 3 over. `place`: where the last
-- page ends that was cut in order; `compared`: the last page of those that a comparison has seen.
create table if not exists {sweep} (
  started_us  bigint not null,
  ended_us    bigint,
  pages       bigint not null,
  items       bigint not null,
  late        bigint not null,
  found       bigint not null,
  compared    bigint not null,
  comparisons bigint not null,
  planner     int not null,
  sweep       bigint not null,
  state       smallint not null,
  place       blob,
  primary key (planner, sweep)
) engine = InnoDB;

-- A page of it. `base`: the page cut in order in whose range it was found; its own where that is it.
-- `state`: 0 cut, 1 launched, 2 done, 3 given up. Its rows are after `low`, up to `high`.
create table if not exists {sweep_page} (
  done_us  bigint,
  base     bigint not null,
  items    bigint not null,
  vanished bigint not null,
  planner  int not null,
  sweep    bigint not null,
  page     bigint not null,
  state    smallint not null,
  low      blob,
  high     blob not null,
  row_keys mediumblob not null,
  primary key (planner, sweep, page),
  index sweep_page_base (planner, sweep, base, page),
  index sweep_page_state (planner, sweep, state, page)
) engine = InnoDB;

-- How long a task that is done stays a member; null, 0: for ever.
alter table {queue} add column forget_us bigint;

-- Whether the tasks of a series are done one after the other; null, 0: not.
alter table {queue} add column in_order tinyint;

-- A task of such a queue that is not over.
create table if not exists {series} (
  added_us   bigint not null,
  member     bigint not null primary key,
  queue      int    not null,
  series_key varbinary(255) not null,
  index series_in_order (queue, series_key, added_us, member)
) engine = InnoDB;

-- migration: 7 bursts
-- So many tasks may begin at once when a queue with a rate stood still; null: 1.
alter table {queue} add column burst int;

-- migration: 8 a cheap look
-- Indexes for who looks at the book. Here an index cannot leave out rows: these have one for what
-- succeeds, too. Tasks that wait for a person are found among the segments, which are few.
alter table {run} add index run_in_hand (ended_us, attempt_started_us);

alter table {attempt} add index attempt_by_state (state, ended_us);

alter table {aggregation_parent} add index aggregation_in_hand (aggregation, ended_us);

-- migration: 9 alerts
-- Problems as daemons that tell people of them saw them. `seen`: in so many looks; `unseen`: since
-- then in so many not; `told_us`: when people were told last.
create table if not exists {problem} (
  since_us bigint not null,
  seen_us  bigint not null,
  told_us  bigint,
  seen     smallint not null,
  unseen   smallint not null,
  urgency  smallint not null,
  print    varbinary(64) not null primary key,
  kind     varbinary(64) not null,
  subject  blob not null,
  why      blob not null,
  remedy   blob not null
) engine = InnoDB;

-- migration: 10 intakes
-- Messages of a broker that come into the book. `target`: 0 a body of the program's, 1 tasks of
-- `queue`, 2 its members. `state`: 0 active, 1 paused, 2 stopped because of `error`. `begun_us`: when
-- the log's partitions were first seen; one that is new later is read from its beginning.
create table if not exists {intake} (
  id            int not null auto_increment primary key,
  created_us    bigint not null,
  begun_us      bigint,
  version       bigint not null,
  page_bytes    bigint not null,
  gather_us     bigint not null,
  backoff_us    bigint not null,
  remember_us   bigint not null,
  queue         int,
  page          int not null,
  lanes         int not null,
  attempts      int not null,
  refused_limit int not null,
  target        smallint not null check (target in (0, 1, 2)),
  state         smallint not null check (state in (0, 1, 2)),
  identity      smallint not null check (identity between 0 and 4),
  payload       smallint not null check (payload in (0, 1)),
  begin_at      smallint not null check (begin_at in (0, 1)),
  on_gap        smallint not null check (on_gap in (0, 1)),
  on_error      smallint check (on_error in (0, 1)),
  name          varbinary(255) not null,
  identity_name varbinary(255) not null,
  error         blob not null,
  unique (name)
) engine = InnoDB;

-- How far a partition of a log was read, moved in the transaction of the effect. `anchor`: a digest of
-- the message before `next`, by which a log that was made anew is known.
create table if not exists {intake_place} (
  next_position bigint not null,
  moved_us      bigint not null,
  taken         bigint not null,
  refused       bigint not null,
  skipped       bigint not null,
  intake        int not null,
  part          int not null,
  topic         varbinary(255) not null,
  anchor        varbinary(64) not null,
  primary key (intake, topic, part)
) engine = InnoDB;

-- The ids of a queue's messages, each written in the transaction of its effect.
create table if not exists {intake_seen} (
  seen_us    bigint not null,
  intake     int not null,
  message_id varbinary(255) not null,
  primary key (intake, message_id),
  index intake_seen_since (intake, seen_us)
) engine = InnoDB;

-- Messages that could not be taken; each in the transaction that would have taken it.
create table if not exists {intake_refused} (
  id          bigint not null auto_increment primary key,
  refused_us  bigint not null,
  position    bigint,
  intake      int not null,
  part        int not null,
  attempts    int not null,
  topic       varbinary(255) not null,
  message_id  blob not null,
  message_key blob not null,
  reason      blob not null,
  body        longblob not null,
  index intake_refused_of (intake, id)
) engine = InnoDB;

-- migration: 11 access
-- Who may use the console and the HTTP API. `kind`: 0 token, 1 session, 2 one-time code; `hash`: the
-- SHA-256 of the whole text, in hex. The text itself is nowhere.
create table if not exists {token} (
  created_us bigint not null,
  expires_us bigint,
  used_us    bigint,
  revoked_us bigint,
  kind       smallint not null,
  role       smallint not null,
  id         varbinary(32) not null primary key,
  hash       varbinary(64) not null,
  name       varbinary(255) not null,
  made_by    varbinary(255) not null
) engine = InnoDB;

-- What the request that made a change called itself: the same request changes nothing twice.
alter table {change} add column request varbinary(64);

alter table {change} add unique index change_by_request (request);
