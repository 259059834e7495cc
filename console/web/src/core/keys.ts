// Keys of one letter: `g` and a letter is a page, `j` and `k` are rows. They can be switched off.
import { signal } from '@preact/signals'
import { go } from './router'
import { held } from './pulse'
import { nextTimes, paused, singleKeys } from './settings'

export const helpShown = signal(false)

export const pageKeys: Record<string, string> = {
  o: '', r: 'runs', s: 'schedules', q: 'queues', p: 'plans', a: 'aggregations', h: 'processes',
  c: 'changes', y: 'system',
}

export const keyTexts: [keys: string, text: string][] = [
  ['/', 'filter'],
  ['g, then o r s q p a h c y', 'a page: overview, runs, schedules, queues, plans, aggregations, '
    + 'processes (h), changes, system (y)'],
  ['j, k', 'next row, row before'],
  ['Enter', 'open the row'],
  ['.', 'the first act of the page'],
  ['t', 'times: ago, UTC, this browser'],
  ['p', 'stop refreshing, and go on'],
  ['?', 'this list'],
  ['Esc', 'close, or leave a field'],
]

function moveRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  if (rows.length === 0) return
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step]
  next?.querySelector<HTMLElement>('a, button')?.focus()
}

const simple: Record<string, () => void> = {
  '/': () => document.querySelector<HTMLElement>('.filter input, .filter select')?.focus(),
  j: () => moveRow(1),
  k: () => moveRow(-1),
  '.': () => document.querySelector<HTMLElement>('main .acts button')?.focus(),
  t: nextTimes,
  p: () => {
    paused.value = !paused.value
  },
  '?': () => {
    helpShown.value = true
  },
}

let going = false

function onKey(event: KeyboardEvent): void {
  const at = event.target as HTMLElement
  if (at.matches?.('input, textarea, select')) {
    if (event.key === 'Escape') at.blur()
    return
  }
  if (event.key === 'Escape') document.querySelector('details.settings')?.removeAttribute('open')
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (singleKeys.value === 'off' || held.value > 0) return
  if (going) {
    going = false
    if (event.key in pageKeys) {
      event.preventDefault()
      go(pageKeys[event.key] ? [pageKeys[event.key]] : [])
      return
    }
  }
  if (event.key === 'g') {
    going = true
  } else if (event.key in simple) {
    event.preventDefault()
    simple[event.key]()
  }
}

/** Begins; to be called once. */
export function listenToKeys(): void {
  addEventListener('keydown', onKey)
}
