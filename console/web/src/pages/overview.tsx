// Is anything wrong, why, since when, what to do; then what runs, and whether it is as always.
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAnswer, type List } from '../core/answers'
import { Acts, type Act } from '../core/acts'
import { path } from '../core/api'
import { count, instant, length, percent } from '../core/format'
import { Region } from '../core/region'
import { link } from '../core/router'
import { Name, State } from '../core/states'
import { Table } from '../core/table'
import type { Flow, ProblemRow, Run, Schedule, Status } from '../core/types'
import { serverNow, Since, SinceWhen, When } from '../core/when'
import { Spark, sumOf } from '../pictures/flow'
import { Progress } from '../pictures/progress'
import { muteAct, pauseAct } from './acts_of'
import { Head, RunLink, Section, subjectLink } from './parts'

function actsOf(problem: ProblemRow): Act[] {
  return [...mendingActs(problem), ...(problem.print ? [muteAct(problem, serverNow())] : [])]
}

function mendingActs(problem: ProblemRow): Act[] {
  const [, kind, name] = /^(queue|schedule|plan) ([^]+)$/.exec(problem.subject) ?? []
  if (problem.kind === 'queue_paused') return [pauseAct('queues', name, true)]
  if (problem.kind === 'schedule_paused') return [pauseAct('schedules', name, true)]
  return kind === 'plan' && problem.kind === 'plan_paused' ? [pauseAct('plans', name, true)] : []
}

const lookAt: Record<string, string> = {
  tasks_dead: 'dead', tasks_unknown: 'unknown', queue_not_worked: '', queue_paused: '',
}

function whereOf(problem: ProblemRow): string | null {
  const state = lookAt[problem.kind]
  const page = problem.page ? link(problem.page) : subjectLink(problem.subject)
  return page && state ? `${page}?state=${state}` : page
}

function ProblemItem(props: { problem: ProblemRow }) {
  const { problem } = props
  const where = whereOf(problem)
  return (
    <li class="problem" data-row>
      <State word={problem.urgency}
        tone={problem.kind.endsWith('unknown') ? 'unknown' : undefined} />
      <div class="said">
        {where ? (
          <a href={where}>
            <Name text={problem.subject} />
          </a>
        ) : (
          <Name text={problem.subject} />
        )}
        : <Name text={problem.why} />
      </div>
      <div class="since">
        <SinceWhen at={problem.since} />
      </div>
      <div class="remedy">
        <code>{problem.remedy}</code>
        {where?.includes('?') && (
          <div>
            <a href={where}>Show them</a>
          </div>
        )}
        <Acts acts={actsOf(problem)} />
      </div>
    </li>
  )
}

function Calm(props: { status: Status | null; schedules: Schedule[] }) {
  const next = soonest(props.schedules)[0]
  const alive = props.status?.holders_alive
  return (
    <div class="calm" data-state="calm">
      <p>
        <strong>Nothing wants you.</strong>{' '}
        {alive !== undefined && (alive === 1 ? '1 process is alive. ' : `${alive} processes are alive. `)}
        {next ? (
          <>
            The next tick is <Name text={next.name} />, <When at={next.next} />.
          </>
        ) : (
          'No schedule has a tick to come.'
        )}
      </p>
    </div>
  )
}

function soonest(all: Schedule[]): Schedule[] {
  return all
    .filter((one) => one.state === 'active' && one.next)
    .sort((a, b) => instant(a.next) - instant(b.next))
}

/** Says aloud when a problem comes, and nothing else. */
function Announcer(props: { problems: ProblemRow[] | null }) {
  const known = useRef<Set<string> | null>(null)
  const [text, setText] = useState('')
  const names = props.problems?.map((one) => `${one.subject}: ${one.why}`)
  useEffect(() => {
    if (!names) return
    const fresh = names.filter((one) => known.current && !known.current.has(one))
    if (fresh.length > 0) setText(`New: ${fresh[0]}`)
    known.current = new Set(names)
  }, [names?.join('\n')])
  return (
    <p class="heard" role="status">
      {text}
    </p>
  )
}

const mostProblems = 50

function headOf(problems: ProblemRow[]): string {
  if (problems.length === 0) return 'Overview'
  return problems.length === 1 ? '1 thing wants you' : `${problems.length} things want you`
}

function InHand(props: { status: Status | null }) {
  const where = path(['runs'], { standing: 'in-hand', limit: 20 })
  const answer = useAnswer<List<Run>>(where, 'runs')
  const { status } = props
  const more = status && status.runs_in_hand > 20 ? status.runs_in_hand - 20 : 0
  return (
    <Section title="In hand">
      <Region answer={answer} path={where} isEmpty={(data) => data.items.length === 0}
        empty={<p>No run is in hand. <code>daybook run NAME -- COMMAND</code> starts one.</p>}>
        {(data) => (
          <>
            <Table caption="Runs in hand" rows={data.items}
              rowKey={(run) => run.process + '\0' + run.key}
              columns={[
                { head: 'Run', cell: (run) => <RunLink process={run.process} runKey={run.key} /> },
                { head: 'State', cell: (run) => <State word={standingOf(run)} /> },
                { head: 'Progress', cell: (run) => <Progress run={run} /> },
                { head: 'Step', cell: (run) => <Name text={run.holder?.step || '–'} /> },
                { head: 'Where', cell: (run) => <Name text={run.holder?.node ?? '–'} /> },
                { head: 'For', figures: true, cell: (run) => <Since at={run.attempt_started} /> },
              ]} />
            {more > 0 && <p><a href={link(['runs'], { standing: 'in-hand' })}>and {more} more</a></p>}
          </>
        )}
      </Region>
    </Section>
  )
}

export function standingOf(run: Run): string {
  if (run.abandoned_since) return 'abandoned'
  return run.deadline_over && run.holder ? 'overdue' : run.state
}

function Flows() {
  const where = path(['flows'], { span: 'minute' })
  const answer = useAnswer<List<Flow>>(where, 'flows')
  // On the first page there is nothing of what the server cannot tell.
  if (answer.fault?.problem.status === 404) return null
  return (
    <Section title="Flow, 60 minutes">
      <Region answer={answer} path={where} optional isEmpty={(data) => data.items.length === 0}
        empty={<p>Nothing has ended in the last hour.</p>}>
        {(data) => (
          <Table caption="What ended in the last 60 minutes" rows={data.items.slice(0, 20)}
            rowKey={(flow) => flow.kind + flow.name}
            columns={[
              { head: 'Name', cell: (flow) => <a href={flowLink(flow)}><Name text={flow.name} /></a> },
              { head: 'By the minute', cell: (flow) => <Spark points={flow.points} name={flow.name} /> },
              { head: 'Ended', figures: true, cell: (flow) => count(endedOf(flow)) },
              { head: 'Failed', figures: true, cell: (flow) => failedOf(flow) },
              { head: '95 %', figures: true, cell: (flow) => slowOf(flow) },
            ]} />
        )}
      </Region>
    </Section>
  )
}

function flowLink(flow: Flow): string {
  if (flow.kind === 'process') return link(['runs'], { process: flow.name })
  return link([flow.kind + 's', flow.name])
}

function endedOf(flow: Flow): number {
  const sum = sumOf(flow.points)
  return sum.done + sum.failed
}

function failedOf(flow: Flow) {
  const sum = sumOf(flow.points)
  if (sum.failed === 0) return <span class="dim">none</span>
  return <span class="t-bad">✕ {percent(sum.failed, sum.done + sum.failed)}</span>
}

function slowOf(flow: Flow): string {
  const slow = sumOf(flow.points).p95_us
  return slow === null ? '–' : length(slow)
}

function Coming(props: { schedules: Schedule[] }) {
  const next = soonest(props.schedules).slice(0, 8)
  if (next.length === 0) return null
  return (
    <Section title="Coming ticks">
      <Table caption="The next ticks" rows={next} rowKey={(one) => one.name}
        columns={[
          {
            head: 'Schedule',
            cell: (one) => <a href={link(['schedules', one.name])}><Name text={one.name} /></a>,
          },
          { head: 'Next', cell: (one) => <When at={one.next} /> },
          { head: 'There', cell: (one) => <When at={one.next} zone={one.zone} /> },
        ]} />
    </Section>
  )
}

export function Overview() {
  const where = path(['problems'])
  const problems = useAnswer<List<ProblemRow>>(where, 'problems')
  const status = useAnswer<Status>(path(['status']), 'status')
  const schedules = useAnswer<List<Schedule>>(path(['schedules']), 'schedules')
  const all = schedules.data?.items ?? []
  const now = serverNow()
  const told = (problems.data?.items ?? []).filter((one) => !(instant(one.muted_until) > now))
  return (
    <>
      <Head title={headOf(told)} />
      <Region answer={problems} path={where}>
        {() =>
          told.length === 0 ? (
            <Calm status={status.data} schedules={all} />
          ) : (
            <ul class="problems" aria-label="Problems">
              {told.slice(0, mostProblems).map((one) => (
                <ProblemItem key={one.kind + one.subject} problem={one} />
              ))}
              {told.length > mostProblems && <li>and {told.length - mostProblems} more</li>}
            </ul>
          )
        }
      </Region>
      <Announcer problems={problems.data?.items ?? null} />
      <div class="columns">
        <InHand status={status.data} />
        <Flows />
      </div>
      <Coming schedules={all} />
    </>
  )
}
