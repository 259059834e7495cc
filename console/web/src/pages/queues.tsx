// Queues: which is behind.
import { useAnswer, type List } from '../core/answers'
import { path } from '../core/api'
import { count } from '../core/format'
import { Region } from '../core/region'
import { link } from '../core/router'
import { Name, State } from '../core/states'
import { Table } from '../core/table'
import type { Queue } from '../core/types'
import { When } from '../core/when'
import { Head } from './parts'

export function queueWord(queue: Queue): string {
  if (queue.paused) return 'paused'
  const { counts } = queue
  if (!counts) return 'active'
  if (counts.overdue_since) return 'overdue'
  return counts.running > 0 ? 'running' : counts.due > 0 ? 'due' : 'active'
}

/** A count that a person has to look at, where it is not 0. */
export function Many(props: { many: number | undefined; word: string }) {
  if (!props.many) return <span class="dim">0</span>
  return (
    <>
      <State word={count(props.many)}
        tone={props.word === 'unknown' ? 'unknown' : props.word === 'suspect' ? 'late' : 'bad'} />
      <span class="heard"> {props.word}</span>
    </>
  )
}

export function Queues() {
  const where = path(['queues'])
  const answer = useAnswer<List<Queue>>(where, 'queues')
  return (
    <>
      <Head title="Queues" />
      <Region answer={answer} path={where} rows={6} isEmpty={(data) => data.items.length === 0}
        empty={<p>The book has no queue. <code>daybook queues make NAME</code> makes one, and a{' '}
          <code>[[queue]]</code> in daybook.toml lets a daemon work it.</p>}>
        {(data) => (
          <Table caption="Queues" rows={data.items} rowKey={(queue) => queue.name}
            columns={[
              {
                head: 'Queue',
                cell: (one) => <a href={link(['queues', one.name])}><Name text={one.name} /></a>,
              },
              { head: 'State', cell: (one) => <State word={queueWord(one)} /> },
              { head: 'Tasks', figures: true, cell: (one) => count(one.counts?.members) },
              { head: 'Due', figures: true, cell: (one) => count(one.counts?.due) },
              { head: 'Oldest due', cell: (one) => <When at={one.counts?.oldest_due} none="" /> },
              { head: 'In hand', figures: true, cell: (one) => count(one.counts?.running) },
              { head: 'Dead', figures: true, cell: (one) => <Many many={one.counts?.dead} word="dead" /> },
              {
                head: 'Unknown', figures: true,
                cell: (one) => <Many many={one.counts?.unknown} word="unknown" />,
              },
              { head: 'Next due', cell: (one) => <When at={one.counts?.next_due} none="" /> },
            ]} />
        )}
      </Region>
    </>
  )
}
