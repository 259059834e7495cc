// Pages by the part of the address behind `#`: one file is served, whatever the page, under any
// prefix of a proxy.
import { signal } from '@preact/signals'
import { nameOf, part } from './api'

export interface Route {
  /** Names, decoded: `#/queues/stock` is ["queues", "stock"]. */
  parts: string[]
  query: Record<string, string>
}

function decoded(text: string): string {
  try {
    return nameOf(text)
  } catch {
    return text
  }
}

function read(): Route {
  const text = location.hash.replace(/^#\/?/, '')
  const [names, query = ''] = text.split('?', 2)
  return {
    parts: names.split('/').filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

/** The code of a one-time link, `#code=...` or `#...`. It leaves the address at once. */
function takeCode(): string | null {
  const [, code] = /^#(?:code=)?([A-Za-z0-9_.-]{8,})$/.exec(location.hash) ?? []
  if (!code) return null
  history.replaceState(null, '', location.pathname + '#/')
  return code
}

export const linkCode = takeCode()
export const route = signal<Route>(read())

addEventListener('hashchange', () => {
  const before = route.value.parts.join('\0')
  route.value = read()
  scrollNeeded = route.value.parts.join('\0') !== before
})

let scrollNeeded = false
/** Whether the page is another one, and not the same with another filter. Says so once. */
export function pageChanged(): boolean {
  const was = scrollNeeded
  scrollNeeded = false
  return was
}

/** The address of a page. */
export function link(parts: string[], query: Record<string, string | undefined> = {}): string {
  const asked = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) asked.set(name, value)
  const text = asked.toString()
  return '#/' + parts.map(part).join('/') + (text ? '?' + text : '')
}

export function go(parts: string[], query: Record<string, string | undefined> = {}): void {
  location.hash = link(parts, query)
}

/** The same page with some of its filter changed; no page is added to the history. */
export function refine(change: Record<string, string | undefined>): void {
  const { parts, query } = route.value
  history.replaceState(null, '', link(parts, { ...query, ...change }))
  route.value = read()
}
