// Instants and lengths of time on the page.
import { clockAhead } from './api'
import { clock, distance, hour, instant, length, roughly } from './format'
import { second } from './pulse'
import { times, zone } from './settings'

/** The server's now, in milliseconds. It moves once a second. */
export function serverNow(): number {
  return Math.max(second.value, 0) + clockAhead.value
}

/** "16 h ago", or the clock; the exact instant is in the title. */
export function When(props: { at: string | null | undefined; none?: string; zone?: string }) {
  const at = instant(props.at)
  if (Number.isNaN(at)) return <>{props.none ?? '–'}</>
  const exact = clock(at, zone.value)
  const text =
    times.value === 'ago' && !props.zone
      ? distance(at, serverNow())
      : clock(at, props.zone ?? zone.value, !props.zone)
  return (
    <time dateTime={props.at!} title={exact}>
      {text}
    </time>
  )
}

/** How long since an instant, growing: "4 min 10 s". */
export function Since(props: { at: string }) {
  const us = Math.max(0, serverNow() - instant(props.at)) * 1000
  return <>{length(us)}</>
}

/** "since 02:10 (16 h)", with the day where it is another one than today. */
export function SinceWhen(props: { at: string | null }) {
  const at = instant(props.at)
  if (Number.isNaN(at)) return <>since when is not known</>
  const now = serverNow()
  const exact = clock(at, zone.value)
  const today = exact.slice(0, 10) === clock(now, zone.value).slice(0, 10)
  const text = today ? hour(at, zone.value) : exact.slice(0, 16)
  return (
    <>
      since{' '}
      <time dateTime={props.at!} title={exact}>
        {text}
      </time>{' '}
      ({roughly(Math.max(0, now - at) * 1000)})
    </>
  )
}

/** The time between two instants, as long as there is a second one. */
export function between(from: string | null, to: string | null): string {
  const us = (instant(to) - instant(from)) * 1000
  return Number.isNaN(us) ? '–' : length(Math.max(us, 0))
}
