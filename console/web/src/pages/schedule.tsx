// One schedule: what became of its ticks, and which come.
import { useAnswer, type List } from '../core/answers'
import { ActButton, Acts } from '../core/acts'
import { path } from '../core/api'
import { length } from '../core/format'
import { Region } from '../core/region'
import { link } from '../core/router'
import { Name, State } from '../core/states'
import { Paged, Table } from '../core/table'
import type { NextTick, Schedule, Tick } from '../core/types'
import { between, When } from '../core/when'
import { TickGrid } from '../pictures/tick_grid'
import { retryTick, scheduleActs } from './acts_of'
import { Changes, Facts, Head, Section } from './parts'
import { scheduleWord } from './schedules'

function Sentence(props: { one: Schedule }) {
  const { one } = props
  return (
    <p class="sentence">
      <State word={scheduleWord(one)} />: {one.text ?? <code>{one.cron}</code>} in {one.zone}
      {one.running && <>; the tick of <When at={one.running} /> runs on <Name text={one.node ?? ''} /></>}
      {one.interrupted_since && <>; nobody goes on with it since <When at={one.interrupted_since} /></>}
      {one.overdue_since && <>; no daemon launches what is due since <When at={one.overdue_since} /></>}
      {one.next && <>; the next tick is <When at={one.next} /></>}.
    </p>
  )
}

function Next(props: { next: NextTick[] }) {
  return (
    <Section title="The next ten">
      <Table caption="The next ticks" rows={props.next} rowKey={(one) => one.tick}
        columns={[
          { head: 'UTC', cell: (one) => one.tick.replace('T', ' ').replace(/(\.\d+)?Z$/, '') },
          { head: 'There', cell: (one) => `${one.local.replace('T', ' ')} ${one.abbreviation}` },
          { head: 'Here', cell: (one) => <When at={one.tick} zone="browser" /> },
          { head: 'From now', cell: (one) => <When at={one.tick} /> },
        ]} />
    </Section>
  )
}

function Ticks(props: { schedule: string }) {
  return (
    <Section title="Ticks">
      <Paged<Tick> caption="Ticks, newest first" topic="schedules" rowKey={(one) => one.tick}
        path={path(['schedules', props.schedule, 'ticks'], { limit: 50 })}
        empty={<p>No tick has been launched or skipped yet.</p>}
        columns={[
          {
            head: 'Tick',
            cell: (one) =>
              one.key ? (
                <a href={link(['runs', props.schedule, one.key])}>
                  <When at={one.tick} zone="utc" />
                </a>
              ) : (
                <When at={one.tick} zone="utc" />
              ),
          },
          {
            head: 'State',
            cell: (one) => (
              <>
                <State word={one.state} />
                {one.count > 1 && ` (${one.count} in a row)`}
                {one.by_hand && ' by hand'}
              </>
            ),
          },
          { head: 'Took', figures: true, cell: (one) => between(one.launched, one.ended) },
          { head: 'Failures', figures: true, cell: (one) => one.failures },
          { head: 'Why', cell: (one) => <span class="short"><Name text={one.reason} /></span> },
          {
            head: 'Do',
            cell: (one) =>
              one.state === 'failed' ? <ActButton act={retryTick(props.schedule, one)} /> : '',
          },
        ]} />
    </Section>
  )
}

function Grid(props: { schedule: Schedule; next: NextTick[] }) {
  const { name, zone } = props.schedule
  const where = path(['schedules', name, 'ticks'], { limit: 288 })
  const ticks = useAnswer<List<Tick>>(where, 'schedules')
  return (
    <Section title="What became of them">
      <Region answer={ticks} path={where} rows={6} isEmpty={(data) => data.items.length === 0}
        empty={<p class="dim">No tick has been launched or skipped yet.</p>}>
        {(data) => <TickGrid ticks={data.items} next={props.next} zone={zone} />}
      </Region>
    </Section>
  )
}

function Whole(props: { one: Schedule }) {
  const { one } = props
  const where = path(['schedules', one.name, 'next'], { count: 10 })
  const next = useAnswer<List<NextTick>>(where, 'schedules')
  const ms = (value: number) => length(value * 1000)
  return (
    <>
      <Sentence one={one} />
      <Acts acts={scheduleActs(one)} />
      <Grid schedule={one} next={next.data?.items ?? []} />
      <Region answer={next} path={where} isEmpty={(data) => data.items.length === 0}
        empty={<p class="dim">No tick comes.</p>}>
        {(data) => <Next next={data.items} />}
      </Region>
      <Ticks schedule={one.name} />
      <details>
        <summary>Options</summary>
        <Facts of={[
          ['Cron', <code>{one.cron}</code>],
          ['Catch up', one.catch_up],
          ['Overlap', one.overlap],
          ['Attempts', one.attempts],
          ['Back-off', `${ms(one.backoff_ms)} to ${ms(one.longest_backoff_ms)}`],
          ['Change of clocks', `gap ${one.gap}, fold ${one.fold}`],
          ['Ticks kept', one.keep],
        ]} />
      </details>
      <Changes changes={one.changes} />
    </>
  )
}

export function SchedulePage(props: { name: string }) {
  const where = path(['schedules', props.name])
  const answer = useAnswer<Schedule>(where, 'schedules')
  return (
    <>
      <Head title="Schedule" name={props.name} />
      <Region answer={answer} path={where} rows={8}>
        {(one) => <Whole one={one} />}
      </Region>
    </>
  )
}
