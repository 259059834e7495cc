// Tables: real ones, that scroll by themselves where the screen is narrow, and lists of several pages.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { get } from './api'
import { useAnswer, type List } from './answers'
import { Region } from './region'

export interface Column<T> {
  head: string
  /** Figures stand at the right. */
  figures?: boolean
  cell: (row: T) => ComponentChildren
}

export interface TableProps<T> {
  caption: string
  /** Whether the caption is to be seen, and not only heard. */
  shown?: boolean
  columns: Column<T>[]
  rows: T[]
  rowKey: (row: T) => string
}

/** The first column names the row. */
export function Table<T>(props: TableProps<T>) {
  const classOf = (column: Column<T>) => (column.figures ? 'figures' : undefined)
  return (
    <div class="scroll" role="region" aria-label={props.caption} tabIndex={0}>
      <table>
        <caption class={props.shown ? undefined : 'heard'}>{props.caption}</caption>
        <thead>
          <tr>
            {props.columns.map((column) => (
              <th scope="col" class={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={props.rowKey(row)} data-row>
              {props.columns.map((column, at) =>
                at === 0 ? (
                  <th scope="row" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td class={classOf(column)}>{column.cell(row)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What stands in a list, the rows that have come since left out: they wait for a button. */
export function settled<T>(shown: T[], fresh: T[], keyOf: (row: T) => string) {
  const now = new Map(fresh.map((row) => [keyOf(row), row]))
  const known = new Set(shown.map(keyOf))
  return {
    rows: shown.map((row) => now.get(keyOf(row)) ?? row),
    more: fresh.filter((row) => !known.has(keyOf(row))).length,
  }
}

export interface PagedProps<T> extends Omit<TableProps<T>, 'rows'> {
  path: string
  topic: string
  empty: ComponentChildren
}

interface Pages<T> {
  path: string
  first: T[] | null
  rest: T[]
  next: string | null | undefined
}

/** A list of the server: its rows never move under the hand, and its further pages are a button. */
export function Paged<T>(props: PagedProps<T>) {
  const answer = useAnswer<List<T>>(props.path, props.topic)
  const [pages, setPages] = useState<Pages<T>>({ path: '', first: null, rest: [], next: null })
  const [asking, setAsking] = useState(false)
  const mine = pages.path === props.path ? pages : null
  const fresh = answer.data?.items ?? []
  const start = { path: props.path, first: fresh, rest: [], next: answer.data?.next }
  if (answer.data && !mine?.first) setPages(start)
  const list = settled(mine?.first ?? fresh, fresh, props.rowKey)
  const next = mine?.first ? mine.next : answer.data?.next

  async function more() {
    setAsking(true)
    try {
      const at = props.path + (props.path.includes('?') ? '&' : '?') + 'after=' + next
      const told = await get<List<T>>(at)
      const rest = [...(mine?.rest ?? []), ...(told?.data.items ?? [])]
      setPages({ path: props.path, first: list.rows, rest, next: told?.data.next })
    } finally {
      setAsking(false)
    }
  }

  return (
    <Region answer={answer} path={props.path} rows={8} empty={props.empty}
      isEmpty={() => list.rows.length === 0 && list.more === 0}>
      {() => (
        <>
          {list.more > 0 && (
            <p>
              <button onClick={() => setPages(start)}>{list.more} new</button>
            </p>
          )}
          <Table {...props} rows={[...list.rows, ...(mine?.rest ?? [])]} />
          {next && (
            <p>
              <button disabled={asking} onClick={() => void more()}>
                More
              </button>
            </p>
          )}
        </>
      )}
    </Region>
  )
}
