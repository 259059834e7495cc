// Schedules: did last night run, and what comes.
import { useAnswer, type List } from '../core/answers'
import { path } from '../core/api'
import { Region } from '../core/region'
import { link } from '../core/router'
import { Name, State } from '../core/states'
import { Table } from '../core/table'
import type { Density, Schedule, Tick } from '../core/types'
import { When } from '../core/when'
import { DensityPicture } from '../pictures/density'
import { TickStrip } from '../pictures/tick_grid'
import { Head, Section } from './parts'

export function scheduleWord(one: Schedule): string {
  if (one.overdue_since) return 'overdue'
  if (one.interrupted_since) return 'interrupted'
  return one.running ? 'running' : one.state
}

function Strip(props: { schedule: Schedule }) {
  const { name, ticks } = props.schedule
  const where = ticks ? null : path(['schedules', name, 'ticks'], { limit: 30 })
  const answer = useAnswer<List<Tick>>(where, 'schedules')
  const last = ticks ?? answer.data?.items
  if (!last) return answer.fault ? <>not known</> : null
  return last.length > 0 ? <TickStrip ticks={last} /> : <span class="dim">no tick yet</span>
}

function Collisions() {
  const where = path(['schedules', 'density'], { days: 7 })
  const answer = useAnswer<Density>(where, 'schedules')
  if (!answer.data || !answer.data.hours.some((many) => many > 0)) return null
  return (
    <Section title="When they come, 7 days">
      <DensityPicture density={answer.data} />
    </Section>
  )
}

export function Schedules() {
  const where = path(['schedules'])
  const answer = useAnswer<List<Schedule>>(where, 'schedules')
  return (
    <>
      <Head title="Schedules" />
      <Collisions />
      <Region answer={answer} path={where} rows={6} isEmpty={(data) => data.items.length === 0}
        empty={
          <>
            <p>The book has no schedule. A daemon makes those of its daybook.toml:</p>
            <pre>{'[[schedule]]\nname = "nightly"\ncron = "0 3 * * *"\ncommand = ["./nightly.sh"]'}</pre>
          </>
        }>
        {(data) => (
          <Table caption="Schedules" rows={data.items} rowKey={(one) => one.name}
            columns={[
              {
                head: 'Schedule',
                cell: (one) => <a href={link(['schedules', one.name])}><Name text={one.name} /></a>,
              },
              { head: 'State', cell: (one) => <State word={scheduleWord(one)} /> },
              {
                head: 'When',
                cell: (one) => <>{one.text && <>{one.text}<br /></>}<code>{one.cron}</code></>,
              },
              { head: 'Zone', cell: (one) => one.zone },
              { head: 'Next', cell: (one) => <When at={one.next} /> },
              { head: 'Last ticks', cell: (one) => <Strip schedule={one} /> },
            ]} />
        )}
      </Region>
    </>
  )
}
