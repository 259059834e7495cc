// When the tasks of a queue are due, beside what the workers do in as long a time.
import { count, instant, length, roughly } from '../core/format'
import { Table } from '../core/table'
import type { DueStrip } from '../core/types'
import { AxisText, Figure } from './figure'

interface Outlook {
  /** The first stretch that has more than gets done. */
  behind: number | null
  /** The stretch by whose end all that is due is done. */
  level: number | null
}

/** Whether the workers keep up, if they go on as lately. */
export function outlook(strip: DueStrip): Outlook {
  const { capacity } = strip
  if (capacity === null) return { behind: null, level: null }
  let left = strip.overdue
  let behind = left > 0 ? 0 : null
  let level: number | null = null
  strip.buckets.forEach((due, at) => {
    left = Math.max(0, left + due - capacity)
    if (left > 0 && behind === null) behind = at
    if (left > 0) level = null
    else if (behind !== null && level === null) level = at
  })
  return { behind, level }
}

export function sentence(strip: DueStrip): string {
  const step = ((instant(strip.to) - instant(strip.from)) / strip.buckets.length) * 1000
  const total = strip.buckets.reduce((sum, due) => sum + due, 0)
  const span = roughly(step * strip.buckets.length)
  const said = [`${count(total)} due in the next ${span}`]
  if (strip.overdue > 0) said.unshift(`${count(strip.overdue)} overdue`)
  const { behind, level } = outlook(strip)
  if (strip.capacity === null) {
    said.push('nobody knows yet what the workers do in that time')
  } else if (behind === null) {
    said.push('the workers keep up')
  } else {
    if (behind > 0) said.push(`more than gets done from ${length(step * behind)} on`)
    said.push(
      level === null ? `not caught up within ${span}` : `caught up in ${length(step * (level + 1))}`,
    )
  }
  return said.join('; ') + '.'
}

const height = 120

function Bars(props: { strip: DueStrip; width: number }) {
  const { strip, width } = props
  const top = Math.max(1, ...strip.buckets, strip.capacity ?? 0)
  const tall = (due: number) => (due > 0 ? Math.max(1, height * Math.min(1, due / top)) : 0)
  const left = strip.overdue > 0 ? Math.min(72, width * 0.18) : 0
  const start = left ? left + 8 : 0
  const each = (width - start) / strip.buckets.length
  const span = (instant(strip.to) - instant(strip.from)) * 1000
  const over = (due: number) => strip.capacity !== null && due > strip.capacity
  return (
    <>
      {left > 0 && (
        <>
          <rect class="f-late" x={0} width={left} y={height - tall(strip.overdue)}
            height={tall(strip.overdue)} />
          <text x={0} y={height + 14}>overdue</text>
        </>
      )}
      <line class="f-now" x1={start} x2={start} y1={0} y2={height} />
      {strip.buckets.map((due, at) => (
        <rect class={over(due) ? 'f-bad' : 'f-wait'} x={start + at * each}
          width={each > 3 ? each - 1 : each} y={height - tall(due)} height={tall(due)} />
      ))}
      {strip.capacity !== null && (
        <Capacity y={height - height * Math.min(1, strip.capacity / top)} from={start} to={width} />
      )}
      <AxisText x={start + (left ? 12 : 0)} y={height + 14} width={width} text="now" />
      {[0.25, 0.5, 0.75].filter((at) => width > 500 || at === 0.5).map((at) => (
        <AxisText x={start + (width - start) * at} y={height + 14} width={width}
          text={`in ${roughly(span * at)}`} />
      ))}
    </>
  )
}

function Capacity(props: { y: number; from: number; to: number }) {
  const above = props.y > 16
  return (
    <>
      <path class="f-capacity" d={`M${props.from} ${props.y}H${props.to}`} />
      <text x={props.to} y={above ? props.y - 4 : props.y + 13} text-anchor="end">
        what gets done
      </text>
    </>
  )
}

export function DueStripPicture(props: { strip: DueStrip }) {
  const { strip } = props
  const from = instant(strip.from)
  const step = (instant(strip.to) - from) / strip.buckets.length
  const join = Math.max(1, Math.ceil(strip.buckets.length / 16))
  const rows = []
  for (let at = 0; at < strip.buckets.length; at += join) {
    const due = strip.buckets.slice(at, at + join).reduce((sum, one) => sum + one, 0)
    rows.push({ at, due })
  }
  return (
    <Figure says={sentence(strip)} height={height + 20}
      draw={(width) => <Bars strip={strip} width={width} />}
      table={
        <Table caption="Tasks due, by time from now" rows={rows} rowKey={(row) => String(row.at)}
          columns={[
            { head: 'From', cell: (row) => (row.at ? `in ${length(row.at * step * 1000)}` : 'now') },
            { head: 'Due', figures: true, cell: (row) => count(row.due) },
          ]} />
      } />
  )
}
