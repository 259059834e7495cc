// Each act through its dialog, by the keyboard alone: what is posted, and what is said.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faults, open, visit } from './browser.mjs'

/** Opens the act of a label by the keyboard alone. */
async function openAct(page, label) {
  const button = page.getByRole('button', { name: `${label}…`, exact: true }).first()
  await button.waitFor()
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press('Tab')
    if (await button.evaluate((one) => one === document.activeElement)) break
  }
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog[open] form')
}

/** Goes with Tab to the field of a name. */
async function toField(page, name) {
  for (let presses = 0; presses < 12; presses++) {
    const now = await page.evaluate(() => document.activeElement?.getAttribute('name'))
    if (now === name) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`no field ${name} by Tab`)
}

const acts = [
  { book: 'wrong', where: 'runs/pack/2026-11-23', label: 'Release', reason: 'it hangs',
    path: 'runs/pack/2026-11-23/release', body: { epoch: '9' },
    line: "daybook runs release pack --key 2026-11-23 --reason 'it hangs'" },
  { book: 'wrong', where: 'runs/pay/2026-11', label: 'Resolve pay', reason: 'the bank says so',
    path: 'runs/pay/2026-11/resolve', body: { step: 'pay', outcome: 'done' },
    line: "daybook runs resolve pay --key 2026-11 --step pay --done --reason 'the bank says so'" },
  { book: 'wrong', where: 'queues/mails', label: 'Resume', path: 'queues/mails/resume', body: {},
    line: 'daybook queues resume mails' },
  { book: 'wrong', where: 'queues/stock', label: 'Pause', reason: 'a deployment',
    path: 'queues/stock/pause', body: {}, line: "daybook queues pause stock --reason 'a deployment'" },
  { book: 'wrong', where: 'queues/stock?state=dead', label: 'Retry all dead', reason: 'it is up again',
    typed: 'stock', preview: 'These first: product/1, product/2', path: 'queues/stock/acts', body: { act: 'retry', state: 'dead', most: 10000 },
    line: "daybook tasks retry stock --state dead --all --yes --reason 'it is up again'" },
  { book: 'wrong', where: 'queues/stock/~cHJvZHVjdC8x', label: 'Retry',
    path: 'queues/stock/tasks/~cHJvZHVjdC8x/retry', body: {}, line: 'daybook tasks retry stock product/1' },
  { book: 'wrong', where: 'queues/stock/~cHJvZHVjdC8x', label: 'Discard', reason: 'no such shelf',
    path: 'queues/stock/tasks/~cHJvZHVjdC8x/discard', body: {},
    line: "daybook tasks discard stock product/1 --yes --reason 'no such shelf'" },
  { book: 'wrong', where: 'schedules/leads', label: 'Trigger', path: 'schedules/leads/trigger', body: {},
    line: 'daybook schedules trigger leads' },
  { book: 'wrong', where: 'plans/shelves', label: 'Sweep', path: 'plans/shelves/sweep', body: {},
    line: 'daybook plans sweep shelves' },
  { book: 'wrong', where: 'plans/days', label: 'Reopen', path: 'plans/days/reopen',
    body: { period: '2026-11-22' }, line: 'daybook plans reopen days 2026-11-22' },
  { book: 'normal', where: 'aggregations/pay', label: 'Revert', reason: 'wrong rate',
    typed: 'worker-7/2026-11', path: 'aggregations/pay/revert', body: { parent: 'worker-7/2026-11' },
    line: "daybook aggregates revert pay worker-7/2026-11 --yes --reason 'wrong rate'" },
  { book: 'normal', where: 'system', label: 'Revoke', path: 'tokens/7', method: 'DELETE', body: {},
    line: 'daybook tokens revoke 7' },
  { book: 'normal', where: 'aggregations/pay', label: 'Verify', path: 'aggregations/pay/verify', body: {},
    line: 'daybook aggregates verify pay' },
]

for (const act of acts) {
  test(`${act.label} of #/${act.where} by the keyboard`, async (t) => {
    const at = await open(t, act.book)
    const { page, server } = at
    await visit(at, act.where)
    await openAct(page, act.label)
    assert.deepEqual(await faults(page), [])
    if (act.preview) {
      await page.waitForSelector('dialog .preview')
      assert.equal(await page.locator('dialog .preview').textContent(), act.preview)
    }
    if (act.reason) {
      await toField(page, 'reason')
      await page.keyboard.type(act.reason)
    }
    if (act.typed) {
      await page.keyboard.press('Enter')
      assert.deepEqual(server.posted, [], 'nothing is sent before the name is typed')
      await toField(page, 'typed')
      await page.keyboard.type(act.typed)
    }
    assert.equal((await page.locator('dialog .command').textContent()).trim(), act.line)
    await page.getByRole('button', { name: act.label, exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog [role=status]')
    assert.match(await page.locator('dialog [role=status]').textContent(), /waits for a worker/)
    const [sent, ...more] = server.posted
    assert.deepEqual(more, [])
    assert.deepEqual([sent.method, sent.path], [act.method ?? 'POST', act.path])
    assert.equal(sent.type, 'application/json')
    assert.match(sent.request, /^[0-9a-f]{32}$/)
    assert.deepEqual(sent.body, { ...act.body, ...(act.reason ? { reason: act.reason } : {}) })
    // The focus comes to the button once the answer is drawn.
    await page.waitForFunction(() => document.activeElement?.textContent?.trim() === 'Close')
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open]', { state: 'detached' })
    assert.deepEqual(at.bad, [])
  })
}

test('a reason that is needed is asked for before anything is sent', async (t) => {
  const at = await open(t, 'wrong')
  await visit(at, 'runs/pack/2026-11-23')
  await openAct(at.page, 'Release')
  await at.page.getByRole('button', { name: 'Release', exact: true }).click({ force: true })
  assert.equal(await at.page.locator('dialog form').count(), 1)
  assert.deepEqual(at.server.posted, [])
})

test('Esc leaves a dialog, sends nothing, and gives the focus back', async (t) => {
  const at = await open(t, 'wrong')
  await visit(at, 'queues/stock')
  await openAct(at.page, 'Pause')
  await at.page.keyboard.press('Escape')
  await at.page.waitForSelector('dialog[open]', { state: 'detached' })
  assert.equal(await at.page.evaluate(() => document.activeElement.textContent), 'Pause…')
  assert.deepEqual(at.server.posted, [])
})

test('what the server refuses is said in the dialog, and is sent again with the same key', async (t) => {
  const at = await open(t, 'wrong')
  at.server.refusal = [409, 'held-elsewhere', 'Somebody else holds it', 'Try again in 20 s.']
  await visit(at, 'queues/stock')
  await openAct(at.page, 'Pause')
  const button = at.page.getByRole('button', { name: 'Pause', exact: true })
  await button.click()
  await at.page.waitForSelector('dialog [role=alert]')
  assert.match(await at.page.locator('dialog [role=alert]').textContent(), /held-elsewhere/)
  at.server.refusal = null
  await button.click()
  await at.page.waitForSelector('dialog [role=status]')
  const [first, second] = at.server.posted
  assert.equal(first.request, second.request)
})

test('a reader sees what an act takes, and cannot begin it', async (t) => {
  const at = await open(t, 'wrong', { role: 'read' })
  await visit(at, 'queues/stock')
  const button = at.page.getByRole('button', { name: 'Pause…' }).first()
  assert.equal(await button.getAttribute('title'), 'It takes the role operate')
  await button.click({ force: true })
  assert.equal(await at.page.locator('dialog[open]').count(), 0)
})

test('a problem is muted until a time, with a reason', async (t) => {
  const at = await open(t, 'wrong')
  await visit(at, '')
  await openAct(at.page, 'Mute')
  await at.page.getByLabel('4 hours').check()
  await at.page.fill('input[name=reason]', 'known')
  await at.page.getByRole('button', { name: 'Mute', exact: true }).click()
  await at.page.waitForSelector('dialog [role=status]')
  const [sent] = at.server.posted
  assert.equal(sent.path, 'problems/f00d/mute')
  assert.equal(sent.body.reason, 'known')
  const ahead = Date.parse(sent.body.until) - Date.now()
  assert.ok(ahead > 3.9 * 3600e3 && ahead < 4.1 * 3600e3, sent.body.until)
})
