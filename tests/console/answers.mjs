// Parts of the recorded answers: what `daybook serve` says of each kind of thing. Instants are told
// from now, in seconds, so that the page always has a fresh book.

export const at = (seconds) => new Date(Date.now() + seconds * 1000).toISOString()

export const holder = (more = {}) => ({
  id: '019a0000-0000-7000-8000-000000000001', node: 'node2', pid: 4711, since: at(-90000),
  until: at(25), step: 'sort', alive: true, ...more,
})

export const run = (more = {}) => ({
  process: 'nightly', key: '2026-11-23', state: 'succeeded', state_code: 2, run_no: '1', attempt: 1,
  epoch: '7', steps_done: 3, first_started: at(-4000), started: at(-4000),
  attempt_started: at(-4000), ended: at(-3400), succeeded: at(-3400), error: '', holder: null,
  abandoned_since: null, deadline: null, deadline_over: false, date: null, progress: null, ...more,
})

export const attempt = (more = {}) => ({
  run_no: '1', attempt: 1, epoch: '7', state: 'succeeded', state_code: 2, started: at(-4000),
  ended: at(-3400), holder: '', node: 'node2', pid: 4711, error: '', step: '', exit_code: 0,
  output: 'fetched 1800 rows\nsorted\n', ...more,
})

export const step = (name, endedAgo, took, more = {}) => ({
  name, attempt: 1, epoch: '7', ended: at(-endedAgo), took_us: took * 1e6, mode: 'at-least-once',
  value: '', ...more,
})

export const whole = (base, more = {}) => ({
  ...base, steps: [], intents: [], carried: [], attempts: [], changes: [], ...more,
})

export const change = (more = {}) => ({
  id: '1', at: at(-7200), actor: 'anna@node4', action: 'pause', subject: 'queue mails',
  reason: 'the gateway is down', detail: '', source: 'command', ...more,
})

export const queue = (name, counts = {}, more = {}) => ({
  name, paused: false, period_ms: 864000000, grain_ms: 54000000, cadence: 'from-turn',
  mode: 'at-least-once', every_outcome: false, attempts: 5, backoff_ms: 30000,
  longest_backoff_ms: 3600000, crash_limit: 3, limit: 20, rate: '50/s', burst: 1, rounds: '',
  round: null, on_new: 'next-round', retention_ms: 2592000000, forget_done_ms: 0, in_order: false,
  segment: 1000, follows: null, changes: [],
  counts: {
    members: 10000000, due: 0, oldest_due: null, overdue_since: null, next_due: at(60),
    waiting: 9999960, running: 40, abandoned: 0, claims: 2, succeeded: 0, failed: 0, dead: 0,
    unknown: 0, suspect: 0, discarded: 0, segments: 10000, ...counts,
  },
  ...more,
})

export const task = (key, state, more = {}) => ({
  id: '42', key, payload: '{"shelf": 7}', state, state_code: 0, priority: 5, attempts: 1, crashes: 0,
  turn: at(-3600), due: at(-60), claim: '0', holder: '', started: null, finished: null, remark: '',
  outcomes: [], changes: [], ...more,
})

export const schedule = (name, more = {}) => ({
  name, cron: '0 3 * * *', zone: 'Europe/Berlin', gap: 'after', fold: 'first', state: 'active',
  next: at(18000), running: null, node: null, pid: null, interrupted_since: null,
  overdue_since: null, decided: at(-60), window: at(-3600), catch_up: 'last', most: 1000,
  grace_ms: 60000, overlap: 'skip', attempts: 3, backoff_ms: 60000, longest_backoff_ms: 3600000,
  crash_limit: 3, keep: 1000, changes: [], ...more,
})

export const tick = (ago, state = 'done', more = {}) => ({
  tick: at(-ago), first: at(-ago), count: 1, state, state_code: 2, window_start: at(-ago - 3600),
  window_end: at(-ago), due: null, launched: at(-ago + 1), interrupted_since: null, node: 'node2',
  pid: 4711, ended: state === 'running' ? null : at(-ago + 90), failures: 0, crashes: 0,
  by_hand: false, reason: '', key: at(-ago), ...more,
})

export const next = (ahead) => ({
  tick: at(ahead), local: at(ahead + 3600).slice(0, 19), zone: 'Europe/Berlin', abbreviation: 'CET',
  offset_s: 3600, daylight: false,
})

export const plan = (name, kind, more = {}) => ({
  name, kind, queue: 'stock', rule: 'once', check: '', every: '1m', priority: 5, page: 1000,
  paused: false, passes: 120, last_pass: at(-30), next_pass: at(30), launched: 3400, refused: 0,
  error: '', advice: [], changes: [], ...more,
})

export const problem = (kind, urgency, subject, ago, why, remedy, more = {}) => ({
  kind, urgency, subject, since: ago === null ? null : at(-ago), why, remedy, ...more,
})

/** Sixty minutes; the odd ones out fail. */
export const flow = (kind, name, each, odd = () => 0) => ({
  kind, name,
  points: Array.from({ length: 60 }, (_, minute) => ({
    at: at((minute - 60) * 60), done: Math.round(each * (1 + 0.4 * Math.sin(minute / 6))),
    failed: odd(minute), p50_us: 400000 + minute * 1000, p95_us: 2100000 + minute * 9000,
  })),
})

export const status = (more = {}) => ({
  now: at(0), holders_alive: 3, runs_in_hand: 0, runs_abandoned: 0, runs_overdue: 0,
  runs_succeeded: 340, runs_failed: 0, runs_interrupted: 0, runs_unknown: 0, queues: 0, tasks_due: 0,
  tasks_running: 0, tasks_dead: 0, tasks_unknown: 0, plans: 0, plans_failing: 0, problems: [], ...more,
})

export const list = (items = []) => ({ items, next: null })
