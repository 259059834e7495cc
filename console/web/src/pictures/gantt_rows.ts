// Which bars the picture of a run has: a row a step, the attempts behind each other on one axis.
import { instant } from '../core/format'
import type { Tone } from '../core/states'
import type { Attempt, WholeRun } from '../core/types'

export interface Bar {
  from: number
  to: number
  tone: Tone
  /** "done", "failed", "in hand", ... */
  word: string
  attempt: number
}

export interface Row {
  name: string
  bars: Bar[]
}

export interface Gap {
  from: number
  to: number
  why: string
}

export interface Chart {
  from: number
  to: number
  rows: Row[]
  gaps: Gap[]
  /** Steps that are done and left out, for there are many. */
  folded: number
}

const most = 20
const withoutStep = '(no step)'

function attemptsOf(run: WholeRun): Attempt[] {
  return run.attempts
    .filter((one) => String(one.run_no) === String(run.run_no))
    .sort((a, b) => instant(a.started) - instant(b.started))
}

function gapsOf(run: WholeRun, ended: Attempt[], open: boolean): Gap[] {
  const starts = ended.slice(1).map((one) => instant(one.started))
  if (open && ended.length > 0) starts.push(instant(run.attempt_started))
  return ended
    .slice(0, starts.length)
    .map((one, at) => ({
      from: instant(one.ended),
      to: starts[at],
      why: one.state === 'interrupted' ? 'until it was taken over' : `after it ${one.state}`,
    }))
    .filter((gap) => gap.to - gap.from >= 500)
}

/** What was in hand when an attempt ended otherwise than well. */
function unfinished(run: WholeRun, one: Attempt, rows: Map<string, Bar[]>): void {
  if (one.state === 'succeeded') return
  const ends = run.steps
    .filter((step) => String(step.epoch) === String(one.epoch))
    .map((step) => instant(step.ended))
  const from = Math.max(instant(one.started), ...ends)
  const tone = one.state === 'unknown' ? 'unknown' : one.state === 'failed' ? 'bad' : 'late'
  put(rows, one.step || withoutStep, {
    from, to: instant(one.ended), tone, word: one.state, attempt: one.attempt,
  })
}

function put(rows: Map<string, Bar[]>, name: string, bar: Bar): void {
  const bars = rows.get(name)
  if (bars) bars.push(bar)
  else rows.set(name, [bar])
}

/** The bars of the newest run of a process and key; null where there is nothing to draw. */
export function chartOf(run: WholeRun, now: number): Chart | null {
  const ended = attemptsOf(run)
  const open = run.holder !== null && run.ended === null
  const rows = new Map<string, Bar[]>()
  for (const step of run.steps) {
    const to = instant(step.ended)
    const from = to - (step.took_us ?? 0) / 1000
    put(rows, step.name, { from, to, tone: 'done', word: 'done', attempt: step.attempt })
  }
  for (const one of ended) unfinished(run, one, rows)
  if (open) {
    const mine = run.steps.filter((step) => step.attempt === run.attempt)
    const from = Math.max(instant(run.attempt_started), ...mine.map((one) => instant(one.ended)))
    const late = run.abandoned_since !== null
    put(rows, run.holder!.step || withoutStep, {
      from, to: late ? instant(run.abandoned_since) : now, tone: late ? 'late' : 'run',
      word: late ? 'abandoned' : 'in hand', attempt: run.attempt,
    })
  }
  if (rows.size === 0) return null
  const bars = [...rows.values()].flat()
  const sorted = [...rows]
    .map(([name, its]) => ({ name, bars: its }))
    .sort((a, b) => a.bars[0].from - b.bars[0].from)
  const quiet = (row: Row) => row.bars.every((bar) => bar.tone === 'done')
  const surplus = Math.max(0, sorted.length - most)
  const folded = new Set(sorted.filter(quiet).slice(0, surplus))
  const from = Math.min(...bars.map((bar) => bar.from), ...ended.map((one) => instant(one.started)))
  return {
    from,
    to: Math.max(from + 1, ...bars.map((bar) => bar.to)),
    rows: sorted.filter((row) => !folded.has(row)).slice(-most - 5),
    gaps: gapsOf(run, ended, open),
    folded: folded.size,
  }
}
