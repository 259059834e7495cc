// The page before the real server: `daybook serve` and a book on SQLite, filled by the command. The
// binary is DAYBOOK_TEST_COMMAND.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { faults, newContext, shown } from './browser.mjs'

const binary = process.env.DAYBOOK_TEST_COMMAND
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-console-'))
const settings = `
[[schedule]]
name = "nightly"
cron = "0 3 * * *"
zone = "Europe/Berlin"
command = ["true"]

[[plan]]
name = "restock"
kind = "query"
queue = "stock"
query = "select 'product/3' as code"
`
let server
let link

function daybook(words, input = '') {
  return execFileSync(binary, words, {
    cwd: folder, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, DAYBOOK_DATABASE_URL: `sqlite:${folder}/shop.db` },
  })
}

/** Starts a server; its first line is the link. */
async function serve(port = 0) {
  server = spawn(binary, ['serve', '--listen', `127.0.0.1:${port}`, '--first-role', 'admin'], {
    cwd: folder, stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, DAYBOOK_DATABASE_URL: `sqlite:${folder}/shop.db` },
  })
  link = await new Promise((done, failed) => {
    server.once('exit', () => failed(new Error('the server ended')))
    server.stdout.on('data', (text) => done(String(text).trim()))
  })
}

async function end(signal = 'SIGTERM') {
  const ended = new Promise((done) => server.once('exit', done))
  server.kill(signal)
  return ended
}

before(async () => {
  fs.writeFileSync(path.join(folder, 'daybook.toml'), settings)
  daybook(['migrate', 'up'])
  daybook(['queues', 'make', 'stock'])
  daybook(['queues', 'import', 'stock', '-'], 'product/1\nproduct/2\n')
  daybook(['run', 'nightly', '--key', '2026-11-25', '--', 'sh', '-c',
    '"$0" step sort -- true; echo sorted', binary])
  daybook(['plans', 'run', 'restock'])
  await serve()
})
after(async () => {
  await end()
  fs.rmSync(folder, { recursive: true })
})

/** A page of its own context; `bad` has what must stay empty. What the page does without is 404. */
async function open(t, where = link) {
  const context = await newContext({ viewport: { width: 1280, height: 900 } })
  t.after(() => context.close())
  const page = await context.newPage()
  const bad = []
  page.on('console', (said) => {
    const lacks = /status of (404|401)/.test(said.text())
    if (!lacks && said.type() !== 'debug' && said.type() !== 'verbose') bad.push(`${said.type()}: ${said.text()}`)
  })
  page.on('pageerror', (error) => bad.push(`error: ${error}`))
  await page.goto(where)
  return { page, bad, context }
}

async function logIn(t) {
  link = daybook(['tokens', 'link', '--role', 'admin', '--url', link.split('#')[0]]).trim()
  const at = await open(t)
  await at.page.waitForSelector('nav')
  await shown(at.page)
  return at
}

test('a link is good for one login', async (t) => {
  const first = await open(t)
  await first.page.waitForSelector('nav')
  assert.equal(await first.page.locator('.login').count(), 0)
  const second = await open(t)
  await second.page.waitForSelector('.login [role=alert]')
  assert.match(await second.page.locator('.login [role=alert]').innerText(), /used or over/)
  const cookies = await first.context.cookies()
  assert.deepEqual(cookies.map((one) => [one.name, one.httpOnly, one.sameSite]),
    [['daybook', true, 'Strict']])
})

test('each page loads from the real server', async (t) => {
  const at = await logIn(t)
  const base = link.split('#')[0]
  for (const [where, words] of [
    ['', /Nothing wants you|wants? you/], ['runs', /nightly/], ['runs/nightly/2026-11-25', /sort/],
    ['schedules', /When they come|no schedule/], ['queues', /stock/], ['queues/stock', /product\/1/],
    ['queues/stock/~cHJvZHVjdC8x', /product\/1/], ['plans', /restock/], ['plans/restock', /restock/], ['aggregations', /aggregat/],
    ['processes', /process/i], ['changes', /make/], ['system', /version \d+/],
  ]) {
    await at.page.goto(`${base}#/${where}`)
    await shown(at.page)
    await at.page.waitForFunction(
      (source) => new RegExp(source, 'i').test(document.querySelector('main').innerText),
      words.source, { timeout: 10_000 }).catch(() => assert.fail(`${where}: no ${words}`))
    assert.deepEqual(at.bad, [], where)
  }
  assert.deepEqual(await faults(at.page), [])
})

test('an act of the page is in the book, with who and why', async (t) => {
  const { page } = await logIn(t)
  await page.goto(`${link.split('#')[0]}#/queues/stock`)
  await shown(page)
  await page.getByRole('button', { name: 'Pause…' }).click()
  await page.locator('dialog[open] [name=reason]').fill('a deployment')
  await page.locator('dialog[open] button[type=submit]').click()
  await page.waitForSelector('dialog [role=status]')
  assert.match(await page.locator('dialog [role=status]').textContent(), /It is paused/)
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Resume…' }).waitFor()
  const queue = JSON.parse(daybook(['queues', 'show', 'stock', '--json']))
  assert.equal(queue.paused, true)
  const { action, reason, actor } = queue.changes.at(-1)
  assert.deepEqual([action, reason], ['pause', 'a deployment'])
  assert.match(actor, /@/)
  daybook(['queues', 'resume', 'stock'])
})

test('what another changes is seen without a hand', async (t) => {
  const { page } = await logIn(t)
  await page.goto(`${link.split('#')[0]}#/queues/stock`)
  await shown(page)
  await page.getByRole('button', { name: 'Pause…' }).waitFor()
  daybook(['queues', 'pause', 'stock'])
  await page.getByRole('button', { name: 'Resume…' }).waitFor({ timeout: 15_000 })
  daybook(['queues', 'resume', 'stock'])
})

test('a session that is revoked is at the login', async (t) => {
  const { page } = await logIn(t)
  for (const line of daybook(['tokens', 'list', '--json']).trim().split('\n')) {
    const one = JSON.parse(line)
    if (one.kind === 'session') daybook(['tokens', 'revoke', one.id])
  }
  await page.waitForSelector('.login', { timeout: 15_000 })
})

test('a server that is killed and started goes on, with the sessions of before', async (t) => {
  const { page } = await logIn(t)
  const port = new URL(link).port
  await page.waitForResponse((one) => one.url().endsWith('/pulse'))
  await end('SIGKILL')
  await page.waitForSelector('[data-state=old]', { timeout: 30_000 })
  assert.match(await page.locator('[data-state=old]').textContent(), /The server does not answer/)
  await serve(port)
  await page.waitForSelector('[data-state=old]', { state: 'detached', timeout: 30_000 })
  await page.goto(`http://127.0.0.1:${port}/#/queues`)
  await shown(page)
  assert.equal(await page.locator('.login').count(), 0)
})
