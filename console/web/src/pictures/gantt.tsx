// The steps of a run over its attempts.
import { clock, length } from '../core/format'
import { zone } from '../core/settings'
import { signOf } from '../core/states'
import { Table } from '../core/table'
import type { WholeRun } from '../core/types'
import { AxisText, Figure } from './figure'
import { chartOf, type Bar, type Chart } from './gantt_rows'

const rowHeight = 24

function took(bar: Bar): string {
  return length(Math.max(0, bar.to - bar.from) * 1000)
}

function sentence(chart: Chart): string {
  const last = chart.rows.flatMap((row) => row.bars.map((bar) => ({ name: row.name, bar })))
  const done = last.filter((one) => one.bar.tone === 'done').length + chart.folded
  const other = last.filter((one) => one.bar.tone !== 'done')
  const said = [`${done} ${done === 1 ? 'step' : 'steps'} done`]
  for (const one of other.slice(-4)) {
    said.push(`${one.name} ${one.bar.word} after ${took(one.bar)} (attempt ${one.bar.attempt})`)
  }
  return `${said.join('; ')}.`
}

function Bars(props: { chart: Chart; width: number }) {
  const { chart, width } = props
  const names = Math.min(180, Math.max(70, width * 0.2))
  const scale = (width - names - 4) / (chart.to - chart.from)
  const x = (at: number) => names + (at - chart.from) * scale
  const room = Math.floor(names / 7)
  const bottom = chart.rows.length * rowHeight
  return (
    <>
      {chart.gaps.map((gap) => (
        <rect class="f-gap" x={x(gap.from)} width={Math.max(1, (gap.to - gap.from) * scale)} y={0}
          height={bottom} />
      ))}
      {chart.rows.map((row, at) => (
        <>
          <text x={0} y={at * rowHeight + 16}>
            {row.name.length > room ? row.name.slice(0, room - 1) + '…' : row.name}
          </text>
          {row.bars.map((bar) => (
            <BarShape bar={bar} x={x(bar.from)} y={at * rowHeight + 5} end={width}
              width={Math.max(2, (bar.to - bar.from) * scale)} last={bar === row.bars.at(-1)} />
          ))}
        </>
      ))}
      <AxisText x={names} y={bottom + 14} width={width} text={clock(chart.from, zone.value)} />
      {width > 480 && (
        <AxisText x={width} y={bottom + 14} width={width}
          text={`+${length((chart.to - chart.from) * 1000)}`} />
      )}
    </>
  )
}

function BarShape(props: {
  bar: Bar; x: number; y: number; width: number; end: number; last: boolean
}) {
  const { bar, x, y, width, end } = props
  const text = `${signOf(bar.tone)} ${bar.tone === 'done' ? '' : bar.word + ' '}${took(bar)}`
  const wide = text.length * 6.5
  const right = x + width + 4 + wide < end
  return (
    <>
      <rect class={`f-${bar.tone}`} x={x} y={y} width={width} height={14} rx={2} />
      {props.last && (
        <text class={right ? undefined : 'before'} y={y + 11}
          x={right ? x + width + 4 : Math.max(0, x - 4)} text-anchor={right ? 'start' : 'end'}>
          {text}
        </text>
      )}
    </>
  )
}

export function Gantt(props: { run: WholeRun; now: number }) {
  const chart = chartOf(props.run, props.now)
  if (!chart) return null
  const rows = chart.rows.flatMap((row) => row.bars.map((bar) => ({ name: row.name, bar })))
  return (
    <>
      <Figure says={sentence(chart)} height={chart.rows.length * rowHeight + 20}
        draw={(width) => <Bars chart={chart} width={width} />}
        table={
          <Table caption="Steps by attempt" rows={rows}
            rowKey={(row) => row.name + row.bar.from}
            columns={[
              { head: 'Step', cell: (row) => row.name },
              { head: 'Attempt', figures: true, cell: (row) => row.bar.attempt },
              { head: 'How', cell: (row) => row.bar.word },
              { head: 'Took', figures: true, cell: (row) => took(row.bar) },
            ]} />
        } />
      {chart.folded > 0 && <p class="dim">{chart.folded} more steps are done.</p>}
      {chart.gaps.map((gap) => (
        <p class="dim">
          <span class="hatch" aria-hidden="true" /> {length((gap.to - gap.from) * 1000)} {gap.why}
        </p>
      ))}
    </>
  )
}
