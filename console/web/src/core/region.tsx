// A part of a page that shows an answer. It always shows something: that it loads, that there is
// nothing, why the question failed, or what it takes to see it.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Fault } from './api'
import { again, type Answer } from './answers'
import { clock } from './format'
import { zone } from './settings'

/** A bar of the height of what comes, after 200 ms. */
function Loading(props: { rows: number }) {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class={`loading rows-${Math.min(props.rows, 8)}`}>
      {late && <p class="dim">Loading …</p>}
    </div>
  )
}

export function FaultNote(props: {
  fault: Fault
  path: string
  at?: number
  optional?: boolean
}) {
  const { problem } = props.fault
  if (props.optional && problem.status === 404) {
    return (
      <p class="dim" data-state="not-told">
        This server does not tell it.
      </p>
    )
  }
  if (problem.status === 403) {
    return (
      <div class="note" data-state="not-permitted">
        <p>
          <strong>Not for your role.</strong> {problem.detail || 'Ask who gave you the session.'}
        </p>
      </div>
    )
  }
  return (
    <div class="note t-bad" data-state="error">
      <p>
        <strong>✕ {problem.title}.</strong> {problem.detail} <code>{problem.code}</code>{' '}
        <button onClick={() => again(props.path)}>Try again</button>
      </p>
      {props.at ? <p>What follows is as it was at {clock(props.at, zone.value)}.</p> : null}
    </div>
  )
}

export interface RegionProps<T> {
  answer: Answer<T>
  path: string
  /** How many rows are expected: nothing jumps when they come. */
  rows?: number
  /** Whether the answer holds nothing to show. */
  isEmpty?: (data: T) => boolean
  /** A server may be without it: then that is no error. */
  optional?: boolean
  /** Why there is nothing, and how to get one. */
  empty?: ComponentChildren
  children: (data: T) => ComponentChildren
}

export function Region<T>(props: RegionProps<T>) {
  const { data, fault, at } = props.answer
  if (data === null) {
    if (!fault) return <Loading rows={props.rows ?? 3} />
    return <FaultNote fault={fault} path={props.path} optional={props.optional} />
  }
  const empty = props.isEmpty?.(data)
  return (
    <div class={fault ? 'stale' : undefined}>
      {fault && <FaultNote fault={fault} path={props.path} at={at} />}
      {empty ? (
        <div class="empty" data-state="empty">
          {props.empty}
        </div>
      ) : (
        props.children(data)
      )}
    </div>
  )
}
