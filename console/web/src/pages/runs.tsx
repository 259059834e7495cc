// Runs, the newest attempts first.
import { path } from '../core/api'
import { refine, route } from '../core/router'
import { Name, State } from '../core/states'
import { Paged } from '../core/table'
import type { Run } from '../core/types'
import { between, Since, When } from '../core/when'
import { Progress } from '../pictures/progress'
import { standingOf } from './overview'
import { Choose, Field, Head, RunLink } from './parts'

const standings: [string, string][] = [
  ['', 'all'], ['in-hand', 'in hand'], ['abandoned', 'abandoned'], ['overdue', 'past deadline'],
  ['failed', 'failed'], ['interrupted', 'interrupted'], ['unknown', 'unknown'],
  ['succeeded', 'succeeded'],
]

function Filter() {
  const { query } = route.value
  return (
    <div class="filter" role="search">
      <Field label="Process" value={query.process ?? ''} set={(process) => refine({ process })} />
      <Choose label="State" value={query.standing ?? ''} options={standings}
        set={(standing) => refine({ standing })} />
      <Field label="Key begins with" value={query.prefix ?? ''} set={(prefix) => refine({ prefix })} />
      <Field label="Since" value={query.since ?? ''} set={(since) => refine({ since })} />
    </div>
  )
}

export function Runs() {
  const { process, standing, prefix, since } = route.value.query
  return (
    <>
      <Head title="Runs" />
      <Filter />
      <Paged<Run> caption="Runs, newest attempts first" topic="runs"
        path={path(['runs'], { process, standing, prefix, since })}
        rowKey={(run) => run.process + '\0' + run.key}
        empty={<p>No run is like that. <code>daybook run NAME -- COMMAND</code> makes one.</p>}
        columns={[
          { head: 'Run', cell: (run) => <RunLink process={run.process} runKey={run.key} /> },
          { head: 'State', cell: (run) => <State word={standingOf(run)} /> },
          { head: 'Attempt', figures: true, cell: (run) => run.attempt },
          { head: 'Progress', cell: (run) => <Progress run={run} /> },
          { head: 'Began', cell: (run) => <When at={run.attempt_started} /> },
          {
            head: 'Took', figures: true,
            cell: (run) =>
              run.ended ? between(run.attempt_started, run.ended) : <Since at={run.attempt_started} />,
          },
          { head: 'Where', cell: (run) => <Name text={run.holder?.node ?? ''} /> },
          { head: 'Error', cell: (run) => <span class="short"><Name text={run.error} /></span> },
        ]} />
    </>
  )
}
