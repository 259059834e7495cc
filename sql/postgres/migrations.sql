-- The tables, version by version. Only what adds: the release before must go on working (the
-- version row says since which version). Printed by `daybook migrate sql`.
--
-- Text is compared byte by byte (collate "C"), also where the database's own order is another,
-- and its indexes survive an upgrade of the system's locales.
--
-- `run` and `holder` rows are rewritten often. Half of each page is left free, so that a new
-- version of a row finds room beside the old one (a HOT update), which no index then hears of.
-- The other indexes are on attempt_started_us, which changes when an attempt starts and never in a
-- step, a fence or an end, and (8) only where ended_us is null, which changes at the end: steps and
-- fences stay HOT. An index on any other changing column, or a partial index whose predicate names
-- one (state), would end that.

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

-- migration: 3 queues
-- A task is not a row: a segment stands for all the members in [lo, hi) that share what it says.
-- Only what schedules is in it; who did what and when is in `outcome`, which is appended to.
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

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
  id             int      not null generated always as identity primary key,
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
  name           text     collate "C" not null unique check (octet_length(name) <= 255)
) with (fillfactor = 50);

-- The ids of members are given out in blocks. One row.
create table if not exists {member_id} (
  next_id  bigint   not null,
  only_row smallint not null primary key check (only_row = 1)
) with (fillfactor = 50);

insert into {member_id} (next_id, only_row) values (1, 1) on conflict do nothing;

create table if not exists {member} (
  id         bigint not null primary key,
  created_us bigint not null,
  queue      int    not null,
  member_key text   collate "C" not null check (octet_length(member_key) <= 255),
  payload    text   collate "C",
  unique (queue, member_key)
);

-- By `hi`: the segment of an id is the first whose hi is above it, and to cut a segment at its
-- lower end changes no index (a HOT update). `lane`: the priority, 0 to 9, and 10 more for those
-- that are claimed singly.
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
  check (lo < hi)
) with (fillfactor = 70);

create index if not exists {prefix}segment_by_due on {segment} (queue, lane, due_us, hi);

-- `ranges`: rows of [lo, hi, hi of the segment it was cut from, lane, state, attempts, crashes,
-- turn_us, period_us, due_us], in JSON. `reclaimed_us`: its holder died; the row stays so that the
-- holder, should it live after all, hears of it.
create table if not exists {claim} (
  claimed_us   bigint not null,
  reclaimed_us bigint,
  queue        int    not null,
  size         int    not null,
  id           uuid   not null primary key,
  holder       text   collate "C" not null,
  ranges       text   collate "C" not null
);

-- What is finished of a claim that goes on.
create table if not exists {done} (
  lo          bigint   not null,
  hi          bigint   not null,
  finished_us bigint   not null,
  delay_us    bigint   not null,
  attempts    int      not null,
  state       smallint not null,
  claim       uuid     not null,
  remark      text     collate "C" not null,
  primary key (claim, lo)
);

create table if not exists {outcome} (
  lo          bigint   not null,
  hi          bigint   not null,
  turn_us     bigint   not null,
  started_us  bigint   not null,
  finished_us bigint   not null,
  queue       int      not null,
  attempts    int      not null,
  state       smallint not null,
  claim       uuid     not null,
  remark      text     collate "C" not null,
  primary key (lo, claim)
);

create table if not exists {request} (
  seq    bigint   not null generated always as identity primary key,
  member bigint   not null,
  at_us  bigint   not null,
  queue  int      not null,
  kind   smallint not null check (kind between 1 and 5)
);

-- migration: 4 schedules
-- A tick is a run whose process is the schedule's name. `decided_us`: all ticks up to there are
-- launched or skipped, for ever, whatever is pruned. `window_us`: where the next window begins, the
-- tick launched last.
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

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
  name               text collate "C" not null primary key check (octet_length(name) <= 255),
  cron               text collate "C" not null,
  zone               text collate "C" not null,
  running_key        text collate "C"
) with (fillfactor = 50);

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
  schedule    text collate "C" not null check (octet_length(schedule) <= 255),
  run_key     text collate "C" not null,
  reason      text collate "C" not null,
  primary key (schedule, tick_us)
) with (fillfactor = 70);

create index if not exists {prefix}tick_open on {tick} (schedule, due_us) where state = 0;

-- migration: 5 tables of yours
-- A queue follows a table of the application: one row for each that does. Triggers (printed first,
-- installed on request) are the fast way; the comparison of both is what holds.
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

alter table {queue} add column if not exists on_new smallint;

create table if not exists {watch} (
  queue         int not null primary key,
  created_us    bigint not null,
  installed_us  bigint,
  reconciled_us bigint,
  source        text collate "C" not null,
  key_column    text collate "C" not null
);

-- Ids of members that triggers add: above all that processes take in blocks, and taken by nobody's
-- transaction from another.
create sequence if not exists {watched_id} as bigint start with 4611686018427387904;

-- `position`: where the pass has come to that all who aggregate share; only a hint. `declared`: what
-- was declared last, as text.
create table if not exists {aggregation} (
  id         int not null generated always as identity primary key,
  created_us bigint not null,
  changed_us bigint not null,
  pass       bigint not null,
  name       text collate "C" not null check (octet_length(name) <= 255),
  position   text collate "C",
  declared   text collate "C" not null,
  unique (name)
);

-- Each parent that was ever made. `open_group` is its group while rows may be added to it, so that
-- there is one for each group.
create table if not exists {aggregation_parent} (
  aggregation int not null,
  opened_us   bigint not null,
  closed_us   bigint,
  ended_us    bigint,
  parent_key  text collate "C" not null check (octet_length(parent_key) <= 255),
  group_key   text collate "C" not null,
  open_group  text collate "C",
  primary key (aggregation, parent_key),
  unique (aggregation, open_group)
) with (fillfactor = 70);

create index if not exists {prefix}aggregation_group on {aggregation_parent} (aggregation, group_key);

-- What was done: a row for each chunk, and for each parent that was closed, settled or reverted.
-- `call_id`: of the transaction, so that one whose reply was lost is not done twice.
create table if not exists {aggregation_log} (
  id          bigint not null generated always as identity primary key,
  at_us       bigint not null,
  items       bigint not null,
  aggregation int not null,
  action      smallint not null,
  call_id     uuid not null,
  parent_key  text collate "C",
  actor       text collate "C" not null,
  reason      text collate "C" not null,
  detail      text collate "C" not null,
  unique (call_id)
);

create index if not exists {prefix}aggregation_log_parent
  on {aggregation_log} (aggregation, parent_key, id) where parent_key is not null;

-- migration: 6 planners
-- `source`: the query, the queue of events, the zone, or the table.
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

create table if not exists {planner} (
  id             int not null generated always as identity primary key,
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
  strategy       smallint not null check (strategy between 0 and 3),
  rule           smallint not null check (rule between 0 and 3),
  priority       smallint not null,
  unit           smallint not null check (unit between 0 and 3),
  newest_first   smallint not null check (newest_first in (0, 1)),
  in_memory      smallint not null check (in_memory in (0, 1)),
  paused         smallint not null check (paused in (0, 1)),
  name           text collate "C" not null check (octet_length(name) <= 255),
  source         text collate "C" not null,
  key_columns    text collate "C" not null,
  created_column text collate "C" not null,
  check_sql      text collate "C" not null,
  error          text collate "C" not null,
  unique (name)
) with (fillfactor = 50);

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
  standing         smallint not null check (standing in (1, 2)),
  planned_key      text collate "C" not null check (octet_length(planned_key) <= 255),
  reason           text collate "C" not null,
  primary key (planner, planned_key)
);

create index if not exists {prefix}planned_refused on {planned} (planner, planned_key)
  where standing = 2;

-- A period of a window planner. `state`: 0 due, 1 launched, 2 done.
create table if not exists {planned_period} (
  start_us    bigint not null,
  end_us      bigint not null,
  launched_us bigint,
  done_us     bigint,
  reopened_us bigint,
  launches    int not null,
  planner     int not null,
  state       smallint not null check (state in (0, 1, 2)),
  period_key  text collate "C" not null check (octet_length(period_key) <= 255),
  primary key (planner, start_us),
  unique (planner, period_key)
) with (fillfactor = 70);

create index if not exists {prefix}planned_period_open on {planned_period}
  (planner, state, start_us) where state <> 2;

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
  state       smallint not null check (state between 0 and 3),
  place       bytea,
  primary key (planner, sweep)
) with (fillfactor = 50);

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
  state    smallint not null check (state between 0 and 3),
  low      bytea,
  high     bytea not null,
  row_keys bytea not null,
  primary key (planner, sweep, page)
) with (fillfactor = 80);

create index if not exists {prefix}sweep_page_base on {sweep_page} (planner, sweep, base, page);

create index if not exists {prefix}sweep_page_open on {sweep_page} (planner, sweep, page)
  where state < 2;

-- How long a task that is done stays a member; null, 0: for ever.
alter table {queue} add column if not exists forget_us bigint;

-- Whether the tasks of a series are done one after the other; null, 0: not.
alter table {queue} add column if not exists in_order smallint;

-- A task of such a queue that is not over.
create table if not exists {series} (
  added_us   bigint not null,
  member     bigint not null primary key,
  queue      int    not null,
  series_key text   collate "C" not null
);

create index if not exists {prefix}series_in_order
  on {series} (queue, series_key, added_us, member);

-- migration: 7 bursts
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

-- So many tasks may begin at once when a queue with a rate stood still; null: 1.
alter table {queue} add column if not exists burst int;

-- migration: 8 a cheap look
-- Indexes for who looks at the book. The first has a row for each run in hand, so the end of a run
-- is no HOT update any more; steps and fences still are. None has a row for what succeeds. There is
-- none that begins with the process: without statistics the fence would be looked up by it.
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

create index if not exists {prefix}run_in_hand on {run} (attempt_started_us)
  where ended_us is null;

create index if not exists {prefix}attempt_by_state on {attempt} (state, ended_us)
  where state <> 0;

create index if not exists {prefix}segment_stuck on {segment} (queue, state, hi)
  where state in (4, 5);

create index if not exists {prefix}aggregation_open on {aggregation_parent} (aggregation)
  where ended_us is null;

-- migration: 9 alerts
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

-- Problems as daemons that tell people of them saw them. `seen`: in so many looks; `unseen`: since
-- then in so many not; `told_us`: when people were told last.
create table if not exists {problem} (
  since_us bigint not null,
  seen_us  bigint not null,
  told_us  bigint,
  seen     smallint not null,
  unseen   smallint not null,
  urgency  smallint not null,
  print    text collate "C" not null primary key,
  kind     text collate "C" not null,
  subject  text collate "C" not null,
  why      text collate "C" not null,
  remedy   text collate "C" not null
);

-- migration: 10 intakes
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

-- Messages of a broker that come into the book. `target`: 0 a body of the program's, 1 tasks of
-- `queue`, 2 its members. `state`: 0 active, 1 paused, 2 stopped because of `error`. `begun_us`: when
-- the log's partitions were first seen; one that is new later is read from its beginning.
create table if not exists {intake} (
  id            int not null generated always as identity primary key,
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
  name          text collate "C" not null check (octet_length(name) <= 255),
  identity_name text collate "C" not null,
  error         text collate "C" not null,
  unique (name)
);

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
  topic         text collate "C" not null check (octet_length(topic) <= 255),
  anchor        text collate "C" not null,
  primary key (intake, topic, part)
) with (fillfactor = 50);

-- The ids of a queue's messages, each written in the transaction of its effect.
create table if not exists {intake_seen} (
  seen_us    bigint not null,
  intake     int not null,
  message_id text collate "C" not null check (octet_length(message_id) <= 255),
  primary key (intake, message_id)
);

create index if not exists {prefix}intake_seen_since on {intake_seen} (intake, seen_us);

-- Messages that could not be taken; each in the transaction that would have taken it.
create table if not exists {intake_refused} (
  id          bigint not null generated always as identity primary key,
  refused_us  bigint not null,
  position    bigint,
  intake      int not null,
  part        int not null,
  attempts    int not null,
  topic       text collate "C" not null,
  message_id  text collate "C" not null,
  message_key text collate "C" not null,
  reason      text collate "C" not null,
  body        bytea not null
);

create index if not exists {prefix}intake_refused_of on {intake_refused} (intake, id);

-- migration: 11 access
select pg_catalog.pg_advisory_xact_lock(1684109675, pg_catalog.hashtext('{schema}.{prefix}'));

-- Who may use the console and the HTTP API. `kind`: 0 token, 1 session, 2 one-time code; `hash`: the
-- SHA-256 of the whole text, in hex. The text itself is nowhere.
create table if not exists {token} (
  created_us bigint not null,
  expires_us bigint,
  used_us    bigint,
  revoked_us bigint,
  kind       smallint not null,
  role       smallint not null,
  id         text collate "C" not null primary key,
  hash       text collate "C" not null,
  name       text collate "C" not null,
  made_by    text collate "C" not null
);

-- What the request that made a change called itself: the same request changes nothing twice.
alter table {change} add column if not exists request text collate "C";

create unique index if not exists {prefix}change_by_request on {change} (request)
  where request is not null;
