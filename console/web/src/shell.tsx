// What stands around every page: the way to the others, whether what is shown is fresh, settings.
import { useEffect, useRef } from 'preact/hooks'
import { logOut, session, standing } from './core/api'
import { ActDialog } from './core/acts'
import { clock, length } from './core/format'
import { helpShown, keyTexts } from './core/keys'
import { held, lastPulse, oldAfter, pulseFault, second } from './core/pulse'
import { link, pageChanged, route } from './core/router'
import { paused, rows, singleKeys, theme, times, zone, type Theme } from './core/settings'
import { Login } from './pages/login'
import { pageOf, pages } from './pages'

function Live() {
  const { title, text, old } = freshness()
  return (
    <button class={old ? 'live t-late' : 'live dim'} title={title} aria-pressed={paused.value}
      onClick={() => (paused.value = !paused.value)}>
      {text}
    </button>
  )
}

function freshness(): { text: string; title: string; old: boolean } {
  const title = paused.value ? 'Go on refreshing' : 'Stop refreshing'
  if (paused.value) return { text: '❚❚ stopped', title, old: true }
  if (!lastPulse.value) return { text: 'connecting', title, old: false }
  return isOld() ? { text: '! old', title, old: true } : { text: 'live', title, old: false }
}

function isOld(): boolean {
  const from = lastPulse.value
  return from > 0 && pulseFault.value !== null && second.value - from > oldAfter
}

function OldLine() {
  if (!isOld()) return null
  return (
    <div class="old" data-state="old">
      ! What is shown is {length((second.value - lastPulse.value) * 1000)} old: nothing has been
      heard since {clock(lastPulse.value, zone.value)}. {pulseFault.value?.problem.title}.
    </div>
  )
}

function Settings() {
  const who = session.value
  const themes: Theme[] = ['system', 'light', 'dark']
  const time = times.value === 'ago' ? 'ago' : zone.value === 'utc' ? 'UTC' : 'here'
  return (
    <details class="settings">
      <summary>{who ? <bdi>{who.actor}</bdi> : 'Settings'}</summary>
      <div class="menu">
        <label>
          Theme
          <select value={theme.value}
            onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
            {themes.map((one) => (
              <option value={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          Times
          <select value={time} onChange={(event) => setTimes(event.currentTarget.value)}>
            <option value="ago">ago</option>
            <option value="UTC">UTC</option>
            <option value="here">this browser</option>
          </select>
        </label>
        <label class="radio">
          <input type="checkbox" checked={rows.value === 'dense'}
            onChange={(event) => (rows.value = event.currentTarget.checked ? 'dense' : 'normal')} />
          Dense rows
        </label>
        <label class="radio">
          <input type="checkbox" checked={singleKeys.value === 'on'}
            onChange={(event) => (singleKeys.value = event.currentTarget.checked ? 'on' : 'off')} />
          Keys of one letter
        </label>
        <p class="dim">{who && `Role ${who.role}. `}? lists the keys.</p>
        <button onClick={() => void logOut()}>Log out</button>
      </div>
    </details>
  )
}

function setTimes(value: string): void {
  times.value = value === 'ago' ? 'ago' : 'clock'
  zone.value = value === 'here' ? 'browser' : 'utc'
}

function Help() {
  const dialog = useRef<HTMLDialogElement>(null)
  const shown = helpShown.value
  useEffect(() => {
    if (!shown) return
    held.value += 1
    dialog.current?.showModal()
    return () => {
      held.value -= 1
    }
  }, [shown])
  return (
    <dialog ref={dialog} aria-labelledby="help" onClose={() => (helpShown.value = false)}>
      <h2 id="help">Keys</h2>
      <dl class="keys">
        {keyTexts.map(([keys, text]) => (
          <div>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <button class="primary" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  )
}

function Header() {
  const at = route.value.parts[0] ?? ''
  const book = session.value?.book
  return (
    <header>
      <a class="brand" href="#/">
        Daybook
      </a>
      {book && <bdi class="dim">{book}</bdi>}
      <nav aria-label="Pages">
        {pages.map(([part, title]) => (
          <a href={link(part ? [part] : [])} aria-current={part === at ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <Live />
      <Settings />
    </header>
  )
}

export function Shell() {
  const shown = route.value
  const { title, page } = pageOf(shown.parts)
  useEffect(() => {
    document.title = `${title} – Daybook`
    if (!pageChanged()) return
    scrollTo(0, 0)
    document.querySelector('h1')?.focus()
  }, [shown])
  if (standing.value === 'out') return <Login />
  if (standing.value === 'not-known') {
    return (
      <main id="main" class="login">
        <h1 tabIndex={-1}>Daybook</h1>
        <p>{pulseFault.value ? `✕ ${pulseFault.value.problem.title}.` : 'Connecting …'}</p>
      </main>
    )
  }
  return (
    <>
      <button class="skip" onClick={() => document.querySelector('h1')?.focus()}>
        Skip to the content
      </button>
      <Header />
      <OldLine />
      <main id="main">{page}</main>
      <ActDialog />
      <Help />
    </>
  )
}
