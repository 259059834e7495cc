// Four books: what the server answers to each GET. A path that a book does not name is answered 404,
// lists that it does not name are empty.
import { at, attempt, change, flow, holder, list, next, plan, problem, queue, run, schedule, status,
  step, task, tick, whole } from './answers.mjs'
import { canaries } from './canaries.mjs'
import { part } from './paths.mjs'

const lists = ['problems', 'runs', 'schedules', 'queues', 'plans', 'aggregations', 'processes',
  'changes', 'flows', 'doctor', 'faults', 'failures', 'ticks', 'tasks', 'refused', 'grid', 'sweeps',
  'parents', 'rows', 'history', 'verified', 'next', 'tokens', 'sessions']

export const doctor = [
  { worth: 'ok', name: 'isolation', found: 'read committed', remedy: '' },
  { worth: 'ok', name: 'durability', found: 'synchronous_commit is on', remedy: '' },
]

const alive = (node, pid, more = {}) => ({
  id: `019a-${node}-${pid}`, node, pid, state: 'alive', since: at(-90000), renewed: at(-4),
  until: at(26), ended: null, work: [], serving: ['queue stock'], ...more,
})

const strip = (overdue, capacity, wave) => ({
  from: at(0), to: at(864000), overdue, overdue_since: overdue ? at(-58000) : null,
  buckets: Array.from({ length: 160 }, (_, place) => Math.round(62500 * (1 + wave(place)))), capacity,
})

/** The pages of one queue. */
function queuePaths(one, more = {}) {
  const root = `queues/${part(one.name)}`
  return {
    [root]: one,
    [`${root}/due`]: more.due ?? strip(0, 118000, (place) => 0.7 * Math.sin(place / 9)),
    [`${root}/faults`]: list(more.faults),
    [`${root}/tasks`]: list(more.tasks ?? [task('product/42', 'waiting')]),
    ...Object.fromEntries(
      (more.tasks ?? [task('product/42', 'waiting')]).map((of) => [`${root}/tasks/${part(of.key)}`, of])),
  }
}

function schedulePaths(one, ticks, coming) {
  const root = `schedules/${part(one.name)}`
  return { [root]: one, [`${root}/ticks`]: list(ticks), [`${root}/next`]: list(coming) }
}

export const empty = () => ({
  status: status({ holders_alive: 0 }),
  'schedules/density': { from: at(0), hours: Array.from({ length: 168 }, () => 0) },
})

const hours = (count, odd = {}) =>
  Array.from({ length: count }, (_, place) => tick(1800 + place * 3600, ...(odd[place] ?? [])))
const comingHours = () => Array.from({ length: 10 }, (_, place) => next(1800 + place * 3600))

function finished() {
  return whole(run({ progress: { done: 1800, total: 1800, note: 'rows' } }), {
    steps: [step('fetch', 3960, 40), step('sort', 3500, 458), step('upload', 3402, 96)],
    attempts: [attempt()],
    carried: [{ name: 'cursor', value: '1800', updated: at(-3500) }],
  })
}

function underWay() {
  const base = run({
    process: 'import', key: '-', state: 'running', attempt: 1, epoch: '3', started: at(-190),
    attempt_started: at(-190), ended: null, succeeded: null, steps_done: 1,
    holder: holder({ step: 'page' }), progress: { done: 1234, total: 1800, note: '' },
  })
  return whole(base, { steps: [step('open', 150, 38, { epoch: '3' })] })
}

export function normal() {
  const stock = queue('stock')
  const mails = queue('mails', { members: 84000, waiting: 83990, running: 10 })
  const leads = schedule('leads', { cron: '0 * * * *', next: at(1800) })
  const nightly = schedule('nightly', { next: at(30000) })
  const runs = [underWay(), finished()]
  return {
    status: status({ runs_in_hand: 1, queues: 2 }),
    runs: list(runs),
    'runs?in-hand': list([runs[0]]),
    'runs/nightly/2026-11-23': runs[1],
    'runs/import/-': runs[0],
    queues: list([stock, mails]),
    ...queuePaths(stock),
    ...queuePaths(mails),
    schedules: list([leads, nightly]),
    ...schedulePaths(leads, hours(200), comingHours()),
    ...schedulePaths(nightly, [0, 1, 2, 3, 4, 5].map((day) => tick(14400 + day * 86400)), [next(30000)]),
    plans: list([plan('restock', 'query')]),
    'plans/restock': plan('restock', 'query', { query: 'select code from product where stock < 3' }),
    aggregations: list([{
      name: 'pay', source: 'piece', parent: 'payment', cron: '0 2 * * *',
      verified: { at: at(-36000), by: 'schedule', parents: 21000, differences: 0 },
    }]),
    'aggregations/pay': {
      name: 'pay', source: 'piece', parent: 'payment', cron: '0 2 * * *',
      parents: { open: 300, closed: 1200, settled: 21000, void: 0 },
      verified: { at: at(-36000), by: 'schedule', parents: 21000, differences: 0 },
    },
    'aggregations/pay/parents': list([{
      parent: 'worker-7/2026-11', group: { worker: 'worker-7' }, state: 'open', count: 31,
      sums: { amount: '1240.50' }, opened: at(-90000),
    }]),
    processes: list([
      alive('node2', 4711, { work: [{ run: 'import', key: '-', since: at(-190) }] }),
      alive('node4', 812, { work: [{ queue: 'stock', tasks: 40, since: at(-3) }] }),
      alive('web1', 99),
    ]),
    'aggregations/pay/parents/~d29ya2VyLTcvMjAyNi0xMQ/rows': list([
      { row: 'piece-1', state: '2', amounts: { amount: '40.00' } }]),
    'aggregations/pay/history': list([{ id: '9', at: at(-90000), what: 'take',
      parent: 'worker-7/2026-11', rows: 31, actor: 'pay/aggregate', reason: '', detail: '' }]),
    'schedules/density': { from: at(0),
      hours: Array.from({ length: 168 }, (_, hour) => (hour % 24 === 3 ? 9 : 1)) },
    'plans/restock/keys/product': { key: 'product', launches: 2, first: at(-9000), last: at(-900),
      refusals: 1, first_refused: at(-60), last_refused: at(-60), reason: 'it is in hand' },
    tokens: list([{ id: '7', kind: 'token', name: 'grafana', role: 'metrics', only: ['queue/stock*'],
      made_by: 'anna', created: at(-9e6), expires: null, used: at(-30) }]),
    changes: list([change()]),
    flows: list([flow('queue', 'stock', 1180), flow('queue', 'mails', 64), flow('process', 'nightly', 1)]),
    doctor: list(doctor),
  }
}

function killed() {
  const base = run({
    process: 'pack', key: '2026-11-23', state: 'running', attempt: 2, epoch: '9', started: at(-900),
    attempt_started: at(-690), ended: null, succeeded: null, error: '', holder: holder({ alive: false }),
    abandoned_since: at(-300), deadline: at(-60), deadline_over: true,
  })
  return whole(base, {
    steps: [step('fetch', 860, 40, { epoch: '8' }), step('sort', 770, 89, { epoch: '8' }),
      step('pack', 670, 16, { attempt: 2, epoch: '9' })],
    attempts: [attempt({
      attempt: 1, epoch: '8', state: 'failed', started: at(-900), ended: at(-750), step: 'pack',
      exit_code: 3, error: 'exit status 3; step pack failed', output: 'no space left on device\n',
    })],
    changes: [change({ subject: 'run pack', action: 'release', reason: 'it hung' })],
  })
}

function doubtful() {
  const base = run({
    process: 'pay', key: '2026-11', state: 'unknown', ended: at(-172800), succeeded: null,
    error: 'step pay: nobody knows whether it happened',
  })
  return whole(base, {
    intents: [{ name: 'pay', attempt: 1, started: at(-172860), unknown: true }],
    attempts: [attempt({
      state: 'unknown', started: at(-172900), ended: at(-172800), exit_code: null, step: 'pay',
      error: 'killed by signal 9',
    })],
  })
}

function sick() {
  return queue('stock', {
    due: 84210, oldest_due: at(-58000), overdue_since: at(-58000), dead: 10000, unknown: 3,
    suspect: 12, failed: 188, running: 0,
  })
}

const refusedText = 'HTTP 503 from stock system'

export function wrong() {
  const stock = sick()
  const mails = queue('mails', { due: 12, oldest_due: at(-9000) }, {
    paused: true, changes: [change()],
  })
  const leads = schedule('leads', { cron: '0 * * * *', overdue_since: at(-2400), next: at(-2400) })
  const nightly = schedule('nightly', { state: 'paused' })
  const dead = ['product/1', 'product/2'].map((key) => task(key, 'dead', {
    attempts: 5, remark: refusedText, finished: at(-57000),
    outcomes: [{ state: 'dead', attempts: 5, turn: at(-60000), started: at(-57010), finished: at(-57000),
      remark: refusedText }],
  }))
  return {
    ...normal(),
    status: status({ runs_in_hand: 1, runs_abandoned: 1, tasks_dead: 10000, tasks_unknown: 3 }),
    problems: list([
      problem('queue_not_worked', 'act now', 'queue stock', 58000,
        'tasks are due: none of 3 processes that are alive takes it',
        'daybook daemon, with the file that declares it, or the program that works it'),
      problem('run_unknown', 'act now', 'run pay 2026-11', 172800,
        'the outcome of an at-most-once step is unknown',
        'daybook runs resolve pay --key 2026-11 --done (or --not-done)'),
      problem('plan_failing', 'act now', 'plan restock', 600,
        'its last pass failed: no such table: product', 'daybook plans show restock'),
      problem('schedule_late', 'act now', 'schedule leads', 2400, 'a tick waits: no process is alive',
        'daybook daemon, with the file that declares it, or the program that serves it'),
      problem('tasks_dead', 'look today', 'queue stock', 57000, '10000 dead tasks: a person decides',
        'daybook tasks list stock --state dead, then tasks retry or discard'),
      problem('queue_paused', 'look today', 'queue mails', 7200, 'is paused, and tasks are due',
        'daybook queues resume mails', { print: 'f00d' }),
    ]),
    runs: list([killed(), doubtful(), finished()]),
    'runs?in-hand': list([killed()]),
    'runs/pack/2026-11-23': killed(),
    'runs/pay/2026-11': doubtful(),
    queues: list([stock, mails]),
    ...queuePaths(stock, {
      due: strip(84210, 70000, (place) =>
        0.7 * Math.sin(place / 9) + (place > 60 && place < 75 ? 2.1 : 0)),
      faults: [
        { print: 'a1', text: refusedText, count: 9812, first: at(-58000), last: at(-40), sample_key: 'product/1' },
        { print: 'b2', text: 'timeout after 30 s', count: 188, first: at(-50000), last: at(-900), sample_key: 'product/2' },
      ],
      tasks: [...dead, task('product/3', 'unknown', { remark: 'killed by signal 9' })],
    }),
    ...queuePaths(mails),
    schedules: list([leads, nightly]),
    ...schedulePaths(leads, hours(200, {
      0: ['due'], 3: ['failed', { failures: 3, reason: 'exit status 3' }],
      17: ['failed', { failures: 3, reason: 'exit status 3' }],
      30: ['skipped', { key: '', reason: 'an earlier one runs' }], 41: ['done', { by_hand: true }],
      55: ['done', { launched: at(-1800 - 55 * 3600 + 900) }],
    }), comingHours()),
    ...schedulePaths(nightly, [tick(14400, 'failed', { failures: 3 })], []),
    plans: list([plan('restock', 'query', { error: 'no such table: product' }), plan('days', 'window'),
      plan('shelves', 'sweep')]),
    'plans/restock': plan('restock', 'query', { error: 'no such table: product', refused: 2 }),
    'plans/restock/refused': list([
      { key: 'product/9', first: at(-86400), last: at(-60), count: 30, reason: 'it is in hand' }]),
    'plans/days': plan('days', 'window'),
    'plans/days/grid': list([
      { key: '2026-11-22', from: at(-172800), to: at(-86400), state: 'failed', launches: 1,
        launched: at(-80000), done: null, reopened: null, remark: 'exit status 4' },
      { key: '2026-11-21', from: at(-259200), to: at(-172800), state: 'done', launches: 1,
        launched: at(-170000), done: at(-169000), reopened: null, remark: '' }]),
    'plans/shelves': plan('shelves', 'sweep'),
    'plans/shelves/sweeps': list([{ sweep: 3, state: 'working', pages: 10000, done: 6999, failed: 12,
      given_up: 1, rows: 6999000, late: 40, vanished: 12, comparisons: 0, started: at(-5000), ended: null }]),
    'plans/shelves/sweeps/3/map': { pages: 10000, stretches: [
      { from: 0, count: 6000, state: 'done' }, { from: 6000, count: 12, state: 'failed' },
      { from: 6012, count: 988, state: 'done' }, { from: 7000, count: 40, state: 'running' },
      { from: 7040, count: 2960, state: 'waiting' }] },
    'aggregations/pay': { ...normal()['aggregations/pay'],
      verified: { at: at(-36000), by: 'anna', parents: 21000, differences: 1 } },
    'aggregations/pay/verified': list([{ what: 'sum', parent: 'worker-7/2026-11', column: 'amount',
      expected: '1240.50', found: '1240.00' }]),
    processes: list([alive('node2', 4711, { state: 'dead', until: at(-300), renewed: at(-330),
      work: [{ run: 'pack', key: '2026-11-23', since: at(-690) }] })]),
    flows: list([flow('queue', 'stock', 300, (minute) => (minute > 30 ? 160 : 0)),
      flow('queue', 'mails', 0)]),
    doctor: list([...doctor, { worth: 'void', name: 'durability', found: 'fsync is off',
      remedy: 'set fsync = on' }]),
  }
}

/** The texts of others, at every place where one is shown. */
export function huge() {
  const out = { ...empty(), runs: list(), queues: list(), schedules: list(), plans: list(),
    changes: list(), problems: list(), processes: list(), flows: list(), aggregations: list() }
  canaries.forEach((text, place) => {
    const one = run({
      process: text, key: text, error: text, state: 'failed', progress: { done: 9e15, total: 1e12, note: text },
    })
    out.runs.items.push(one)
    out[`runs/${part(text)}/${part(text)}`] = whole(one, {
      steps: [step(text, 3500, 458, { value: text })],
      attempts: [attempt({ state: 'failed', error: text, output: text, node: text, step: text })],
      carried: [{ name: text, value: text, updated: at(-5) }],
      changes: [change({ actor: text, reason: text, detail: text })],
    })
    const of = queue(text, { members: 10000000, dead: 1000000000000 })
    out.queues.items.push(of)
    Object.assign(out, queuePaths(of, {
      tasks: [task(text, 'waiting', { payload: text, remark: text, holder: text })],
      faults: [{ print: String(place), text, count: 2 ** 53, first: at(-6e10), last: at(0), sample_key: text }],
    }))
    const when = schedule(text, { node: text, running: at(-5) })
    out.schedules.items.push(when)
    Object.assign(out, schedulePaths(when, [tick(60, 'failed', { reason: text, key: text })], []))
    out.plans.items.push(plan(text, 'query', { error: text }))
    out[`plans/${part(text)}`] = plan(text, 'query', { error: text, query: text, check: text })
    out[`plans/${part(text)}/refused`] = list([
      { key: text, first: at(-9), last: at(0), count: 1, reason: text }])
    out.changes.items.push(change({
      id: String(place), actor: text, reason: text, detail: text, subject: `queue ${text}` }))
    out.problems.items.push(problem('tasks_dead', 'look today', `queue ${text}`, 9, text, text))
    out.processes.items.push(alive(text, place, { serving: [text],
      work: [{ run: text, key: text, since: at(-5) }] }))
    out.flows.items.push(flow('queue', text, 10 ** place))
  })
  return out
}

export const books = { empty, normal, wrong, huge }

/** The items that a query asks for. */
function chosen(items, query) {
  const state = query.get('state')
  const prefix = query.get('prefix') ?? ''
  return items
    .filter((one) => !state || one.state === state)
    .filter((one) => (one.key ?? '').startsWith(prefix))
    .slice(0, Number(query.get('limit') ?? 100))
}

/** The answer of a book to a path, undefined: it has none. */
export function answerOf(book, path, query) {
  if (path === 'runs' && query.get('standing') === 'in-hand') return book['runs?in-hand'] ?? list()
  if (path === 'flows' && query.get('of')) {
    const name = query.get('of').replace(/^\w+\//, '')
    return list((book.flows?.items ?? []).filter((one) => one.name === name))
  }
  const found = book[path]
  if (found?.items) return { ...found, items: chosen(found.items, query) }
  if (found) return found
  if (book.missing?.includes(path)) return undefined
  return lists.includes(path.split('/').pop()) ? list() : undefined
}
