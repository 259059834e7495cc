// Aggregations: are the sums right.
import { useAnswer, type List } from '../core/answers'
import { ActButton, Acts } from '../core/acts'
import { path } from '../core/api'
import { count } from '../core/format'
import { Region } from '../core/region'
import { link, refine, route } from '../core/router'
import { Name, State } from '../core/states'
import { Paged, Table } from '../core/table'
import type { AggregatedRow, Aggregation, Difference, LogRow, Parent } from '../core/types'
import { When } from '../core/when'
import { ParentsBar } from '../pictures/drift'
import { aggregationActs, parentAct } from './acts_of'
import { Choose, Head, Section } from './parts'

function Verified(props: { one: Aggregation }) {
  const { verified } = props.one
  if (!verified) return <State word="never verified" tone="late" />
  return (
    <>
      {verified.differences > 0 ? (
        <State word={`${count(verified.differences)} differ`} tone="bad" />
      ) : (
        <State word="none differs" tone="done" />
      )}
      , <When at={verified.at} />
    </>
  )
}

export function Aggregations() {
  const where = path(['aggregations'])
  const answer = useAnswer<List<Aggregation>>(where, 'aggregations')
  return (
    <>
      <Head title="Aggregations" />
      <Region answer={answer} path={where} rows={4} isEmpty={(data) => data.items.length === 0}
        empty={<p>The book has no aggregation. An <code>[[aggregate]]</code> in daybook.toml makes
          one.</p>}>
        {(data) => (
          <Table caption="Aggregations" rows={data.items} rowKey={(one) => one.name}
            columns={[
              {
                head: 'Aggregation',
                cell: (one) => <a href={link(['aggregations', one.name])}><Name text={one.name} /></a>,
              },
              { head: 'From', cell: (one) => <Name text={one.source ?? '–'} /> },
              { head: 'To', cell: (one) => <Name text={one.parent ?? '–'} /> },
              { head: 'When', cell: (one) => (one.cron ? <code>{one.cron}</code> : 'by hand') },
              { head: 'Verified', cell: (one) => <Verified one={one} /> },
            ]} />
        )}
      </Region>
    </>
  )
}

function Parents(props: { name: string }) {
  const { state = 'open' } = route.value.query
  return (
    <Section title="Parents">
      <div class="filter" role="search">
        <Choose label="State" value={state} set={(value) => refine({ state: value })}
          options={['open', 'closed', 'settled', 'void'].map((one) => [one, one])} />
      </div>
      <Paged<Parent> caption={`Parents that are ${state}`} topic="aggregations"
        path={path(['aggregations', props.name, 'parents'], { state })}
        rowKey={(one) => one.parent} empty={<p>No parent is {state}.</p>}
        columns={[
          {
            head: 'Parent',
            cell: (one) => (
              <a href={link(['aggregations', props.name, one.parent])}><Name text={one.parent} /></a>
            ),
          },
          { head: 'Group', cell: (one) => <Name text={textOf(one.group)} /> },
          { head: 'Rows', figures: true, cell: (one) => count(one.count) },
          { head: 'Sums', figures: true, cell: (one) => <Name text={textOf(one.sums)} /> },
          { head: 'Opened', cell: (one) => <When at={one.opened} /> },
          {
            head: 'Do',
            cell: (one) => (
              <div class="acts">
                {one.state === 'open' && <ActButton act={parentAct(props.name, one.parent, 'close')} />}
                {one.state === 'closed' && (
                  <ActButton act={parentAct(props.name, one.parent, 'settle')} />
                )}
                {(one.state === 'open' || one.state === 'closed') && (
                  <ActButton act={parentAct(props.name, one.parent, 'revert')} />
                )}
              </div>
            ),
          },
        ]} />
    </Section>
  )
}

function textOf(all: Record<string, string | null>): string {
  return Object.entries(all).map(([name, value]) => `${name} ${value ?? 'null'}`).join(', ')
}

function Differences(props: { name: string }) {
  const where = path(['aggregations', props.name, 'verified'])
  const answer = useAnswer<List<Difference>>(where, 'aggregations')
  return (
    <Section title="Differences at the last verify">
      <Region answer={answer} path={where} optional isEmpty={(data) => data.items.length === 0}
        empty={<p class="dim">None that is known.</p>}>
        {(data) => (
          <Table caption="Differences" rows={data.items} rowKey={(one) => one.parent + one.column}
            columns={[
              { head: 'Parent', cell: (one) => <Name text={one.parent} /> },
              { head: 'What', cell: (one) => one.what },
              { head: 'Column', cell: (one) => <Name text={one.column} /> },
              { head: 'Expected', figures: true, cell: (one) => one.expected },
              { head: 'Found', figures: true, cell: (one) => one.found },
            ]} />
        )}
      </Region>
    </Section>
  )
}

export function AggregationPage(props: { name: string }) {
  const where = path(['aggregations', props.name])
  const answer = useAnswer<Aggregation>(where, 'aggregations')
  return (
    <>
      <Head title="Aggregation" name={props.name} />
      <Region answer={answer} path={where} rows={8}>
        {(one) => (
          <>
            <p class="sentence">
              Rows of <Name text={one.source ?? 'a table'} /> into{' '}
              <Name text={one.parent ?? 'another'} />. Verified: <Verified one={one} />.
            </p>
            <Acts acts={aggregationActs(one)} />
            {one.parents && <ParentsBar parents={one.parents} />}
            <Differences name={one.name} />
            <Parents name={one.name} />
          </>
        )}
      </Region>
    </>
  )
}

/** Explains the number of one parent: its rows, and what was done with it. */
export function ParentPage(props: { name: string; parent: string }) {
  const { name, parent } = props
  return (
    <>
      <Head title="Parent" name={parent} />
      <p class="sentence">
        Of <a href={link(['aggregations', name])}><Name text={name} /></a>. Its count and sums are
        those of these rows.
      </p>
      <Section title="Rows">
        <Paged<AggregatedRow> caption="Rows" topic="aggregations" rowKey={(one) => one.row}
          path={path(['aggregations', name, 'parents', parent, 'rows'])}
          empty={<p>The parent has no rows.</p>}
          columns={[
            { head: 'Row', cell: (one) => <Name text={one.row} /> },
            { head: 'State', cell: (one) => <Name text={one.state} /> },
            { head: 'Amounts', figures: true, cell: (one) => <Name text={textOf(one.amounts)} /> },
          ]} />
      </Section>
      <Section title="What was done">
        <Paged<LogRow> caption="What was done, newest first" topic="aggregations"
          rowKey={(one) => one.id} path={path(['aggregations', name, 'history'], { parent })}
          empty={<p class="dim">Nothing is known of it.</p>}
          columns={[
            { head: 'When', cell: (one) => <When at={one.at} /> },
            { head: 'What', cell: (one) => one.what },
            { head: 'Rows', figures: true, cell: (one) => count(one.rows) },
            { head: 'Who', cell: (one) => <Name text={one.actor} /> },
            { head: 'Why', cell: (one) => <Name text={one.reason} /> },
            { head: 'Detail', cell: (one) => <Name text={one.detail} /> },
          ]} />
      </Section>
    </>
  )
}
