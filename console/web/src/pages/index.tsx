// Which page an address is.
import type { VNode } from 'preact'
import { AggregationPage, Aggregations, ParentPage } from './aggregations'
import { ChangesPage, Processes, System } from './book'
import { Overview } from './overview'
import { Head } from './parts'
import { PlanPage, Plans } from './plans'
import { QueuePage } from './queue'
import { Queues } from './queues'
import { RunPage } from './run'
import { Runs } from './runs'
import { SchedulePage } from './schedule'
import { Schedules } from './schedules'
import { TaskPage } from './task'

/** The pages of the header, by the first part of their address. */
export const pages: [part: string, title: string][] = [
  ['', 'Overview'], ['runs', 'Runs'], ['schedules', 'Schedules'], ['queues', 'Queues'],
  ['plans', 'Plans'], ['aggregations', 'Aggregations'], ['processes', 'Processes'],
  ['changes', 'Changes'], ['system', 'System'],
]

const lists: Record<string, () => VNode> = {
  '': () => <Overview />,
  runs: () => <Runs />,
  schedules: () => <Schedules />,
  queues: () => <Queues />,
  plans: () => <Plans />,
  aggregations: () => <Aggregations />,
  processes: () => <Processes />,
  changes: () => <ChangesPage />,
  system: () => <System />,
}

const single: Record<string, (name: string) => VNode> = {
  runs: (name) => <RunPage key={name} process={name} runKey="-" />,
  schedules: (name) => <SchedulePage key={name} name={name} />,
  queues: (name) => <QueuePage key={name} name={name} />,
  plans: (name) => <PlanPage key={name} name={name} />,
  aggregations: (name) => <AggregationPage key={name} name={name} />,
}

function Missing() {
  return (
    <>
      <Head title="No such page" />
      <p>
        The address has no page. <a href="#/">The overview</a> has all that wants you.
      </p>
    </>
  )
}

export function pageOf(parts: string[]): { title: string; page: VNode } {
  const [kind = '', name, more] = parts
  const title = pages.find(([part]) => part === kind)?.[1]
  if (title === undefined) return { title: 'No such page', page: <Missing /> }
  if (name === undefined) return { title, page: lists[kind]() }
  if (more !== undefined && kind === 'runs') {
    return {
      title: `${name} ${more}`,
      page: <RunPage key={name + '\0' + more} process={name} runKey={more} />,
    }
  }
  if (more !== undefined && kind === 'queues') {
    return { title: more, page: <TaskPage key={name + '\0' + more} queue={name} taskKey={more} /> }
  }
  if (more !== undefined && kind === 'aggregations') {
    return { title: more, page: <ParentPage key={name + '\0' + more} name={name} parent={more} /> }
  }
  return { title: name, page: single[kind]?.(name) ?? <Missing /> }
}
