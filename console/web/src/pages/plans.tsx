// Plans, what fails first; and one plan with its periods, its sweeps, and the keys it refused.
import { useAnswer, type List } from '../core/answers'
import { ActButton, Acts } from '../core/acts'
import { path } from '../core/api'
import { count, counted } from '../core/format'
import { Region } from '../core/region'
import { link, refine, route } from '../core/router'
import { Name, State } from '../core/states'
import { Paged, Table } from '../core/table'
import type { Period, Plan, PlanKey, RefusedKey, Sweep, SweepMap } from '../core/types'
import { When } from '../core/when'
import { SweepBand } from '../pictures/sweep_map'
import { planActs, reopenPeriod } from './acts_of'
import { Changes, Facts, Field, Head, Section, Text } from './parts'

function planWord(plan: Plan): string {
  return plan.error ? 'failing' : plan.paused ? 'paused' : 'active'
}

export function Plans() {
  const where = path(['plans'])
  const answer = useAnswer<List<Plan>>(where, 'plans')
  const order = ['failing', 'paused', 'active']
  const sorted = (all: Plan[]) =>
    [...all].sort((a, b) => order.indexOf(planWord(a)) - order.indexOf(planWord(b)))
  return (
    <>
      <Head title="Plans" />
      <Region answer={answer} path={where} rows={5} isEmpty={(data) => data.items.length === 0}
        empty={<p>The book has no plan. A <code>[[plan]]</code> in daybook.toml makes one.</p>}>
        {(data) => (
          <Table caption="Plans, failing first" rows={sorted(data.items)} rowKey={(one) => one.name}
            columns={[
              {
                head: 'Plan',
                cell: (one) => <a href={link(['plans', one.name])}><Name text={one.name} /></a>,
              },
              { head: 'State', cell: (one) => <State word={planWord(one)} /> },
              { head: 'Kind', cell: (one) => one.kind },
              {
                head: 'Queue',
                cell: (one) => <a href={link(['queues', one.queue])}><Name text={one.queue} /></a>,
              },
              { head: 'Last pass', cell: (one) => <When at={one.last_pass} /> },
              { head: 'Next pass', cell: (one) => <When at={one.next_pass} /> },
              { head: 'Launched', figures: true, cell: (one) => count(one.launched) },
              { head: 'Refused', figures: true, cell: (one) => count(one.refused) },
              { head: 'Error', cell: (one) => <span class="short"><Name text={one.error} /></span> },
            ]} />
        )}
      </Region>
    </>
  )
}

function Grid(props: { plan: Plan }) {
  const { name } = props.plan
  return (
    <Section title="Periods">
      <Paged<Period> caption="Periods, newest first" topic="plans" rowKey={(one) => one.key}
        path={path(['plans', name, 'grid'], { limit: 100 })}
        empty={<p>No period is over yet.</p>}
        columns={[
          { head: 'Period', cell: (one) => <Name text={one.key} /> },
          { head: 'State', cell: (one) => <State word={one.state} /> },
          { head: 'Launches', figures: true, cell: (one) => one.launches },
          { head: 'Launched', cell: (one) => <When at={one.launched} /> },
          { head: 'Done', cell: (one) => <When at={one.done} /> },
          { head: 'Remark', cell: (one) => <span class="short"><Name text={one.remark} /></span> },
          {
            head: 'Do',
            cell: (one) => (one.launches ? <ActButton act={reopenPeriod(name, one.key)} /> : ''),
          },
        ]} />
    </Section>
  )
}

function Band(props: { plan: string; sweep: Sweep }) {
  const where = path(['plans', props.plan, 'sweeps', String(props.sweep.sweep), 'map'])
  const answer = useAnswer<SweepMap>(where, 'plans')
  return (
    <Region answer={answer} path={where} rows={1} optional isEmpty={(data) => data.stretches.length === 0}
      empty={<p class="dim">No page is cut yet.</p>}>
      {(data) => <SweepBand sweep={props.sweep} map={data} />}
    </Region>
  )
}

function Sweeps(props: { plan: Plan }) {
  const where = path(['plans', props.plan.name, 'sweeps'])
  const answer = useAnswer<List<Sweep>>(where, 'plans')
  return (
    <Section title="Sweeps">
      <Region answer={answer} path={where} isEmpty={(data) => data.items.length === 0}
        empty={<p>No sweep has begun yet.</p>}>
        {(data) => (
          <>
            <Band plan={props.plan.name} sweep={data.items[0]} />
            <Table caption="Sweeps, newest first" rows={data.items} rowKey={(one) => String(one.sweep)}
              columns={[
                { head: 'Sweep', figures: true, cell: (one) => one.sweep },
                { head: 'State', cell: (one) => <State word={one.state} /> },
                { head: 'Pages', figures: true, cell: (one) => count(one.pages) },
                { head: 'Done', figures: true, cell: (one) => count(one.done) },
                { head: 'Failed', figures: true, cell: (one) => count(one.failed) },
                { head: 'Rows', figures: true, cell: (one) => count(one.rows) },
                { head: 'Began', cell: (one) => <When at={one.started} /> },
                { head: 'Ended', cell: (one) => <When at={one.ended} /> },
              ]} />
          </>
        )}
      </Region>
    </Section>
  )
}

function Refused(props: { plan: Plan }) {
  return (
    <Section title="Not launched when they came up last">
      <Paged<RefusedKey> caption="Refused keys" topic="plans" rowKey={(one) => one.key}
        path={path(['plans', props.plan.name, 'refused'])}
        empty={<p class="dim">Every key that came up was launched.</p>}
        columns={[
          { head: 'Key', cell: (one) => <Name text={one.key} /> },
          { head: 'Why', cell: (one) => <Name text={one.reason} /> },
          { head: 'Times', figures: true, cell: (one) => count(one.count) },
          { head: 'First', cell: (one) => <When at={one.first} /> },
          { head: 'Last', cell: (one) => <When at={one.last} /> },
        ]} />
    </Section>
  )
}

function Find(props: { plan: string }) {
  const key = route.value.query.key ?? ''
  const where = key ? path(['plans', props.plan, 'keys', key]) : null
  const answer = useAnswer<PlanKey>(where, 'plans')
  return (
    <Section title="Why was a key not launched?">
      <div class="filter" role="search">
        <Field label="Key" value={key} set={(value) => refine({ key: value })} />
      </div>
      {where && (
        <Region answer={answer} path={where} rows={1}>
          {(one) => (
            <p>
              <Name text={one.key} /> was launched {counted(one.launches, 'time')}
              {one.last && <>, last <When at={one.last} /></>}, and refused{' '}
              {counted(one.refusals, 'time')}
              {one.last_refused && <>, last <When at={one.last_refused} /></>}
              {one.reason && <>: <Name text={one.reason} /></>}.
            </p>
          )}
        </Region>
      )}
    </Section>
  )
}

function Whole(props: { plan: Plan }) {
  const { plan } = props
  return (
    <>
      <p class="sentence">
        <State word={planWord(plan)} />: {counted(plan.passes, 'pass').replace('passs', 'passes')},{' '}
        {count(plan.launched)} keys launched, {count(plan.refused)} refused; the last pass was{' '}
        <When at={plan.last_pass} none="never" />
        {plan.error && <>, and failed: <Name text={plan.error} /></>}.
      </p>
      <Acts acts={planActs(plan)} />
      {plan.kind === 'window' && <Grid plan={plan} />}
      {plan.kind === 'sweep' && <Sweeps plan={plan} />}
      <Refused plan={plan} />
      <Find plan={plan.name} />
      <details>
        <summary>How it is declared</summary>
        <Facts of={[
          ['Kind', plan.kind],
          ['Queue', <a href={link(['queues', plan.queue])}><Name text={plan.queue} /></a>],
          ['Rule', plan.rule],
          ['Every', plan.every],
          ['Priority', plan.priority],
        ]} />
        {plan.query && <Text text={plan.query} label="Its query" />}
        {plan.check && <Text text={plan.check} label="Its check" />}
        {(plan.advice ?? []).map((one) => <p>{one}</p>)}
      </details>
      <Changes changes={plan.changes} />
    </>
  )
}

export function PlanPage(props: { name: string }) {
  const where = path(['plans', props.name])
  const answer = useAnswer<Plan>(where, 'plans')
  return (
    <>
      <Head title="Plan" name={props.name} />
      <Region answer={answer} path={where} rows={8}>
        {(plan) => <Whole plan={plan} />}
      </Region>
    </>
  )
}
