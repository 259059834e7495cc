// The page for who has no session: a one-time link, or a token that is pasted.
import { useEffect, useState } from 'preact/hooks'
import { Fault, logIn } from '../core/api'
import { linkCode } from '../core/router'

let code = linkCode

export function Login() {
  const [token, setToken] = useState('')
  const [fault, setFault] = useState<Fault | null>(null)
  const [asking, setAsking] = useState(false)

  async function enter(secret: { code: string } | { token: string }) {
    setAsking(true)
    setFault(null)
    try {
      await logIn(secret)
    } catch (caught) {
      setFault(caught as Fault)
    } finally {
      setAsking(false)
    }
  }

  useEffect(() => {
    document.title = 'Log in – Daybook'
    if (code) void enter({ code })
    code = null
  }, [])

  return (
    <main id="main" class="login">
      <h1 tabIndex={-1}>Daybook</h1>
      <p>You have no session here, or it is over. There are three ways in:</p>
      <ul>
        <li>the one-time link that <code>daybook serve</code> prints when it starts;</li>
        <li>a token, made by <code>daybook tokens add</code>: paste it below;</li>
        <li>a proxy in front of the server that says who you are, where one is set up.</li>
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (token.trim() && !asking) void enter({ token: token.trim() })
        }}>
        <label>
          Token
          <input type="password" name="token" autocomplete="current-password" value={token}
            onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary" aria-disabled={asking || !token.trim()}>
          Log in
        </button>
      </form>
      {fault && (
        <p class="t-bad" role="alert">
          ✕ {fault.problem.title}. {fault.problem.detail} <code>{fault.problem.code}</code>
        </p>
      )}
    </main>
  )
}
