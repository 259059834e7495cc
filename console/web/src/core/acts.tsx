// Acts of people: a button, a dialog that says what will happen, the line of the command that does
// the same, the reason; then the answer in place.
import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Fault, get, may, newRequest, send } from './api'
import { shellWord } from './format'
import { beatNow, held } from './pulse'
import { Name } from './states'

export interface Choice {
  name: string
  label: string
  options: [value: string, label: string][]
}

export interface Act {
  /** On the button: "Release…". */
  label: string
  /** What will happen, in one sentence. */
  says: string
  /** What cannot be taken back. */
  final?: string
  path: string
  method?: 'POST' | 'DELETE'
  body?: Record<string, unknown>
  /** The line of the command that does the same, without the reason; empty: there is none. */
  command: string | ((chosen: Record<string, string>) => string)
  role?: string
  /** Whether the server wants a reason. */
  reason?: 'needed' | 'asked' | 'none'
  /** The name that has to be typed. */
  typed?: string
  choice?: Choice
  /** A list of the server: its first items are those that the act begins with. */
  preview?: string
}

/** What an act answers. */
interface Done {
  waits_for?: string
  count?: number
  text?: string
}

const opened = signal<Act | null>(null)

/** The role that an act takes is missing: the button stays, and says so. */
export function ActButton(props: { act: Act }) {
  const role = props.act.role ?? 'operate'
  const allowed = may(role)
  return (
    <button
      class="act"
      aria-disabled={!allowed}
      title={allowed ? undefined : `It takes the role ${role}`}
      onClick={() => {
        if (allowed) opened.value = props.act
      }}
    >
      {props.act.label}…
    </button>
  )
}

export function Acts(props: { acts: (Act | null | false)[] }) {
  const acts = props.acts.filter((one): one is Act => !!one)
  if (acts.length === 0) return null
  return (
    <div class="acts" role="group" aria-label="Acts">
      {acts.map((act) => (
        <ActButton key={act.label} act={act} />
      ))}
    </div>
  )
}

function withReason(command: string, reason: string): string {
  return reason ? `${command} --reason ${shellWord(reason)}` : command
}

function Form(props: { act: Act; close: () => void }) {
  const { act } = props
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState<Record<string, string>>(
    act.choice ? { [act.choice.name]: act.choice.options[0][0] } : {},
  )
  const [request] = useState(newRequest)
  const [asking, setAsking] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const [done, setDone] = useState<Done | null>(null)
  const line = typeof act.command === 'string' ? act.command : act.command(chosen)
  const lacks =
    (act.reason === 'needed' && !reason.trim()) || (act.typed !== undefined && typed !== act.typed)

  async function submit(event: Event) {
    event.preventDefault()
    if (lacks || asking) return
    setAsking(true)
    setFault(null)
    try {
      const body = { ...act.body, ...chosen, ...(reason.trim() ? { reason: reason.trim() } : {}) }
      setDone(await send<Done>(act.method ?? 'POST', act.path, body, request))
      beatNow()
    } catch (caught) {
      setFault(caught as Fault)
    } finally {
      setAsking(false)
    }
  }

  if (done) return <Answer act={act} done={done} close={props.close} />
  return (
    <form onSubmit={(event) => void submit(event)}>
      <p>{act.says}</p>
      {act.final && <p class="t-late">! {act.final}</p>}
      {act.preview && <Preview path={act.preview} />}
      {act.choice && <Chooser choice={act.choice} chosen={chosen} choose={setChosen} />}
      {act.reason !== 'none' && (
        <label>
          Reason{act.reason === 'needed' ? '' : ' (kept with the change)'}
          <input type="text" name="reason" maxLength={1000} value={reason}
            required={act.reason === 'needed'}
            onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
      )}
      {act.typed !== undefined && (
        <label>
          Type <bdi class="name">{act.typed}</bdi> to go on
          <input type="text" name="typed" autocomplete="off" value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
      )}
      {line && (
        <>
          <p class="dim">The same by the command:</p>
          <pre class="command" tabIndex={0} aria-label="The same by the command">
            {withReason(line, reason.trim())}
          </pre>
        </>
      )}
      {fault && <Refused fault={fault} />}
      <div class="acts">
        <button type="submit" class="primary" aria-disabled={lacks || asking}>
          {act.label}
        </button>
        <button type="button" onClick={props.close}>
          Cancel
        </button>
      </div>
    </form>
  )
}

function Chooser(props: {
  choice: Choice
  chosen: Record<string, string>
  choose: (chosen: Record<string, string>) => void
}) {
  const { choice, chosen } = props
  return (
    <fieldset>
      <legend>{choice.label}</legend>
      {choice.options.map(([value, label]) => (
        <label class="radio">
          <input type="radio" name={choice.name} value={value} checked={chosen[choice.name] === value}
            onChange={() => props.choose({ ...chosen, [choice.name]: value })} />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

/** Which things an act on many begins with. */
function Preview(props: { path: string }) {
  const [keys, setKeys] = useState<string[]>([])
  useEffect(() => {
    get<{ items: { key: string }[] }>(props.path).then(
      (told) => setKeys(told?.data.items.map((one) => one.key) ?? []),
      () => setKeys([]),
    )
  }, [])
  if (keys.length === 0) return null
  return (
    <p class="preview">
      These first:{' '}
      {keys.map((key, at) => (
        <>
          {at > 0 && ', '}
          <Name text={key} />
        </>
      ))}
    </p>
  )
}

function Refused(props: { fault: Fault }) {
  const { problem } = props.fault
  return (
    <p class="t-bad" role="alert">
      ✕ {problem.title}. {problem.detail} <code>{problem.code}</code>
    </p>
  )
}

function Answer(props: { act: Act; done: Done; close: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus(), [])
  const { done } = props
  return (
    <>
      <p role="status">
        ✓ {done.text ?? 'It is written down.'}
        {done.waits_for ? ` It waits for ${done.waits_for}.` : ''}
      </p>
      <div class="acts">
        <button ref={button} class="primary" onClick={props.close}>
          Close
        </button>
      </div>
    </>
  )
}

/** The one dialog; it stands in the shell. */
export function ActDialog() {
  const dialog = useRef<HTMLDialogElement>(null)
  const act = opened.value
  useEffect(() => {
    if (!act) return
    held.value += 1
    dialog.current?.showModal()
    return () => {
      held.value -= 1
      beatNow()
    }
  }, [act])
  const close = () => dialog.current?.close()
  return (
    <dialog ref={dialog} aria-labelledby="act" onClose={() => (opened.value = null)}>
      {act && (
        <>
          <h2 id="act">{act.label}</h2>
          <Form key={act.path + act.label} act={act} close={close} />
        </>
      )}
    </dialog>
  )
}
