// What moves by itself, and what is said where it cannot.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { list, run } from './answers.mjs'
import { open, shown, visit } from './browser.mjs'

const pulses = (server) => server.asked.filter((one) => one === 'GET pulse').length

/** Waits for a condition of the server's. */
async function until(condition) {
  while (!condition()) await new Promise((done) => setTimeout(done, 20))
}

async function hide(page, hidden) {
  await page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => value })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
}

/** The requests of one tab from now on. */
function countAsked(page) {
  const asked = []
  page.on('request', (request) => asked.push(request.url()))
  return asked
}

test('a tab that nobody sees asks nothing while another goes on', async (t) => {
  const at = await open(t, 'normal')
  await visit(at, '')
  const other = await at.context.newPage()
  await other.goto(at.server.url)
  await shown(other)
  await hide(at.page, true)
  await at.page.waitForLoadState('networkidle')
  const asked = countAsked(at.page)
  const from = pulses(at.server)
  at.server.move({ queues: list() })
  await until(() => pulses(at.server) >= from + 3)
  assert.deepEqual(asked, [])
  await hide(at.page, false)
  await at.page.waitForFunction(() => true)
  await until(() => asked.length > 0)
})

test('what has moved is shown without a reload, what has not is not asked for again', async (t) => {
  const at = await open(t, 'normal')
  await visit(at, '')
  await until(() => pulses(at.server) >= 2)
  const asked = at.server.asked.length
  await until(() => pulses(at.server) >= 4)
  const since = at.server.asked.slice(asked).filter((one) => one !== 'GET pulse')
  assert.deepEqual(since, [], 'nothing has moved')
  at.server.move({ 'runs?in-hand': list() })
  await at.page.waitForSelector('text=No run is in hand')
})

test('rows that come do not move those that are there: they wait for a button', async (t) => {
  const at = await open(t, 'normal')
  await visit(at, 'runs')
  const names = () => at.page.locator('tbody tr th').allTextContents()
  const before = await names()
  const now = at.server.book.runs.items
  at.server.move({ runs: list([run({ process: 'newest', key: '1' }), ...now]) })
  await at.page.waitForSelector('button:has-text("1 new")')
  assert.deepEqual(await names(), before)
  await at.page.click('button:has-text("1 new")')
  assert.deepEqual(await names(), ['newest 1', ...before])
})

test('while a dialog is open nothing is asked', async (t) => {
  const at = await open(t, 'normal')
  await visit(at, 'aggregations/pay')
  await until(() => pulses(at.server) >= 1)
  // A dialog without a field: writing alone stops the refreshing, too.
  await at.page.getByRole('button', { name: 'Verify…' }).click()
  await at.page.waitForSelector('dialog[open]')
  await at.page.waitForLoadState('networkidle')
  const other = await at.context.newPage()
  await other.goto(at.server.url)
  const asked = countAsked(at.page)
  const from = pulses(at.server)
  await until(() => pulses(at.server) >= from + 3)
  assert.deepEqual(asked, [])
})

test('a server that goes away leaves what was there, says how old it is, and that it is back', async (t) => {
  const at = await open(t, 'normal')
  const { page, server } = at
  await page.clock.install()
  await visit(at, '')
  await until(() => pulses(server) >= 1)
  await server.stop()
  await page.clock.runFor(15_000)
  await page.waitForSelector('[data-state=old]')
  assert.match(await page.locator('[data-state=old]').textContent(), /The server does not answer/)
  assert.match(await page.locator('main').textContent(), /Nothing wants you/)
  await page.click('nav a:has-text("Queues")')
  await page.waitForSelector('[data-state=error]')
  await server.start(server.port)
  await page.clock.runFor(5_000)
  await page.waitForSelector('[data-state=old]', { state: 'detached' })
  await page.waitForSelector('main table')
  assert.equal(await page.locator('[data-state=error]').count(), 0)
})

test('an answer that fails is told with its code, and asked for again by a button', async (t) => {
  const at = await open(t, 'normal')
  const { page, server } = at
  const kept = server.book['queues/stock']
  delete server.book['queues/stock']
  await visit(at, 'queues/stock')
  const note = page.locator('main [data-state=error]').first()
  assert.match(await note.textContent(), /There is no such thing.*missing/)
  server.book['queues/stock'] = kept
  await page.click('button:has-text("Try again")')
  await page.waitForSelector('main .facts')
})

test('what a role may not see is said to be so', async (t) => {
  const at = await open(t, 'normal')
  at.server.forbidden.push('changes')
  await visit(at, 'changes')
  assert.match(await at.page.locator('[data-state=not-permitted]').textContent(), /role operate/)
})

test('without a session there is the login page, and a token leads in', async (t) => {
  const at = await open(t, 'wrong', { role: null })
  const { page } = at
  await page.goto(at.server.url)
  await page.waitForSelector('input[name=token]')
  await page.fill('input[name=token]', 'wrong')
  await page.keyboard.press('Enter')
  await page.waitForSelector('[role=alert]')
  await page.fill('input[name=token]', 'dbk_1_secret')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.problems')
  const last = at.server.posted.at(-1)
  assert.deepEqual([last.path, last.body], ['session', { token: 'dbk_1_secret' }])
  await page.click('.settings summary')
  await page.click('button:has-text("Log out")')
  await page.waitForSelector('input[name=token]')
  assert.equal(at.server.role, null)
})

test('a one-time link leads in, and its code leaves the address', async (t) => {
  const at = await open(t, 'wrong', { role: null })
  await at.page.goto(at.server.url + '#code=k3Jd8-sLq2')
  await at.page.waitForSelector('.problems')
  assert.deepEqual(at.server.posted[0].body, { code: 'k3Jd8-sLq2' })
  assert.ok(!at.page.url().includes('k3Jd8'))
  await at.page.goBack().catch(() => {})
  assert.ok(!at.page.url().includes('k3Jd8'))
})

test('a session that is over shows the login page', async (t) => {
  const at = await open(t, 'normal')
  await visit(at, '')
  at.server.role = null
  await at.page.waitForSelector('input[name=token]')
})

test('p stops the refreshing and goes on', async (t) => {
  const at = await open(t, 'normal')
  await visit(at, '')
  await at.page.keyboard.press('p')
  await at.page.waitForSelector('.live[aria-pressed=true]')
  await at.page.keyboard.press('p')
  const from = pulses(at.server)
  await until(() => pulses(at.server) > from)
})

test('a new problem is said aloud, old ones are not', async (t) => {
  const at = await open(t, 'wrong')
  await visit(at, '')
  const said = at.page.locator('main [role=status]')
  assert.equal(await said.textContent(), '')
  const now = at.server.book.problems.items
  const fresh = { ...now[0], subject: 'queue fresh', why: 'tasks are due' }
  at.server.move({ problems: list([...now, fresh]) })
  await at.page.waitForFunction(() =>
    document.querySelector('main [role=status]').textContent === 'New: queue fresh: tasks are due')
})
