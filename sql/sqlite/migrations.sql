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

-- migration: 3 queues
-- A task is not a row: a segment stands for all the members in [lo, hi) that share what it says.
-- Only what schedules is in it; who did what and when is in `outcome`, which is appended to.
create table if not exists {queue} (
  created_us     integer not null,
  period_us      integer not null,
  grain_us       integer not null,
  backoff_us     integer not null,
  backoff_max_us integer not null,
  retention_us   integer not null,
  slot_us        integer not null,
  slot_next_us   integer not null,
  round_us       integer,
  id             integer not null primary key autoincrement,
  version        integer not null,
  attempts       integer not null,
  crash_limit    integer not null,
  running_limit  integer not null,
  segment_size   integer not null,
  cadence        integer not null check (cadence in (0, 1)),
  mode           integer not null check (mode in (1, 2, 3)),
  detail         integer not null check (detail in (0, 1)),
  rounds         integer not null check (rounds in (0, 1)),
  paused         integer not null check (paused in (0, 1)),
  name           text not null unique
) strict;

-- The ids of members are given out in blocks. One row.
create table if not exists {member_id} (
  next_id  integer not null,
  only_row integer not null primary key check (only_row = 1)
) strict;

insert into {member_id} (next_id, only_row) values (1, 1) on conflict do nothing;

create table if not exists {member} (
  id         integer not null primary key,
  created_us integer not null,
  queue      integer not null,
  member_key text not null,
  payload    text,
  unique (queue, member_key)
) strict;

-- By `hi`: the segment of an id is the first whose hi is above it, and to cut a segment at its
-- lower end changes no index. `lane`: the priority, 0 to 9, and 10 more for those that are claimed
-- singly.
create table if not exists {segment} (
  hi        integer not null primary key,
  lo        integer not null,
  due_us    integer not null,
  turn_us   integer not null,
  period_us integer not null,
  queue     integer not null,
  attempts  integer not null,
  crashes   integer not null,
  lane      integer not null check (lane between 0 and 19),
  state     integer not null check (state between 0 and 7 and state <> 1),
  check (lo < hi)
) strict;

create index if not exists {schema}.{prefix}segment_by_due
  on {prefix}segment (queue, lane, due_us, hi);

-- `ranges`: rows of [lo, hi, hi of the segment it was cut from, lane, state, attempts, crashes,
-- turn_us, period_us, due_us], in JSON. `reclaimed_us`: its holder died; the row stays so that the
-- holder, should it live after all, hears of it.
create table if not exists {claim} (
  claimed_us   integer not null,
  reclaimed_us integer,
  queue        integer not null,
  size         integer not null,
  id           text not null primary key,
  holder       text not null,
  ranges       text not null
) strict;

-- What is finished of a claim that goes on.
create table if not exists {done} (
  lo          integer not null,
  hi          integer not null,
  finished_us integer not null,
  delay_us    integer not null,
  attempts    integer not null,
  state       integer not null,
  claim       text not null,
  remark      text not null,
  primary key (claim, lo)
) strict, without rowid;

create table if not exists {outcome} (
  lo          integer not null,
  hi          integer not null,
  turn_us     integer not null,
  started_us  integer not null,
  finished_us integer not null,
  queue       integer not null,
  attempts    integer not null,
  state       integer not null,
  claim       text not null,
  remark      text not null,
  primary key (lo, claim)
) strict, without rowid;

create table if not exists {request} (
  seq    integer not null primary key autoincrement,
  member integer not null,
  at_us  integer not null,
  queue  integer not null,
  kind   integer not null check (kind between 1 and 5)
) strict;

-- migration: 4 schedules
-- A tick is a run whose process is the schedule's name. `decided_us`: all ticks up to there are
-- launched or skipped, for ever, whatever is pruned. `window_us`: where the next window begins, the
-- tick launched last.
create table if not exists {schedule} (
  created_us         integer not null,
  decided_us         integer not null,
  window_us          integer not null,
  running_us         integer,
  running_since_us   integer,
  version            integer not null,
  decisions          integer not null,
  grace_us           integer not null,
  backoff_us         integer not null,
  longest_backoff_us integer not null,
  most               integer not null,
  attempts           integer not null,
  crash_limit        integer not null,
  keep               integer not null,
  gap                integer not null check (gap in (0, 1)),
  fold               integer not null check (fold in (0, 1, 2)),
  catch_up           integer not null check (catch_up in (0, 1, 2)),
  overlap            integer not null check (overlap in (0, 1)),
  state              integer not null check (state in (0, 1, 2)),
  name               text not null primary key,
  cron               text not null,
  zone               text not null,
  running_key        text
) strict, without rowid;

-- Several in a row that were skipped for one reason are one row.
create table if not exists {tick} (
  tick_us     integer not null,
  first_us    integer not null,
  ticks       integer not null,
  window_us   integer not null,
  due_us      integer not null,
  launched_us integer,
  ended_us    integer,
  failures    integer not null,
  crashes     integer not null,
  state       integer not null check (state between 0 and 5),
  by_hand     integer not null check (by_hand in (0, 1, 2)),
  schedule    text not null,
  run_key     text not null,
  reason      text not null,
  primary key (schedule, tick_us)
) strict, without rowid;

create index if not exists {schema}.{prefix}tick_open on {prefix}tick (schedule, due_us)
  where state = 0;

-- migration: 5 tables of yours
-- A queue follows a table of the application: one row for each that does. Triggers (printed first,
-- installed on request) are the fast way; the comparison of both is what holds.
alter table {queue} add column on_new integer;

create table if not exists {watch} (
  queue         integer not null primary key,
  created_us    integer not null,
  installed_us  integer,
  reconciled_us integer,
  source        text not null,
  key_column    text not null
) strict, without rowid;

-- `position`: where the pass has come to that all who aggregate share; only a hint. `declared`: what
-- was declared last, as text.
create table if not exists {aggregation} (
  id         integer not null primary key autoincrement,
  created_us integer not null,
  changed_us integer not null,
  pass       integer not null,
  name       text not null,
  position   text,
  declared   text not null,
  unique (name)
) strict;

-- Each parent that was ever made. `open_group` is its group while rows may be added to it, so that
-- there is one for each group.
create table if not exists {aggregation_parent} (
  aggregation integer not null,
  opened_us   integer not null,
  closed_us   integer,
  ended_us    integer,
  parent_key  text not null,
  group_key   text not null,
  open_group  text,
  primary key (aggregation, parent_key),
  unique (aggregation, open_group)
) strict, without rowid;

create index if not exists {schema}.{prefix}aggregation_group
  on {prefix}aggregation_parent (aggregation, group_key);

-- What was done: a row for each chunk, and for each parent that was closed, settled or reverted.
-- `call_id`: of the transaction, so that one whose reply was lost is not done twice.
create table if not exists {aggregation_log} (
  id          integer not null primary key autoincrement,
  at_us       integer not null,
  items       integer not null,
  aggregation integer not null,
  action      integer not null,
  call_id     text not null,
  parent_key  text,
  actor       text not null,
  reason      text not null,
  detail      text not null,
  unique (call_id)
) strict;

create index if not exists {schema}.{prefix}aggregation_log_parent
  on {prefix}aggregation_log (aggregation, parent_key, id) where parent_key is not null;

-- migration: 6 planners
-- `source`: the query, the queue of events, the zone, or the table.
create table if not exists {planner} (
  id             integer not null primary key autoincrement,
  created_us     integer not null,
  next_us        integer not null,
  ended_us       integer,
  passes         integer not null,
  launched       integer not null,
  every_us       integer not null,
  timeout_us     integer not null,
  since_us       integer not null,
  again_us       integer not null,
  few            integer not null,
  queue          integer not null,
  page           integer not null,
  most           integer not null,
  unit_count     integer not null,
  strategy       integer not null check (strategy between 0 and 3),
  rule           integer not null check (rule between 0 and 3),
  priority       integer not null,
  unit           integer not null check (unit between 0 and 3),
  newest_first   integer not null check (newest_first in (0, 1)),
  in_memory      integer not null check (in_memory in (0, 1)),
  paused         integer not null check (paused in (0, 1)),
  name           text not null,
  source         text not null,
  key_columns    text not null,
  created_column text not null,
  check_sql      text not null,
  error          text not null,
  unique (name)
) strict;

-- What a planner knows of a key, for ever: that a task is gone is no reason to launch it again.
-- `standing`: when it came up last it was 1 launched, 2 refused.
create table if not exists {planned} (
  launches         integer not null,
  first_us         integer,
  last_us          integer,
  refusals         integer not null,
  first_refused_us integer,
  last_refused_us  integer,
  planner          integer not null,
  standing         integer not null check (standing in (1, 2)),
  planned_key      text not null,
  reason           text not null,
  primary key (planner, planned_key)
) strict, without rowid;

create index if not exists {schema}.{prefix}planned_refused on {prefix}planned (planner, planned_key)
  where standing = 2;

-- A period of a window planner. `state`: 0 due, 1 launched, 2 done.
create table if not exists {planned_period} (
  start_us    integer not null,
  end_us      integer not null,
  launched_us integer,
  done_us     integer,
  reopened_us integer,
  launches    integer not null,
  planner     integer not null,
  state       integer not null check (state in (0, 1, 2)),
  period_key  text not null,
  primary key (planner, start_us),
  unique (planner, period_key)
) strict, without rowid;

create index if not exists {schema}.{prefix}planned_period_open on {prefix}planned_period
  (planner, state, start_us) where state <> 2;

-- A sweep over a table. `state`: 0 cutting, 1 working, 2 closing, 3 over. `place`: where the last
-- page ends that was cut in order; `compared`: the last page of those that a comparison has seen.
create table if not exists {sweep} (
  started_us  integer not null,
  ended_us    integer,
  pages       integer not null,
  items       integer not null,
  late        integer not null,
  found       integer not null,
  compared    integer not null,
  comparisons integer not null,
  planner     integer not null,
  sweep       integer not null,
  state       integer not null check (state between 0 and 3),
  place       blob,
  primary key (planner, sweep)
) strict, without rowid;

-- A page of it. `base`: the page cut in order in whose range it was found; its own where that is it.
-- `state`: 0 cut, 1 launched, 2 done, 3 given up. Its rows are after `low`, up to `high`.
create table if not exists {sweep_page} (
  done_us  integer,
  base     integer not null,
  items    integer not null,
  vanished integer not null,
  planner  integer not null,
  sweep    integer not null,
  page     integer not null,
  state    integer not null check (state between 0 and 3),
  low      blob,
  high     blob not null,
  row_keys blob not null,
  primary key (planner, sweep, page)
) strict;

create index if not exists {schema}.{prefix}sweep_page_base
  on {prefix}sweep_page (planner, sweep, base, page);

create index if not exists {schema}.{prefix}sweep_page_open
  on {prefix}sweep_page (planner, sweep, page) where state < 2;

-- How long a task that is done stays a member; null, 0: for ever.
alter table {queue} add column forget_us integer;

-- Whether the tasks of a series are done one after the other; null, 0: not.
alter table {queue} add column in_order integer;

-- A task of such a queue that is not over.
create table if not exists {series} (
  added_us   integer not null,
  member     integer not null primary key,
  queue      integer not null,
  series_key text not null
) strict;

create index if not exists {schema}.{prefix}series_in_order
  on {prefix}series (queue, series_key, added_us, member);

-- migration: 7 bursts
-- So many tasks may begin at once when a queue with a rate stood still; null: 1.
alter table {queue} add column burst integer;

-- migration: 8 a cheap look
-- Indexes for who looks at the book. None has a row for what succeeds.
create index if not exists {schema}.{prefix}run_in_hand on {prefix}run (attempt_started_us)
  where ended_us is null;

create index if not exists {schema}.{prefix}attempt_by_state on {prefix}attempt (state, ended_us)
  where state <> 0;

create index if not exists {schema}.{prefix}segment_stuck on {prefix}segment (queue, state, hi)
  where state in (4, 5);

create index if not exists {schema}.{prefix}aggregation_open
  on {prefix}aggregation_parent (aggregation) where ended_us is null;

-- migration: 9 alerts
-- Problems as daemons that tell people of them saw them. `seen`: in so many looks; `unseen`: since
-- then in so many not; `told_us`: when people were told last.
create table if not exists {problem} (
  since_us integer not null,
  seen_us  integer not null,
  told_us  integer,
  seen     integer not null,
  unseen   integer not null,
  urgency  integer not null,
  print    text not null primary key,
  kind     text not null,
  subject  text not null,
  why      text not null,
  remedy   text not null
) strict;

-- migration: 10 intakes
-- Messages of a broker that come into the book. `target`: 0 a body of the program's, 1 tasks of
-- `queue`, 2 its members. `state`: 0 active, 1 paused, 2 stopped because of `error`. `begun_us`: when
-- the log's partitions were first seen; one that is new later is read from its beginning.
create table if not exists {intake} (
  id            integer not null primary key autoincrement,
  created_us    integer not null,
  begun_us      integer,
  version       integer not null,
  page_bytes    integer not null,
  gather_us     integer not null,
  backoff_us    integer not null,
  remember_us   integer not null,
  queue         integer,
  page          integer not null,
  lanes         integer not null,
  attempts      integer not null,
  refused_limit integer not null,
  target        integer not null check (target in (0, 1, 2)),
  state         integer not null check (state in (0, 1, 2)),
  identity      integer not null check (identity between 0 and 4),
  payload       integer not null check (payload in (0, 1)),
  begin_at      integer not null check (begin_at in (0, 1)),
  on_gap        integer not null check (on_gap in (0, 1)),
  on_error      integer check (on_error in (0, 1)),
  name          text not null,
  identity_name text not null,
  error         text not null,
  unique (name)
) strict;

-- How far a partition of a log was read, moved in the transaction of the effect. `anchor`: a digest of
-- the message before `next`, by which a log that was made anew is known.
create table if not exists {intake_place} (
  next_position integer not null,
  moved_us      integer not null,
  taken         integer not null,
  refused       integer not null,
  skipped       integer not null,
  intake        integer not null,
  part          integer not null,
  topic         text not null,
  anchor        text not null,
  primary key (intake, topic, part)
) strict, without rowid;

-- The ids of a queue's messages, each written in the transaction of its effect.
create table if not exists {intake_seen} (
  seen_us    integer not null,
  intake     integer not null,
  message_id text not null,
  primary key (intake, message_id)
) strict, without rowid;

create index if not exists {schema}.{prefix}intake_seen_since
  on {prefix}intake_seen (intake, seen_us);

-- Messages that could not be taken; each in the transaction that would have taken it.
create table if not exists {intake_refused} (
  id          integer not null primary key autoincrement,
  refused_us  integer not null,
  position    integer,
  intake      integer not null,
  part        integer not null,
  attempts    integer not null,
  topic       text not null,
  message_id  text not null,
  message_key text not null,
  reason      text not null,
  body        blob not null
) strict;

create index if not exists {schema}.{prefix}intake_refused_of
  on {prefix}intake_refused (intake, id);

-- migration: 11 access
-- Who may use the console and the HTTP API. `kind`: 0 token, 1 session, 2 one-time code; `hash`: the
-- SHA-256 of the whole text, in hex. The text itself is nowhere.
create table if not exists {token} (
  created_us integer not null,
  expires_us integer,
  used_us    integer,
  revoked_us integer,
  kind       integer not null,
  role       integer not null,
  id         text not null primary key,
  hash       text not null,
  name       text not null,
  made_by    text not null
) strict;

-- What the request that made a change called itself: the same request changes nothing twice.
alter table {change} add column request text;

create unique index if not exists {schema}.{prefix}change_by_request on {prefix}change (request)
  where request is not null;
