// One queue: will it catch up, why do tasks fail, which are they.
import { useAnswer, type List } from '../core/answers'
import { Acts } from '../core/acts'
import { path } from '../core/api'
import { count, counted, length } from '../core/format'
import { Region } from '../core/region'
import { link, refine, route } from '../core/router'
import { Name, State } from '../core/states'
import { Paged, Table } from '../core/table'
import type { DueStrip, FaultGroup, Flow, Queue, Task } from '../core/types'
import { When } from '../core/when'
import { DueStripPicture } from '../pictures/due_strip'
import { FlowPicture } from '../pictures/flow'
import { bulkActs, pauseAct } from './acts_of'
import { Changes, Choose, Facts, Field, Head, Section } from './parts'
import { Many, queueWord } from './queues'

const states = ['waiting', 'retrying', 'running', 'suspect', 'succeeded', 'failed', 'dead',
  'unknown', 'discarded']

function Sentence(props: { queue: Queue }) {
  const { queue } = props
  const { counts } = queue
  if (!counts) return null
  return (
    <p class="sentence">
      <State word={queueWord(queue)} />
      {': '}
      {counted(counts.members, 'task')}, {count(counts.due)} due
      {counts.oldest_due && <> (the oldest <When at={counts.oldest_due} />)</>},{' '}
      {count(counts.running)} in hand
      {counts.overdue_since && <>; nobody works it since <When at={counts.overdue_since} /></>}
      {!counts.due && counts.next_due && <>; the next is due <When at={counts.next_due} /></>}.
    </p>
  )
}

function Counts(props: { queue: Queue }) {
  const { counts } = props.queue
  if (!counts) return null
  const to = (state: string) => (
    <a href={link(['queues', props.queue.name], { state })}>{state}</a>
  )
  return (
    <dl class="facts">
      {(['waiting', 'running', 'suspect', 'succeeded', 'failed', 'dead', 'unknown', 'discarded'] as const)
        .map((state) => (
          <div>
            <dt>{to(state)}</dt>
            <dd>
              {['suspect', 'failed', 'dead', 'unknown'].includes(state) ? (
                <Many many={counts[state]} word={state} />
              ) : (
                count(counts[state])
              )}
            </dd>
          </div>
        ))}
    </dl>
  )
}

function Due(props: { name: string }) {
  const where = path(['queues', props.name, 'due'], { buckets: 160 })
  const answer = useAnswer<DueStrip>(where, 'queues')
  return (
    <Section title="Due">
      <Region answer={answer} path={where} rows={5} optional isEmpty={(data) => data.buckets.length === 0}
        empty={<p>Nothing is due.</p>}>
        {(data) => <DueStripPicture strip={data} />}
      </Region>
    </Section>
  )
}

function Faults(props: { name: string }) {
  const where = path(['queues', props.name, 'faults'])
  const answer = useAnswer<List<FaultGroup>>(where, 'faults')
  return (
    <Section title="Why tasks fail">
      <Region answer={answer} path={where} optional isEmpty={(data) => data.items.length === 0}
        empty={<p class="dim">No task has failed lately.</p>}>
        {(data) => (
          <Table caption="Errors, in groups" rows={data.items} rowKey={(one) => one.print}
            columns={[
              { head: 'Error', cell: (one) => <span class="short"><Name text={one.text} /></span> },
              { head: 'Times', figures: true, cell: (one) => count(one.count) },
              { head: 'First', cell: (one) => <When at={one.first} /> },
              { head: 'Last', cell: (one) => <When at={one.last} /> },
              {
                head: 'For instance',
                cell: (one) => (
                  <a href={link(['queues', props.name, one.sample_key])}>
                    <Name text={one.sample_key} />
                  </a>
                ),
              },
            ]} />
        )}
      </Region>
    </Section>
  )
}

function Ended(props: { name: string }) {
  const where = path(['flows'], { of: `queue/${props.name}`, span: 'minute' })
  const answer = useAnswer<List<Flow>>(where, 'flows')
  return (
    <Section title="Flow, 60 minutes">
      <Region answer={answer} path={where} rows={4} optional isEmpty={(data) => data.items.length === 0}
        empty={<p class="dim">No task has ended in the last hour.</p>}>
        {(data) => <FlowPicture flow={data.items[0]} />}
      </Region>
    </Section>
  )
}

function Tasks(props: { queue: Queue }) {
  const { name, counts } = props.queue
  const { state = 'waiting', prefix = '' } = route.value.query
  const many = counts?.[state as 'dead'] ?? 0
  return (
    <Section title="Tasks">
      <div class="filter" role="search">
        <Choose label="State" value={state} options={states.map((one) => [one, one])}
          set={(value) => refine({ state: value })} />
        <Field label="Key begins with" value={prefix} set={(value) => refine({ prefix: value })} />
      </div>
      <Acts acts={bulkActs(props.queue, state, many)} />
      <Paged<Task> caption={`Tasks that are ${state}`} topic="queues" rowKey={(task) => task.key}
        path={path(['queues', name, 'tasks'], { state, prefix })}
        empty={<p>No task is {state}{prefix && ' with such a key'}.</p>}
        columns={[
          {
            head: 'Key',
            cell: (one) => <a href={link(['queues', name, one.key])}><Name text={one.key} /></a>,
          },
          { head: 'State', cell: (one) => <State word={one.state} /> },
          { head: 'Due', cell: (one) => <When at={one.due} /> },
          { head: 'Attempts', figures: true, cell: (one) => one.attempts },
          { head: 'Priority', figures: true, cell: (one) => one.priority },
          { head: 'Remark', cell: (one) => <span class="short"><Name text={one.remark} /></span> },
        ]} />
    </Section>
  )
}

function Options(props: { queue: Queue }) {
  const { queue } = props
  const ms = (value: number) => length(value * 1000)
  return (
    <details>
      <summary>Options</summary>
      <Facts of={[
        ['Period', queue.period_ms ? ms(queue.period_ms) : 'once'],
        ['Mode', queue.mode],
        ['Attempts', queue.attempts],
        ['Limit', queue.limit || 'none'],
        ['Rate', queue.rate || 'none'],
        ['Order', queue.in_order ? 'in order' : 'any'],
        ['Kept', ms(queue.retention_ms)],
        ['Follows', queue.follows ? `${queue.follows.table}.${queue.follows.key}` : 'no table'],
      ]} />
    </details>
  )
}

export function QueuePage(props: { name: string }) {
  const where = path(['queues', props.name])
  const answer = useAnswer<Queue>(where, 'queues')
  return (
    <>
      <Head title="Queue" name={props.name} />
      <Region answer={answer} path={where} rows={8}>
        {(queue) => (
          <>
            <Sentence queue={queue} />
            <Acts acts={[pauseAct('queues', queue.name, queue.paused)]} />
            <Counts queue={queue} />
            <Due name={queue.name} />
            <Faults name={queue.name} />
            <Tasks queue={queue} />
            <Ended name={queue.name} />
            <Options queue={queue} />
            <Changes changes={queue.changes} />
          </>
        )}
      </Region>
    </>
  )
}
