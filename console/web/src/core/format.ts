// Times, lengths of time and counts, in words.

const thin = '\u202f'

/** 1234567 as "1 234 567", with thin spaces. */
export function count(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return '–'
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, thin)
}

/** "1 task", "2 tasks". */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

const units: [string, number][] = [
  ['d', 86400e6],
  ['h', 3600e6],
  ['min', 60e6],
  ['s', 1e6],
]

/** A length of time in microseconds, two units at most, never rounded to 0. */
export function length(us: number): string {
  if (us < 0) return '-' + length(-us)
  if (us === 0) return '0 s'
  if (us < 1000) return `${Math.max(1, Math.round(us))} us`
  if (us < 1e6) return `${Math.round(us / 1000)} ms`
  if (us < 10e6) return `${(us / 1e6).toFixed(1).replace(/\.0$/, '')} s`
  for (let at = 0; at < units.length; at++) {
    const [name, size] = units[at]
    if (us < size && at < units.length - 1) continue
    const whole = Math.floor(us / size)
    const next = units[at + 1]
    const rest = next ? Math.floor((us % size) / next[1]) : 0
    return `${whole} ${name}` + (rest && whole < 100 ? ` ${rest} ${next[0]}` : '')
  }
  return ''
}

/** One unit, for axes and lists: "16 h". */
export function roughly(us: number): string {
  return length(us).split(' ').slice(0, 2).join(' ')
}

/** Milliseconds since 1970 of an instant of the API, NaN where there is none. */
export function instant(text: string | null | undefined): number {
  return text ? Date.parse(text) : NaN
}

/** "16 h ago", "in 5 min", "now". */
export function distance(at: number, now: number): string {
  const us = Math.round(at - now) * 1000
  if (Math.abs(us) < 1e6) return 'now'
  return us < 0 ? `${roughly(-us)} ago` : `in ${roughly(us)}`
}

export type Zone = 'utc' | 'browser' | (string & {})

const makers = new Map<string, Intl.DateTimeFormat>()

/** The parts of an instant as clocks of a zone show it. */
export function clockParts(at: number, zone: Zone): Record<string, string> {
  const name = zone === 'utc' ? 'UTC' : zone === 'browser' ? undefined : zone
  let maker = makers.get(zone)
  if (!maker) {
    const fields: Intl.DateTimeFormatOptions = {
      year: 'numeric', month: '2-digit', day: '2-digit', weekday: 'short',
      hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23',
      timeZoneName: 'short',
    }
    try {
      maker = new Intl.DateTimeFormat('en-GB', { ...fields, timeZone: name })
    } catch {
      maker = new Intl.DateTimeFormat('en-GB', { ...fields, timeZone: 'UTC' })
    }
    makers.set(zone, maker)
  }
  return Object.fromEntries(maker.formatToParts(at).map((one) => [one.type, one.value]))
}

/** "2026-11-21 09:18:25 UTC". */
export function clock(at: number, zone: Zone, seconds = true): string {
  const of = clockParts(at, zone)
  const day = `${of.year}-${of.month}-${of.day} ${of.hour}:${of.minute}`
  return day + (seconds ? `:${of.second}` : '') + ` ${of.timeZoneName}`
}

/** "03:00". */
export function hour(at: number, zone: Zone): string {
  const of = clockParts(at, zone)
  return `${of.hour}:${of.minute}`
}

/** Quotes a word for a shell where it must be. */
export function shellWord(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word
  return "'" + word.replace(/'/g, `'\\''`) + "'"
}

/** "daybook runs release nightly --key k": the words, each quoted where it must be. */
export function commandLine(...words: string[]): string {
  return ['daybook', ...words].map(shellWord).join(' ')
}

/** A share in percent; what is not nothing is never 0 %. */
export function percent(part: number, whole: number): string {
  if (!whole || !part) return '0 %'
  const value = (part / whole) * 100
  return value < 1 ? '<1 %' : value > 99 && part < whole ? '99 %' : `${Math.round(value)} %`
}

export function bytes(size: number): string {
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let at = 0
  while (size >= 1024 && at < names.length - 1) [size, at] = [size / 1024, at + 1]
  return `${size < 10 && at ? size.toFixed(1) : Math.round(size)} ${names[at]}`
}
