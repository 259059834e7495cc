// What a person chose in this browser. Nothing of it is a secret; without storage it lasts a page.
import { signal } from '@preact/signals'
import type { Zone } from './format'

function kept<T extends string>(name: string, first: T) {
  let value = first
  try {
    value = (localStorage.getItem('daybook.' + name) as T | null) ?? first
  } catch {
    // A browser may forbid it.
  }
  const out = signal<T>(value)
  out.subscribe((now) => {
    try {
      localStorage.setItem('daybook.' + name, now)
    } catch {
      // As above.
    }
  })
  return out
}

export type Theme = 'system' | 'light' | 'dark'
export const theme = kept<Theme>('theme', 'system')
/** How instants are shown: as a distance from now, or by a clock. */
export const times = kept<'ago' | 'clock'>('times', 'ago')
export const zone = kept<Zone>('zone', 'utc')
export const singleKeys = kept<'on' | 'off'>('keys', 'on')
export const rows = kept<'normal' | 'dense'>('rows', 'normal')
/** Whether the person stopped the refreshing. */
export const paused = signal(false)

theme.subscribe((now) => {
  document.documentElement.dataset.theme = now
})
rows.subscribe((now) => {
  document.documentElement.dataset.rows = now
})

/** What `t` does: ago, UTC, the browser's zone, ago. */
export function nextTimes(): void {
  if (times.value === 'ago') {
    times.value = 'clock'
    zone.value = 'utc'
  } else if (zone.value === 'utc') {
    zone.value = 'browser'
  } else {
    times.value = 'ago'
    zone.value = 'utc'
  }
}
