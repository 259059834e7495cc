// What became of the ticks of a schedule: a row a day, a column an hour, the worst of each hour.
import { clockParts, instant } from '../core/format'
import { signOf, toneOf, type Tone } from '../core/states'
import type { NextTick, Tick } from '../core/types'
import { Figure } from './figure'

interface Cell {
  day: string
  hour: number
  tone: Tone
  word: string
  count: number
  byHand: boolean
}

const worse: Tone[] = ['done', 'wait', 'skip', 'run', 'late', 'unknown', 'bad']
const mostDays = 12

/** A tick that was launched, and began late by more than this, is called late. */
const lateAfter = 60_000

function wordOf(tick: Tick): string {
  const late = instant(tick.launched) - instant(tick.tick) > lateAfter && !tick.by_hand
  return tick.state === 'done' && late ? 'late' : tick.state
}

/** The instants that an entry stands for: of skipped ticks several in a row. */
function instantsOf(tick: Tick): number[] {
  const last = instant(tick.tick)
  const first = instant(tick.first)
  const many = Math.min(tick.count, mostDays * 24)
  if (many < 2 || Number.isNaN(first)) return [last]
  const gap = (last - first) / (tick.count - 1)
  return Array.from({ length: many }, (_, at) => last - at * gap)
}

export function cellsOf(ticks: Tick[], next: NextTick[], zone: string): Cell[] {
  const cells = new Map<string, Cell>()
  const add = (at: number, word: string, byHand: boolean) => {
    const of = clockParts(at, zone)
    const day = `${of.year}-${of.month}-${of.day}`
    const key = `${day} ${of.hour}`
    const tone = toneOf(word)
    const was = cells.get(key)
    if (was) {
      was.count += 1
      was.byHand ||= byHand
      if (worse.indexOf(tone) > worse.indexOf(was.tone)) Object.assign(was, { tone, word })
    } else {
      cells.set(key, { day, hour: Number(of.hour), tone, word, count: 1, byHand })
    }
  }
  for (const tick of ticks) {
    for (const at of instantsOf(tick)) add(at, wordOf(tick), tick.by_hand)
  }
  for (const one of next) add(instant(one.tick), 'to come', false)
  return [...cells.values()]
}

function sentence(cells: Cell[], zone: string): string {
  const of = (tone: Tone) =>
    cells.filter((cell) => cell.tone === tone).reduce((sum, cell) => sum + cell.count, 0)
  const parts: [Tone, string][] = [
    ['bad', 'failed'], ['unknown', 'unknown'], ['late', 'late'], ['skip', 'skipped'],
    ['run', 'running'], ['done', 'done in time'], ['wait', 'to come or due'],
  ]
  const said = parts.filter(([tone]) => of(tone) > 0).map(([tone, word]) => `${of(tone)} ${word}`)
  return `Ticks by day and hour, as clocks show it in ${zone}: ${said.join(', ')}.`
}

const rowHeight = 18

function Cells(props: { cells: Cell[]; days: string[]; width: number }) {
  const names = props.width < 420 ? 36 : 72
  const each = Math.max(8, Math.min(40, (props.width - names) / 24))
  const short = props.width < 420
  return (
    <>
      {props.days.map((day, at) => (
        <text x={0} y={at * rowHeight + 32}>{short ? day.slice(5) : day}</text>
      ))}
      {[0, 6, 12, 18].map((hour) => (
        <text x={names + hour * each} y={12}>{String(hour).padStart(2, '0')}</text>
      ))}
      {props.cells.map((cell) => {
        const x = names + cell.hour * each
        const y = props.days.indexOf(cell.day) * rowHeight + 20
        return (
          <>
            <rect class={`cell c-${cell.tone}`} x={x + 0.5} y={y + 0.5} width={each - 2}
              height={rowHeight - 3} />
            {(cell.tone !== 'done' || cell.byHand) && (
              <text class={`c-${cell.tone}`} x={x + each / 2 - 0.5} y={y + 12} text-anchor="middle">
                {cell.tone === 'done' ? '✎' : signOf(cell.tone)}
              </text>
            )}
          </>
        )
      })}
    </>
  )
}

export function TickGrid(props: { ticks: Tick[]; next: NextTick[]; zone: string }) {
  const all = cellsOf(props.ticks, props.next, props.zone)
  const days = [...new Set(all.map((cell) => cell.day))].sort().slice(-mostDays)
  const cells = all.filter((cell) => days.includes(cell.day))
  if (cells.length === 0) return null
  return (
    <>
      <Figure says={sentence(cells, props.zone)} height={days.length * rowHeight + 24}
        draw={(width) => <Cells cells={cells} days={days} width={width} />} />
      <p class="dim">
        □ done, ✕ failed, ! late or interrupted, – skipped, ▶ running, ○ to come, ✎ by hand
      </p>
    </>
  )
}

/** The newest ticks in a row, the oldest left: for a table of schedules. */
export function TickStrip(props: { ticks: Tick[] }) {
  const last = props.ticks.slice(0, 30).reverse()
  const odd = last.filter((tick) => toneOf(wordOf(tick)) !== 'done')
  const says =
    `${last.length} newest ticks: ` +
    (odd.length === 0 ? 'all done' : odd.map((tick) => wordOf(tick)).join(', ') + ', the rest done')
  return (
    <svg width={last.length * 8 + 2} height={16} role="img" aria-label={says}>
      {last.map((tick, at) => {
        const tone = toneOf(wordOf(tick))
        const short = tone === 'done' || tone === 'skip'
        return (
          <rect class={`cell c-${tone}`} x={at * 8 + 1.5} y={short ? 6.5 : 1.5} width={5}
            height={short ? 8 : 13} />
        )
      })}
    </svg>
  )
}
