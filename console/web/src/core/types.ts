// What the server answers: the names are those of `--json`, with 64-bit ids as texts.

export interface ProblemRow {
  kind: string
  urgency: string
  subject: string
  since: string | null
  why: string
  remedy: string
  /** The page of the subject, by the parts of its address. */
  page?: string[]
  print?: string
  muted_until?: string | null
}

export interface Status {
  now: string
  holders_alive: number
  runs_in_hand: number
  runs_abandoned: number
  runs_overdue: number
  runs_failed: number
  runs_interrupted: number
  runs_unknown: number
  queues: number
  tasks_due: number
  tasks_running: number
  tasks_dead: number
  tasks_unknown: number
  plans: number
  plans_failing: number
}

export interface Holder {
  id: string
  node: string
  pid: number
  since: string
  until: string
  step: string
  alive: boolean
}

export interface Run {
  process: string
  key: string
  state: string
  run_no: number | string
  attempt: number
  epoch: number | string
  steps_done: number
  first_started: string
  started: string
  attempt_started: string
  ended: string | null
  succeeded: string | null
  error: string
  holder: Holder | null
  abandoned_since: string | null
  deadline: string | null
  deadline_over: boolean
  date: string | null
  progress: { done: number; total: number; note: string } | null
}

export interface Step {
  name: string
  attempt: number
  epoch: number | string
  ended: string
  took_us: number | null
  mode: string
  value: string
}

export interface Intent {
  name: string
  attempt: number
  started: string
  unknown: boolean
}

export interface Attempt {
  run_no: number | string
  attempt: number
  epoch: number | string
  state: string
  started: string
  ended: string
  node: string
  pid: number
  error: string
  step: string
  exit_code: number | null
  output?: string
}

export interface Change {
  id?: string
  at: string
  actor: string
  action: string
  subject?: string
  reason: string
  detail: string
  source?: string
  address?: string
}

export interface WholeRun extends Run {
  steps: Step[]
  intents: Intent[]
  carried: { name: string; value: string; updated: string }[]
  attempts: Attempt[]
  changes: Change[]
}

export interface Tick {
  tick: string
  first: string
  count: number
  state: string
  window_start: string | null
  window_end: string | null
  due: string | null
  launched: string | null
  interrupted_since: string | null
  node: string | null
  pid: number | null
  ended: string | null
  failures: number
  crashes: number
  by_hand: boolean
  reason: string
  key: string
}

export interface NextTick {
  tick: string
  local: string
  zone: string
  abbreviation: string
  offset_s: number
  daylight: boolean
}

export interface Schedule {
  name: string
  cron: string
  zone: string
  text?: string
  gap: string
  fold: string
  state: string
  next: string | null
  running: string | null
  node: string | null
  pid: number | null
  interrupted_since: string | null
  overdue_since: string | null
  decided: string
  catch_up: string
  overlap: string
  attempts: number
  backoff_ms: number
  longest_backoff_ms: number
  crash_limit: number
  keep: number
  ticks?: Tick[]
  changes?: Change[]
}

export interface Counts {
  members: number
  due: number
  oldest_due: string | null
  overdue_since: string | null
  next_due: string | null
  waiting: number
  running: number
  abandoned: number
  claims: number
  succeeded: number
  failed: number
  dead: number
  unknown: number
  suspect: number
  discarded: number
  segments: number
}

export interface Queue {
  name: string
  paused: boolean
  period_ms: number
  grain_ms: number
  mode: string
  attempts: number
  limit: number
  rate: string | number
  rounds?: string
  retention_ms: number
  in_order: boolean
  counts?: Counts
  follows?: { table: string; key: string; installed: boolean; reconciled: string | null } | null
  changes?: Change[]
}

export interface Task {
  id: string
  key: string
  payload?: string | null
  state: string
  priority: number
  attempts: number
  crashes: number
  turn: string
  due: string | null
  claim: string | number | null
  holder: string
  started: string | null
  finished: string | null
  remark: string
  outcomes?: Outcome[]
  changes?: Change[]
}

export interface Outcome {
  state: string
  attempts: number
  turn: string
  started: string | null
  finished: string | null
  remark: string
}

export interface DueStrip {
  from: string
  to: string
  /** Tasks due before now, and since when the oldest is. */
  overdue: number
  overdue_since: string | null
  /** Tasks due in each stretch of equal length. */
  buckets: number[]
  /** Tasks that the workers did lately in as long a time as a stretch; null: not known. */
  capacity: number | null
}

export interface FaultGroup {
  print: string
  text: string
  count: number
  first: string
  last: string
  sample_key: string
}

export interface FlowPoint {
  at: string
  done: number
  failed: number
  p50_us: number | null
  p95_us: number | null
}

export interface Flow {
  kind: string
  name: string
  points: FlowPoint[]
}

export interface Plan {
  name: string
  kind: string
  queue: string
  rule: string
  check: string
  every: string
  priority: number
  page: number
  paused: boolean
  passes: number
  last_pass: string | null
  next_pass: string | null
  launched: number
  refused: number
  error: string
  query?: string
  advice?: string[]
  changes?: Change[]
}

export interface Period {
  key: string
  from: string
  to: string
  state: string
  launches: number
  launched: string | null
  done: string | null
  reopened: string | null
  remark: string
}

export interface Sweep {
  sweep: number
  state: string
  pages: number
  done: number
  failed: number
  given_up: number
  rows: number
  late: number
  vanished: number
  started: string
  ended: string | null
}

export interface SweepMap {
  pages: number
  stretches: { from: number; count: number; state: string; late?: boolean }[]
}

export interface RefusedKey {
  key: string
  first: string
  last: string
  count: number
  reason: string
}

export interface Aggregation {
  name: string
  source: string | null
  parent: string | null
  cron: string | null
  parents?: { open: number; closed: number; settled: number; void: number }
  verified?: { at: string; by: string; parents: number; differences: number } | null
}

export interface Parent {
  parent: string
  group: Record<string, string | null>
  state: string
  count: number | null
  sums: Record<string, string>
  opened: string
}

export interface Difference {
  what: string
  parent: string
  column: string
  expected: string
  found: string
}

export interface Process {
  id: string
  node: string
  pid: number
  state: string
  since: string
  renewed: string
  until: string
  ended: string | null
  work: { run?: string; key?: string; queue?: string; tasks?: number; since: string }[]
  serving?: string[]
}

export interface Finding {
  worth: string
  name: string
  found: string
  remedy: string
}

export interface Token {
  id: string
  kind: string
  name: string
  role: string
  only: string[]
  made_by: string
  created: string
  expires: string | null
  used: string | null
}

/** Ticks of all schedules in each hour, from the beginning of a day on. */
export interface Density {
  from: string
  hours: number[]
}

export interface PlanKey {
  key: string
  launches: number
  first: string | null
  last: string | null
  refusals: number
  first_refused: string | null
  last_refused: string | null
  reason: string
}

export interface AggregatedRow {
  row: string
  state: string
  amounts: Record<string, string | null>
}

export interface LogRow {
  id: string
  at: string
  what: string
  parent: string
  rows: number
  actor: string
  reason: string
  detail: string
}
