// Questions to the server, and acts. Everything that the console shows or does goes through here.
import { signal } from '@preact/signals'

/** What the server says instead of an answer (RFC 9457), or what the browser says of the network. */
export interface Problem {
  title: string
  status: number
  code: string
  detail: string
  [more: string]: unknown
}

export class Fault extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title)
  }
}

/** Who is logged in, and what they may do. */
export interface Session {
  actor: string
  role: string
  expires?: string
  book?: string
  read_only?: boolean
}

export type Standing = 'not-known' | 'in' | 'out'
/** Whether a session is there: the page of the login is shown where none is. */
export const standing = signal<Standing>('not-known')
export const session = signal<Session | null>(null)
/** Milliseconds by which the server's clock is before ours. */
export const clockAhead = signal(0)

const root = 'api/v1/'

/** A name or key as a part of a path: as it is, or `~` and base64url. Never with a `%`. */
export function part(name: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(name)) return name
  const bytes = new TextEncoder().encode(name)
  let raw = ''
  for (const byte of bytes) raw += String.fromCharCode(byte)
  return '~' + btoa(raw).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
}

/** The name that such a part stands for. */
export function nameOf(text: string): string {
  if (!text.startsWith('~')) return text
  const raw = atob(text.slice(1).replace(/-/g, '+').replace(/_/g, '/'))
  return new TextDecoder().decode(Uint8Array.from(raw, (c) => c.charCodeAt(0)))
}

/** A path of parts and a query; what is empty in the query is left out. */
export function path(parts: string[], query: Record<string, string | number | undefined> = {}) {
  const asked = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') asked.set(name, String(value))
  }
  const text = asked.toString()
  return parts.map(part).join('/') + (text ? '?' + text : '')
}

const networkFault = (): Fault =>
  new Fault({
    title: 'The server does not answer',
    status: 0,
    code: 'away',
    detail: 'Is `daybook serve` running, and is this machine on its network?',
  })

async function faultOf(response: Response): Promise<Fault> {
  const told = await response.json().catch(() => ({}))
  return new Fault({
    title: told.title || `The server answers ${response.status}`,
    status: response.status,
    code: told.code || String(response.status),
    detail: told.detail || '',
    ...told,
  })
}

async function ask(where: string, options: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(root + where, { credentials: 'same-origin', ...options })
  } catch {
    throw networkFault()
  }
  const date = Date.parse(response.headers.get('date') ?? '')
  if (date && Math.abs(date - Date.now() - clockAhead.value) > 2000) {
    clockAhead.value = date - Date.now()
  }
  if (response.status === 401) standing.value = 'out'
  return response
}

export interface Told<T> {
  data: T
  etag: string | null
}

/** The answer to a GET, or null where it is as the ETag says. Throws Fault. */
export async function get<T>(where: string, etag?: string | null): Promise<Told<T> | null> {
  const response = await ask(where, { headers: etag ? { 'If-None-Match': etag } : {} })
  if (response.status === 304) return null
  if (!response.ok) throw await faultOf(response)
  return { data: (await response.json()) as T, etag: response.headers.get('etag') }
}

/** 128 random bits in hex: the key of an act, the same however often it is sent. */
export function newRequest(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Sends an act. The same request sent again does nothing, and answers the same. Throws Fault. */
export async function send<T>(
  method: 'POST' | 'DELETE',
  where: string,
  body: object,
  request: string,
): Promise<T> {
  const response = await ask(where, {
    method,
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': request },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw await faultOf(response)
  return (await response.json().catch(() => ({}))) as T
}

const ranks = ['metrics', 'read', 'operate', 'admin']

/** Whether the session may do what takes a role. The server decides; this only greys a button. */
export function may(role: string): boolean {
  const mine = session.value
  if (!mine || mine.read_only) return false
  return ranks.indexOf(mine.role) >= ranks.indexOf(role)
}

/** Asks who we are; `standing` says the rest. */
export async function lookWho(): Promise<void> {
  try {
    session.value = (await get<Session>('session'))?.data ?? null
    standing.value = 'in'
  } catch (fault) {
    if ((fault as Fault).problem.status !== 401) throw fault
  }
}

/** A session of a one-time code or a token. Throws Fault. */
export async function logIn(secret: { code: string } | { token: string }): Promise<void> {
  await send('POST', 'session', secret, newRequest())
  await lookWho()
}

export async function logOut(): Promise<void> {
  await send('DELETE', 'session', {}, newRequest())
  session.value = null
  standing.value = 'out'
}
