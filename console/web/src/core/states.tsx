// Words of states, each with its sign and its colour. Success is grey: colour is for what differs.
import type { ComponentChildren } from 'preact'

export type Tone = 'done' | 'run' | 'wait' | 'late' | 'bad' | 'unknown' | 'skip'

const signs: Record<Tone, string> = {
  done: '✓', run: '▶', wait: '○', late: '!', bad: '✕', unknown: '?', skip: '–',
}

const tones: Record<string, Tone> = {
  succeeded: 'done', done: 'done', settled: 'done', ok: 'done', alive: 'done', over: 'done',
  active: 'done', ended: 'skip',
  running: 'run', ready: 'run', working: 'run', cutting: 'run', closing: 'run', open: 'run',
  waiting: 'wait', due: 'wait', retrying: 'wait', closed: 'wait', 'to come': 'wait',
  late: 'late', abandoned: 'late', overdue: 'late', suspect: 'late', interrupted: 'late',
  warning: 'late', paused: 'late', missing: 'late', 'look today': 'late',
  failed: 'bad', dead: 'bad', refused: 'bad', 'act now': 'bad', differs: 'bad', failing: 'bad',
  unknown: 'unknown', skipped: 'skip', discarded: 'skip', removed: 'skip', 'given up': 'skip',
}

export function toneOf(word: string): Tone {
  return tones[word] ?? 'wait'
}

export function signOf(tone: Tone): string {
  return signs[tone]
}

/** "✕ failed": a sign, a word and a colour. */
export function State(props: { word: string; tone?: Tone; children?: ComponentChildren }) {
  const tone = props.tone ?? toneOf(props.word)
  return (
    <span class={`state t-${tone}`}>
      <span aria-hidden="true" class="sign">
        {signs[tone]}
      </span>{' '}
      {props.word}
      {props.children}
    </span>
  )
}

/** A name that somebody else chose: its direction ends where it ends. */
export function Name(props: { text: string }) {
  return <bdi class="name">{props.text}</bdi>
}
