// What is shown, and when it was asked for. Pages that show the same share one answer.
import { effect, signal, untracked, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Fault, get, standing } from './api'
import { pulseFault, revisions } from './pulse'

export interface Answer<T> {
  data: T | null
  /** When `data` came, in our milliseconds. */
  at: number
  /** Why the last question failed; `data` is then the last good one. */
  fault: Fault | null
  asking: boolean
}

interface Kept {
  path: string
  topic: string
  answer: Signal<Answer<unknown>>
  shown: number
  revision: string | undefined
  etag: string | null
}

const nothing: Answer<never> = { data: null, at: 0, fault: null, asking: false }
const all = new Map<string, Kept>()

/** The revision of a topic; of one that the pulse does not name, all of the pulse. */
function revisionOf(topic: string): string {
  return revisions.value[topic] ?? JSON.stringify(revisions.value)
}

async function ask(one: Kept): Promise<void> {
  if (one.answer.value.asking) return
  one.answer.value = { ...one.answer.value, asking: true }
  one.revision = revisionOf(one.topic)
  try {
    const told = await get<unknown>(one.path, one.etag)
    if (told) one.etag = told.etag
    const data = told ? told.data : one.answer.value.data
    one.answer.value = { data, at: Date.now(), fault: null, asking: false }
  } catch (fault) {
    one.etag = null
    one.answer.value = { ...one.answer.value, fault: fault as Fault, asking: false }
  }
}

/** Asks again, whatever the pulse says. */
export function again(path: string): void {
  const one = all.get(path)
  if (one) void ask(one)
}

function keptFor(path: string, topic: string): Kept {
  let one = all.get(path)
  if (!one) {
    const answer = signal<Answer<unknown>>(nothing)
    one = { path, topic, answer, shown: 0, revision: undefined, etag: null }
    all.set(path, one)
    if (all.size > 200) forget()
  }
  return one
}

function forget(): void {
  for (const [path, one] of all) if (one.shown === 0 && all.size > 100) all.delete(path)
}

/** The answer to a GET, kept up to date while the page that asks is shown; null asks nothing. */
export function useAnswer<T>(path: string | null, topic: string): Answer<T> {
  const one = path === null ? null : keptFor(path, topic)
  useEffect(() => {
    if (!one) return
    one.shown += 1
    if (standing.value === 'in') void ask(one)
    return () => {
      one.shown -= 1
    }
  }, [path])
  return (one ? one.answer.value : nothing) as Answer<T>
}

function askWhatMoved(everything: boolean): void {
  for (const one of all.values()) {
    if (one.shown === 0) continue
    const moved = one.revision !== revisionOf(one.topic)
    if (everything || moved || one.answer.value.fault) void ask(one)
  }
}

/** Asks again for all that is shown and has moved; to be called once. */
export function followPulse(): void {
  let failed = false
  effect(() => {
    const now = revisions.value
    const back = failed && pulseFault.value === null
    failed = pulseFault.value !== null
    if (Object.keys(now).length > 0 || back) untracked(() => askWhatMoved(back))
  })
}

/** A page of a list. */
export interface List<T> {
  items: T[]
  next?: string | null
}
