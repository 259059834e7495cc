// What several pages have.
import type { ComponentChildren } from 'preact'
import { link } from '../core/router'
import { Name } from '../core/states'
import { Table } from '../core/table'
import type { Change } from '../core/types'
import { When } from '../core/when'

/** The head of a page: its `h1` has the focus after a change of pages. */
export function Head(props: { title: string; name?: string; children?: ComponentChildren }) {
  return (
    <div class="head">
      <h1 tabIndex={-1}>
        {props.title}
        {props.name !== undefined && (
          <>
            {' '}
            <Name text={props.name} />
          </>
        )}
      </h1>
      {props.children}
    </div>
  )
}

export function Section(props: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{props.title}</h2>
      {props.children}
    </section>
  )
}

export function RunLink(props: { process: string; runKey: string }) {
  const { process, runKey } = props
  return (
    <a href={link(['runs', process, runKey])}>
      <Name text={process} />
      {runKey && runKey !== '-' ? (
        <>
          {' '}
          <Name text={runKey} />
        </>
      ) : null}
    </a>
  )
}

/** The page of what a problem or a change is about: "queue stock". */
export function subjectLink(subject: string): string | null {
  const [, kind, name] = /^(queue|schedule|plan|aggregation) ([^]+)$/.exec(subject) ?? []
  if (kind === 'aggregation') return link(['aggregations', name])
  if (kind) return link([kind + 's', name])
  const [, process, key] = /^run (\S+)(?: ([^]+))?$/.exec(subject) ?? []
  if (process) return link(['runs', process, key ?? '-'])
  return subject.startsWith('process ') ? link(['processes']) : null
}

/** Terms and what they are, side by side. */
export function Facts(props: { of: [term: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {props.of.map(([term, value]) => (
        <div>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Changes(props: { changes: Change[] | undefined }) {
  const changes = props.changes ?? []
  return (
    <Section title="Changes by people">
      {changes.length === 0 ? (
        <p class="dim">Nobody has changed anything here.</p>
      ) : (
        <Table caption="Changes by people" rows={changes} rowKey={(one) => one.at + one.action}
          columns={[
            { head: 'When', cell: (one) => <When at={one.at} /> },
            { head: 'Who', cell: (one) => <Name text={one.actor} /> },
            { head: 'What', cell: (one) => one.action },
            { head: 'Detail', cell: (one) => <Name text={one.detail} /> },
            { head: 'Why', cell: (one) => <Name text={one.reason} /> },
          ]} />
      )}
    </Section>
  )
}

/** A field of a filter: a plain text with suggestions. */
export function Field(props: {
  label: string
  value: string
  set: (value: string) => void
  suggestions?: string[]
}) {
  const id = 'f-' + props.label.replace(/\W/g, '-')
  return (
    <label class="field">
      {props.label}
      <input type="text" value={props.value} list={props.suggestions ? id : undefined}
        onChange={(event) => props.set(event.currentTarget.value.trim())} />
      {props.suggestions && (
        <datalist id={id}>
          {props.suggestions.map((one) => (
            <option value={one} />
          ))}
        </datalist>
      )}
    </label>
  )
}

export function Choose(props: {
  label: string
  value: string
  options: [string, string][]
  set: (value: string) => void
}) {
  return (
    <label class="field">
      {props.label}
      <select value={props.value} onChange={(event) => props.set(event.currentTarget.value)}>
        {props.options.map(([value, text]) => (
          <option value={value}>{text}</option>
        ))}
      </select>
    </label>
  )
}

/** Output of a program, or another long text; the keyboard scrolls it. */
export function Text(props: { text: string; label: string }) {
  return (
    <pre class="text" tabIndex={0} role="region" aria-label={props.label}>
      <bdi>{props.text}</bdi>
    </pre>
  )
}
