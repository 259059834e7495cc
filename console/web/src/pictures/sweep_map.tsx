// The pages of a sweep as a band, left to right as the table lies.
import { count, percent } from '../core/format'
import { toneOf } from '../core/states'
import { Table } from '../core/table'
import type { Sweep, SweepMap } from '../core/types'
import { Figure } from './figure'

function sentence(sweep: Sweep): string {
  const said = [
    `${count(sweep.done)} of ${count(sweep.pages)} pages done (${percent(sweep.done, sweep.pages)})`,
    `${count(sweep.rows)} rows`,
  ]
  if (sweep.failed) said.push(`${count(sweep.failed)} failed`)
  if (sweep.given_up) said.push(`${count(sweep.given_up)} given up`)
  if (sweep.late) said.push(`${count(sweep.late)} found late`)
  if (sweep.vanished) said.push(`${count(sweep.vanished)} vanished`)
  return said.join(', ') + '.'
}

export function SweepBand(props: { sweep: Sweep; map: SweepMap }) {
  const { map } = props
  const shown = map.stretches.slice(0, 300)
  return (
    <Figure says={sentence(props.sweep)} height={34}
      draw={(width) => {
        const each = width / Math.max(1, map.pages)
        return shown.map((one) => (
          <rect class={`cell c-${toneOf(one.state)}`} x={one.from * each + 0.5}
            y={one.late ? 0.5 : 10.5} width={Math.max(1, one.count * each - 1)}
            height={one.late ? 8 : 22} />
        ))
      }}
      table={
        <Table caption="Pages by state" rows={shown} rowKey={(one) => String(one.from)}
          columns={[
            { head: 'From page', figures: true, cell: (one) => count(one.from) },
            { head: 'Pages', figures: true, cell: (one) => count(one.count) },
            { head: 'State', cell: (one) => one.state + (one.late ? ', found late' : '') },
          ]} />
      } />
  )
}
