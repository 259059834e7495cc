// One run: how it stands, its steps over its attempts, what it printed, who changed what.
import { useAnswer } from '../core/answers'
import { Acts } from '../core/acts'
import { path } from '../core/api'
import { counted, instant, length } from '../core/format'
import { Region } from '../core/region'
import { Name, State } from '../core/states'
import { Table } from '../core/table'
import type { Attempt, WholeRun } from '../core/types'
import { between, serverNow, Since, When } from '../core/when'
import { Gantt } from '../pictures/gantt'
import { Progress } from '../pictures/progress'
import { runActs } from './acts_of'
import { standingOf } from './overview'
import { Changes, Facts, Head, Section, Text } from './parts'

function Sentence(props: { run: WholeRun }) {
  const { run } = props
  const { holder } = run
  const word = standingOf(run)
  return (
    <p class="sentence">
      <State word={word} />
      {holder ? (
        <>
          {' '}for <Since at={run.attempt_started} /> by process {holder.pid} on{' '}
          <Name text={holder.node} />
          {holder.step && <>, in step <Name text={holder.step} /></>}.
          {run.abandoned_since && (
            <> Its lease was over <When at={run.abandoned_since} />; the next start takes it over.</>
          )}
        </>
      ) : (
        <>
          {run.ended && <> <When at={run.ended} />, after {between(run.started, run.ended)}</>}
          {run.error && <>: <Name text={run.error} /></>}.
        </>
      )}{' '}
      Attempt {run.attempt}{run.deadline && <>; deadline <When at={run.deadline} /></>}.{' '}
      <Remaining run={run} />
    </p>
  )
}

/** A range for the end, only once the run has gone on for a while. */
function Remaining(props: { run: WholeRun }) {
  const { progress, attempt_started: since, holder } = props.run
  const gone = (serverNow() - instant(since)) * 1000
  if (!holder || !progress?.total || progress.done >= progress.total) return null
  if (gone < 30e6 || progress.done < progress.total * 0.05) return null
  const left = (gone / progress.done) * (progress.total - progress.done)
  return <>Done in {length(left * 0.75)} to {length(left * 1.35)}, as it went until now.</>
}

function AttemptRow(props: { one: Attempt; open: boolean }) {
  const { one } = props
  return (
    <details open={props.open}>
      <summary>
        Attempt {one.attempt} of run {one.run_no}: <State word={one.state} />{' '}
        <When at={one.started} />, {between(one.started, one.ended)}
        {one.exit_code !== null && `, exit ${one.exit_code}`} on <Name text={one.node} />
      </summary>
      {one.error && <p class={one.state === 'succeeded' ? '' : 't-bad'}><Name text={one.error} /></p>}
      {one.output ? (
        <Text text={one.output} label={`The end of what attempt ${one.attempt} printed`} />
      ) : (
        <p class="dim">
          {one.output === undefined ? 'What it printed is not for your role.' : 'It printed nothing.'}
        </p>
      )}
    </details>
  )
}

function Whole(props: { run: WholeRun }) {
  const { run } = props
  const attempts = [...run.attempts].sort((a, b) => instant(b.started) - instant(a.started))
  const unknown = run.intents.filter((one) => one.unknown).map((one) => one.name)
  return (
    <>
      <Sentence run={run} />
      {run.progress && <p><Progress run={run} /></p>}
      <Acts acts={runActs(run, unknown)} />
      <Section title="Steps">
        <Gantt run={run} now={serverNow()} />
        {run.steps.length === 0 && run.intents.length === 0 ? (
          <p class="dim">No step is recorded. <code>daybook step NAME -- COMMAND</code> records one.</p>
        ) : (
          <Steps run={run} />
        )}
      </Section>
      <Section title="Attempts">
        {attempts.length === 0 && <p class="dim">The first attempt is under way.</p>}
        {attempts.map((one, at) => (
          <AttemptRow key={one.epoch} one={one} open={at === 0 && one.state !== 'succeeded'} />
        ))}
      </Section>
      {run.carried.length > 0 && (
        <Section title="Carried">
          <Facts of={run.carried.map((one) => [one.name, <Name text={one.value} />])} />
        </Section>
      )}
      <Changes changes={run.changes} />
    </>
  )
}

function Steps(props: { run: WholeRun }) {
  const { run } = props
  const rows = [
    ...run.intents.map((one) => ({
      name: one.name, attempt: one.attempt, at: one.started, took: '–', mode: 'at-most-once',
      value: '', word: one.unknown ? 'unknown' : 'running',
    })),
    ...[...run.steps].reverse().map((one) => ({
      name: one.name, attempt: one.attempt, at: one.ended, mode: one.mode, value: one.value,
      took: one.took_us === null ? '–' : length(one.took_us), word: 'done',
    })),
  ]
  return (
    <details>
      <summary>{counted(rows.length, 'step')} with values</summary>
      <Table caption="Steps" rows={rows} rowKey={(row) => row.name}
        columns={[
          { head: 'Step', cell: (row) => <Name text={row.name} /> },
          { head: 'State', cell: (row) => <State word={row.word} /> },
          { head: 'When', cell: (row) => <When at={row.at} /> },
          { head: 'Took', figures: true, cell: (row) => row.took },
          { head: 'Attempt', figures: true, cell: (row) => row.attempt },
          { head: 'Mode', cell: (row) => row.mode },
          { head: 'Value', cell: (row) => <span class="short"><Name text={row.value} /></span> },
        ]} />
    </details>
  )
}

export function RunPage(props: { process: string; runKey: string }) {
  const where = path(['runs', props.process, props.runKey])
  const answer = useAnswer<WholeRun>(where, 'runs')
  return (
    <>
      <Head title="Run" name={props.process + (props.runKey !== '-' ? ' ' + props.runKey : '')} />
      <Region answer={answer} path={where} rows={8}>
        {(run) => <Whole run={run} />}
      </Region>
    </>
  )
}
