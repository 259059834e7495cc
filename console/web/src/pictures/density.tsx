// How many ticks of all schedules come in each hour: a row a day, a bar an hour.
import { clockParts, instant } from '../core/format'
import type { Density } from '../core/types'
import { Figure } from './figure'

const rowHeight = 20
const top = 14

function sentence(density: Density): string {
  const most = Math.max(...density.hours)
  const at = instant(density.from) + density.hours.indexOf(most) * 3600e3
  const of = clockParts(at, 'utc')
  const all = density.hours.reduce((sum, one) => sum + one, 0)
  return `${all} ticks in ${density.hours.length / 24} days; most of them, ${most}, in the hour from ` +
    `${of.weekday} ${of.hour}:00 UTC on.`
}

export function DensityPicture(props: { density: Density }) {
  const { from, hours } = props.density
  const most = Math.max(1, ...hours)
  const days = Math.ceil(hours.length / 24)
  return (
    <Figure says={sentence(props.density)} height={top + days * rowHeight + 4}
      draw={(width) => {
        const each = Math.min(40, (width - 36) / 24)
        const first = new Date(instant(from)).getUTCHours()
        const rows = Array.from({ length: days }, (_, day) => (
          <>
            <text x={0} y={top + day * rowHeight + 16}>
              {clockParts(instant(from) + day * 86400e3, 'utc').weekday}
            </text>
            {hours.slice(day * 24, day * 24 + 24).map((many, hour) => {
              const tall = many ? Math.max(2, (many / most) * (rowHeight - 4)) : 0
              return many ? (
                <rect class="f-wait" x={36 + hour * each} width={each - 1} height={tall}
                  y={top + (day + 1) * rowHeight - tall} />
              ) : null
            })}
          </>
        ))
        const names = [0, 6, 12, 18].map((hour) => (
          <text x={36 + ((hour - first + 24) % 24) * each} y={11}>{String(hour).padStart(2, '0')}</text>
        ))
        return [...names, ...rows]
      }} />
  )
}
