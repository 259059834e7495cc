// The book as a whole: its processes, what people changed, what the doctor finds.
import { useState } from 'preact/hooks'
import { ActButton } from '../core/acts'
import { useAnswer, type List } from '../core/answers'
import { get, may, path, session } from '../core/api'
import { counted, instant } from '../core/format'
import { Region } from '../core/region'
import { link, refine, route } from '../core/router'
import { Name, State } from '../core/states'
import { Paged, Table } from '../core/table'
import type { Change, Finding, Process, Status, Token } from '../core/types'
import { When } from '../core/when'
import { revokeAct } from './acts_of'
import { Facts, Field, Head, RunLink, Section, subjectLink } from './parts'

function Work(props: { process: Process }) {
  const { work } = props.process
  if (work.length === 0) return <span class="dim">nothing</span>
  return (
    <>
      {work.slice(0, 5).map((one) => (
        <div>
          {one.queue !== undefined ? (
            <>
              {counted(one.tasks ?? 0, 'task')} of{' '}
              <a href={link(['queues', one.queue])}><Name text={one.queue} /></a>
            </>
          ) : (
            <RunLink process={one.run ?? ''} runKey={one.key ?? '-'} />
          )}
        </div>
      ))}
      {work.length > 5 && <div>and {work.length - 5} more</div>}
    </>
  )
}

export function Processes() {
  const where = path(['processes'])
  const answer = useAnswer<List<Process>>(where, 'processes')
  return (
    <>
      <Head title="Processes" />
      <Region answer={answer} path={where} rows={4} isEmpty={(data) => data.items.length === 0}
        empty={<p>No process works in this book. <code>daybook daemon</code> starts one.</p>}>
        {(data) => (
          <Table caption="Processes" rows={data.items} rowKey={(one) => one.id}
            columns={[
              { head: 'Node', cell: (one) => <Name text={one.node} /> },
              { head: 'Pid', figures: true, cell: (one) => one.pid },
              { head: 'State', cell: (one) => <State word={one.state} /> },
              { head: 'Since', cell: (one) => <When at={one.since} /> },
              { head: 'Renewed', cell: (one) => <When at={one.renewed} /> },
              { head: 'In hand', cell: (one) => <Work process={one} /> },
              { head: 'Serves', cell: (one) => <Name text={(one.serving ?? []).join(', ')} /> },
            ]} />
        )}
      </Region>
    </>
  )
}

function Subject(props: { subject: string }) {
  const where = subjectLink(props.subject)
  const name = <Name text={props.subject} />
  return where ? <a href={where}>{name}</a> : name
}

/** A cell of CSV. One that a spreadsheet would take for a formula gets an apostrophe. */
function cell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return `"${safe.replace(/"/g, '""')}"`
}

const columns = ['at', 'actor', 'action', 'subject', 'reason', 'detail', 'source'] as const

/** Saves the newest thousand of a filter as a file. */
async function save(where: string, kind: 'csv' | 'json'): Promise<void> {
  const told = await get<List<Change>>(where + (where.includes('?') ? '&' : '?') + 'limit=1000')
  const rows = told?.data.items ?? []
  const lines = rows.map((row) => columns.map((name) => cell(row[name] ?? '')).join(','))
  const text =
    kind === 'json' ? JSON.stringify(rows, null, 1) : [columns.join(','), ...lines].join('\r\n')
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: `text/${kind}` }))
  link.download = `changes.${kind}`
  link.click()
  URL.revokeObjectURL(link.href)
}

export function ChangesPage() {
  const { actor, subject, action, since } = route.value.query
  const where = path(['changes'], { actor, subject, action, since })
  return (
    <>
      <Head title="Changes" />
      <div class="filter" role="search">
        <Field label="Who" value={actor ?? ''} set={(value) => refine({ actor: value })} />
        <Field label="On what" value={subject ?? ''} set={(value) => refine({ subject: value })} />
        <Field label="What" value={action ?? ''} set={(value) => refine({ action: value })} />
        <Field label="Since" value={since ?? ''} set={(value) => refine({ since: value })} />
        <button onClick={() => void save(where, 'csv')}>Save as CSV</button>
        <button onClick={() => void save(where, 'json')}>Save as JSON</button>
      </div>
      <Paged<Change> caption="What people changed, newest first" topic="changes"
        path={where}
        rowKey={(one) => one.id ?? one.at + one.action + one.subject}
        empty={<p>Nobody has changed anything. Acts of the console and of the command stand here.</p>}
        columns={[
          { head: 'When', cell: (one) => <When at={one.at} /> },
          { head: 'Who', cell: (one) => <Name text={one.actor} /> },
          { head: 'What', cell: (one) => one.action },
          { head: 'On what', cell: (one) => <Subject subject={one.subject ?? ''} /> },
          { head: 'Why', cell: (one) => <Name text={one.reason} /> },
          { head: 'Detail', cell: (one) => <span class="short"><Name text={one.detail} /></span> },
          { head: 'From', cell: (one) => <Name text={one.address ?? one.source ?? ''} /> },
        ]} />
    </>
  )
}

function Copy(props: { findings: Finding[]; status: Status | null }) {
  const [told, setTold] = useState('')
  const text = () =>
    props.findings.map((one) => `${one.worth} ${one.name}: ${one.found}`).join('\n') +
    (props.status ? '\n' + JSON.stringify(props.status, null, 1) : '')
  return (
    <p>
      <button
        onClick={() =>
          navigator.clipboard.writeText(text()).then(
            () => setTold('Copied.'),
            () => setTold('The browser does not allow it.'),
          )
        }>
        Copy for a report
      </button>{' '}
      <span role="status">{told}</span>
    </p>
  )
}

function Tokens(props: { kind: 'tokens' | 'sessions' }) {
  const where = path([props.kind])
  const answer = useAnswer<List<Token>>(where, props.kind)
  const title = props.kind === 'tokens' ? 'Tokens' : 'Sessions'
  return (
    <Section title={title}>
      <Region answer={answer} path={where} optional isEmpty={(data) => data.items.length === 0}
        empty={<p class="dim">There are none.</p>}>
        {(data) => (
          <Table caption={title} rows={data.items} rowKey={(one) => one.id}
            columns={[
              { head: 'Name', cell: (one) => <Name text={one.name || one.id} /> },
              { head: 'Role', cell: (one) => one.role },
              { head: 'Only', cell: (one) => <Name text={(one.only ?? []).join(', ')} /> },
              { head: 'Made by', cell: (one) => <Name text={one.made_by} /> },
              { head: 'Used', cell: (one) => <When at={one.used} none="never" /> },
              { head: 'Until', cell: (one) => <When at={one.expires} none="for ever" /> },
              { head: 'Do', cell: (one) => <ActButton act={revokeAct(one)} /> },
            ]} />
        )}
      </Region>
    </Section>
  )
}

const worths = ['void', 'warning', 'ok']

export function System() {
  const where = path(['doctor'])
  const answer = useAnswer<List<Finding>>(where, 'doctor')
  const status = useAnswer<Status>(path(['status']), 'status')
  const who = session.value
  const sorted = (all: Finding[]) =>
    [...all].sort((a, b) => worths.indexOf(a.worth) - worths.indexOf(b.worth))
  const tone = (worth: string) => (worth === 'void' ? 'bad' : undefined)
  return (
    <>
      <Head title="System" />
      {who && (
        <Facts of={[
          ['You', <Name text={who.actor} />],
          ['Role', who.role + (who.read_only ? ', and the server only reads' : '')],
          ['Session until', Number.isNaN(instant(who.expires)) ? '–' : <When at={who.expires} />],
        ]} />
      )}
      <Section title="Doctor">
        <Region answer={answer} path={where} rows={8} isEmpty={(data) => data.items.length === 0}
          empty={<p>The doctor found nothing to look at.</p>}>
          {(data) => (
            <>
              <Table caption="Findings of the doctor" rows={sorted(data.items)}
                rowKey={(one) => one.name + one.found}
                columns={[
                  { head: 'What', cell: (one) => one.name },
                  { head: 'Worth', cell: (one) => <State word={one.worth} tone={tone(one.worth)} /> },
                  { head: 'Found', cell: (one) => <Name text={one.found} /> },
                  { head: 'Remedy', cell: (one) => <Name text={one.remedy} /> },
                ]} />
              <Copy findings={data.items} status={status.data} />
            </>
          )}
        </Region>
      </Section>
      {may('admin') && <Tokens kind="tokens" />}
      {may('admin') && <Tokens kind="sessions" />}
    </>
  )
}
