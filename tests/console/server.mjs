// A server of recorded answers: the page as it is built, and a book of books.mjs, with the headers
// that `daybook serve` sends. Everything that was asked and posted is kept.
//   node server.mjs [BOOK] [PORT]      to look at it: any token is right
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { answerOf, books } from './books.mjs'

const dist = fileURLToPath(new URL('../../console/dist', import.meta.url))
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css',
  '.svg': 'image/svg+xml' }

export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

const headers = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

export class Server {
  /** Answers by the book; `role` null: nobody is logged in. */
  constructor(book, role = 'admin') {
    this.book = books[book]()
    this.role = role
    this.revision = 1
    this.asked = []
    this.posted = []
    this.refusal = null
    this.forbidden = []
  }

  async start(port = 0) {
    this.http = http.createServer((request, response) => this.answer(request, response))
    await new Promise((done) => this.http.listen(port, '127.0.0.1', done))
    this.port = this.http.address().port
    this.url = `http://127.0.0.1:${this.port}/`
    return this
  }

  async stop() {
    this.http.closeAllConnections()
    await new Promise((done) => this.http.close(done))
  }

  /** Something has moved: the next pulse says so. */
  move(change = {}) {
    Object.assign(this.book, change)
    this.revision += 1
  }

  answer(request, response) {
    const url = new URL(request.url, this.url)
    const send = (status, body, more = {}) => {
      response.writeHead(status, { ...headers, ...more })
      response.end(body)
    }
    if (!url.pathname.startsWith('/api/v1/')) return this.file(url.pathname, send)
    const where = url.pathname.slice('/api/v1/'.length)
    this.asked.push(`${request.method} ${where}${url.search}`)
    const json = (status, body, more = {}) =>
      send(status, JSON.stringify(body), { 'content-type': 'application/json', ...more })
    const refuse = (status, code, title, detail) =>
      json(status, { type: `/problems/${code}`, title, status, detail, code },
        { 'content-type': 'application/problem+json' })
    if (request.method !== 'GET') return this.take(request, where, json, refuse)
    if (this.role === null) return refuse(401, 'who', 'Nobody is logged in', 'Open a one-time link.')
    if (where === 'session') {
      return json(200, { actor: 'anna', role: this.role, expires: new Date(Date.now() + 4e7).toISOString(), book: 'shop' })
    }
    if (where === 'pulse') return this.pulse(request, send)
    if (this.forbidden.includes(where)) {
      return refuse(403, 'not-permitted', 'Not permitted', 'It takes the role operate.')
    }
    const found = answerOf(this.book, where, url.searchParams)
    return found === undefined
      ? refuse(404, 'missing', 'There is no such thing', `The book has no ${where}.`)
      : json(200, found)
  }

  pulse(request, send) {
    const etag = `"${this.revision}"`
    if (request.headers['if-none-match'] === etag) return send(304, '')
    const body = JSON.stringify({ runs: String(this.revision), queues: String(this.revision) })
    return send(200, body, { 'content-type': 'application/json', etag })
  }

  take(request, where, json, refuse) {
    let text = ''
    request.on('data', (piece) => (text += piece))
    request.on('end', () => {
      const body = text ? JSON.parse(text) : {}
      this.posted.push({ method: request.method, path: where, body,
        request: request.headers['idempotency-key'], type: request.headers['content-type'] })
      if (where === 'session') {
        if (request.method === 'DELETE') this.role = null
        else if (body.token === 'wrong' || body.code === 'wrong-code') {
          return refuse(401, 'who', 'The token is not known', 'It may be over.')
        } else this.role = 'admin'
        return json(200, {})
      }
      if (this.refusal) return refuse(...this.refusal)
      json(202, { waits_for: 'a worker' })
    })
  }

  file(name, send) {
    const file = path.join(dist, name === '/' ? 'index.html' : path.basename(name))
    if (!fs.existsSync(file)) return send(404, '')
    return send(200, fs.readFileSync(file), { 'content-type': types[path.extname(file)] })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [book = 'wrong', port = '7790'] = process.argv.slice(2)
  const server = await new Server(book).start(Number(port))
  console.log(`${book}: ${server.url}`)
}
