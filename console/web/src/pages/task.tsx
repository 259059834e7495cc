// One task: where it is, how it ended before, what people asked for.
import { useAnswer } from '../core/answers'
import { Acts } from '../core/acts'
import { path } from '../core/api'
import { Region } from '../core/region'
import { link } from '../core/router'
import { Name, State } from '../core/states'
import { Table } from '../core/table'
import type { Task } from '../core/types'
import { between, When } from '../core/when'
import { taskActs } from './acts_of'
import { Changes, Facts, Head, Section, Text } from './parts'

function Whole(props: { queue: string; task: Task }) {
  const { task } = props
  const outcomes = task.outcomes ?? []
  return (
    <>
      <p class="sentence">
        <State word={task.state} /> in queue{' '}
        <a href={link(['queues', props.queue])}><Name text={props.queue} /></a>
        {task.remark && <>: <Name text={task.remark} /></>}.
      </p>
      <Acts acts={taskActs(props.queue, task)} />
      <Facts of={[
        ['Due', <When at={task.due} />],
        ['Turn', <When at={task.turn} />],
        ['Attempts', task.attempts],
        ['Workers that died', task.crashes],
        ['Priority', task.priority],
        ['Started', <When at={task.started} />],
        ['Finished', <When at={task.finished} />],
        ['Holder', <Name text={task.holder || '–'} />],
      ]} />
      <Section title="Payload">
        {task.payload === undefined ? (
          <p class="dim">The payload is not for your role.</p>
        ) : task.payload === null ? (
          <p class="dim">It has none.</p>
        ) : (
          <Text text={task.payload} label="Payload" />
        )}
      </Section>
      <Section title="How it ended before">
        {outcomes.length === 0 ? (
          <p class="dim">It has not ended yet.</p>
        ) : (
          <Table caption="Outcomes, newest first" rows={outcomes}
            rowKey={(one) => one.turn + one.finished + one.attempts}
            columns={[
              { head: 'Turn', cell: (one) => <When at={one.turn} /> },
              { head: 'State', cell: (one) => <State word={one.state} /> },
              { head: 'Attempts', figures: true, cell: (one) => one.attempts },
              { head: 'Ended', cell: (one) => <When at={one.finished} /> },
              { head: 'Took', figures: true, cell: (one) => between(one.started, one.finished) },
              { head: 'Remark', cell: (one) => <Name text={one.remark} /> },
            ]} />
        )}
      </Section>
      <Changes changes={task.changes} />
    </>
  )
}

export function TaskPage(props: { queue: string; taskKey: string }) {
  const where = path(['queues', props.queue, 'tasks', props.taskKey])
  const answer = useAnswer<Task>(where, 'queues')
  return (
    <>
      <Head title="Task" name={props.taskKey} />
      <Region answer={answer} path={where} rows={6}>
        {(task) => <Whole queue={props.queue} task={task} />}
      </Region>
    </>
  )
}
