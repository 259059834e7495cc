// The one timer of the console: it asks every two seconds what has moved, and what is shown and has
// moved is asked for again. A tab that nobody sees asks nothing.
import { signal } from '@preact/signals'
import { Fault, get, standing } from './api'
import { paused } from './settings'

/** A revision for each topic: runs, queues, ... */
export type Revisions = Record<string, string>

export const revisions = signal<Revisions>({})
/** When the last pulse came, in our milliseconds; 0: none yet. */
export const lastPulse = signal(0)
/** Why the last pulse did not come. */
export const pulseFault = signal<Fault | null>(null)
/** Moves once a second while the tab is seen: "2 s ago" needs it. */
export const second = signal(Date.now())
/** How many dialogs and menus are open: refreshing waits for them. */
export const held = signal(0)

const every = 2000
/** So long without a pulse, and what is shown is called old. */
export const oldAfter = 10_000

let etag: string | null = null
let asking = false
let lastAsked = 0

/** Whether a person is writing: nothing may move under the hand. */
export function isTyping(): boolean {
  const at = document.activeElement
  return at instanceof HTMLElement && at.matches('input[type=text], input:not([type]), textarea')
}

function rests(): boolean {
  return document.hidden || paused.value || held.value > 0 || standing.value !== 'in' || isTyping()
}

async function beat(): Promise<void> {
  asking = true
  lastAsked = Date.now()
  try {
    const told = await get<Revisions>('pulse', etag)
    if (told) {
      etag = told.etag
      revisions.value = told.data
    }
    lastPulse.value = Date.now()
    pulseFault.value = null
  } catch (fault) {
    etag = null
    pulseFault.value = fault as Fault
  } finally {
    asking = false
  }
}

function tick(): void {
  if (document.hidden) return
  second.value = Date.now()
  if (!asking && !rests() && Date.now() - lastAsked >= every) void beat()
}

/** Begins; to be called once. */
export function startPulse(): void {
  setInterval(tick, 500)
  document.addEventListener('visibilitychange', tick)
}

/** Asks now: after an act its effect is to be seen. */
export function beatNow(): void {
  lastAsked = 0
}
