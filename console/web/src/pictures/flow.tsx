// What ended, by the minute, and how long it took.
import { count, instant, length, percent } from '../core/format'
import { hour } from '../core/format'
import { zone } from '../core/settings'
import { Table } from '../core/table'
import type { Flow, FlowPoint } from '../core/types'
import { AxisText, Figure } from './figure'

interface Sum {
  done: number
  failed: number
  p95_us: number | null
}

export function sumOf(points: FlowPoint[]): Sum {
  const p95 = points.map((one) => one.p95_us).filter((one): one is number => one !== null)
  return {
    done: points.reduce((sum, one) => sum + one.done, 0),
    failed: points.reduce((sum, one) => sum + one.failed, 0),
    p95_us: p95.length ? Math.max(...p95) : null,
  }
}

function sentence(points: FlowPoint[]): string {
  const sum = sumOf(points)
  const all = sum.done + sum.failed
  if (all === 0) return 'Nothing ended in this time.'
  const failed = sum.failed ? `, ${percent(sum.failed, all)} failed` : ', none failed'
  const slow = sum.p95_us === null ? '' : `; 95 of 100 took at most ${length(sum.p95_us)}`
  return `${count(all)} ended in ${points.length} min${failed}${slow}.`
}

/** A line of bars without axes, for a row of a table. */
export function Spark(props: { points: FlowPoint[]; name: string }) {
  const points = props.points.slice(-60)
  const top = Math.max(1, ...points.map((one) => one.done + one.failed))
  const tall = (value: number) => (value > 0 ? Math.max(1, (value / top) * 18) : 0)
  return (
    <svg width={points.length * 2} height={20} role="img"
      aria-label={`${props.name}: ${sentence(points)}`}>
      {points.map((one, at) => (
        <>
          <rect class="f-wait" x={at * 2} width={1.5} y={19 - tall(one.done + one.failed)}
            height={tall(one.done + one.failed)} />
          {one.failed > 0 && (
            <rect class="f-bad" x={at * 2} width={1.5} y={19 - tall(one.failed)}
              height={tall(one.failed)} />
          )}
        </>
      ))}
    </svg>
  )
}

const height = 90

function Bars(props: { points: FlowPoint[]; width: number }) {
  const { points, width } = props
  const top = Math.max(1, ...points.map((one) => one.done + one.failed))
  const slow = Math.max(1, ...points.map((one) => one.p95_us ?? 0))
  const each = width / points.length
  const tall = (value: number) => (value > 0 ? Math.max(1, (value / top) * height) : 0)
  const line = (of: (one: FlowPoint) => number | null) =>
    points
      .map((one, at) => ({ x: (at + 0.5) * each, value: of(one) }))
      .filter((one) => one.value !== null)
      .map((one, at) => `${at ? 'L' : 'M'}${one.x} ${height - (one.value! / slow) * (height - 14)}`)
      .join('')
  return (
    <>
      {points.map((one, at) => (
        <>
          <rect class="f-wait" x={at * each} width={each > 3 ? each - 1 : each}
            y={height - tall(one.done + one.failed)} height={tall(one.done)} />
          {one.failed > 0 && (
            <rect class="f-bad" x={at * each} width={each > 3 ? each - 1 : each}
              y={height - tall(one.failed)} height={tall(one.failed)} />
          )}
        </>
      ))}
      <path class="f-line" d={line((one) => one.p50_us)} />
      <path class="f-line f-dash" d={line((one) => one.p95_us)} />
      <AxisText x={0} y={height + 14} width={width} text={hour(instant(points[0].at), zone.value)} />
      <AxisText x={width} y={height + 14} width={width} text="now" />
    </>
  )
}

export function FlowPicture(props: { flow: Flow }) {
  const { points } = props.flow
  if (points.length === 0) return <p class="dim">Nothing ended in this time.</p>
  return (
    <>
      <Figure says={sentence(points)} height={height + 20}
        draw={(width) => <Bars points={points} width={width} />}
        table={
          <Table caption="Ended by the minute" rows={points.slice(-60).reverse()}
            rowKey={(one) => one.at}
            columns={[
              { head: 'Minute', cell: (one) => hour(instant(one.at), zone.value) },
              { head: 'Done', figures: true, cell: (one) => count(one.done) },
              { head: 'Failed', figures: true, cell: (one) => count(one.failed) },
              { head: 'Half took at most', figures: true, cell: (one) => lengthOf(one.p50_us) },
              { head: '95 % took at most', figures: true, cell: (one) => lengthOf(one.p95_us) },
            ]} />
        } />
      <p class="dim">Bars: ended in a minute, failed below. Line: half, dashed: 95 % took at most.</p>
    </>
  )
}

function lengthOf(us: number | null): string {
  return us === null ? '–' : length(us)
}
