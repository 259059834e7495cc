// Every page of every book: no message of the console, nothing against the policy, clean for axe in
// both themes, no scrolling in two ways on a narrow screen.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { faults, open, visit } from './browser.mjs'

const everywhere = ['', 'runs', 'schedules', 'queues', 'plans', 'aggregations', 'processes', 'changes',
  'system', 'nowhere']
const own = {
  empty: [],
  normal: ['runs/nightly/2026-11-23', 'runs/import/-', 'schedules/leads', 'queues/stock',
    'queues/stock/~cHJvZHVjdC80Mg', 'plans/restock?key=product', 'aggregations/pay',
    'aggregations/pay/~d29ya2VyLTcvMjAyNi0xMQ'],
  wrong: ['runs/pack/2026-11-23', 'runs/pay/2026-11', 'schedules/leads', 'schedules/nightly',
    'queues/stock?state=dead', 'queues/mails', 'queues/stock/~cHJvZHVjdC8x', 'plans/restock',
    'plans/days', 'plans/shelves', 'aggregations/pay'],
}

for (const [book, more] of Object.entries(own)) {
  const addresses = [...everywhere, ...more]
  for (const scheme of ['light', 'dark']) {
    test(`the pages of the book "${book}" are clean in the ${scheme} theme`, async (t) => {
      const at = await open(t, book, { scheme })
      for (const where of addresses) {
        await visit(at, where)
        assert.deepEqual(await faults(at.page), [], `axe, #/${where}`)
        assert.deepEqual(at.bad, [], `#/${where}`)
        assert.equal(await at.page.locator('main').textContent() !== '', true, `#/${where} shows nothing`)
      }
    })
  }

  for (const [name, options] of [['320 px wide', { width: 320 }], ['zoomed to 200 %', { width: 640 }]]) {
    test(`the pages of the book "${book}" scroll one way only, ${name}`, async (t) => {
      const at = await open(t, book, options)
      for (const where of addresses) {
        await visit(at, where)
        const wide = await at.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        assert.ok(wide <= 0, `#/${where} is ${wide} px too wide`)
      }
    })
  }
}

test('the pages are clean for axe in forced colours', async (t) => {
  const at = await open(t, 'wrong', { forced: true })
  for (const where of ['', 'queues/stock', 'schedules/leads', 'runs/pack/2026-11-23']) {
    await visit(at, where)
    assert.deepEqual(await faults(at.page), [], where)
  }
})

test('the first screen says what is wrong, why, since when, and what to do', async (t) => {
  const at = await open(t, 'wrong')
  await visit(at, '')
  assert.equal(await at.page.locator('h1').textContent(), '6 things want you')
  const first = at.page.locator('.problem').first()
  for (const text of ['act now', 'queue stock', 'tasks are due', '(16 h)', 'daybook daemon']) {
    assert.match(await first.textContent(), new RegExp(text.replace(/[()]/g, '\\$&')))
  }
  const end = await at.page.locator('.problems').evaluate((list) => list.getBoundingClientRect().bottom)
  assert.ok(end < 900, 'all of them are on the first screen')
})

test('a book in which all is well is calm: no colour but that of links and of what runs', async (t) => {
  const at = await open(t, 'normal')
  for (const where of ['', 'queues/stock', 'schedules/leads', 'runs/nightly/2026-11-23', 'processes']) {
    await visit(at, where)
    const loud = await at.page.locator(
      '.t-bad, .t-late, .t-unknown, .f-bad, .f-late, .f-unknown, .c-bad, .c-late, .c-unknown').count()
    assert.equal(loud, 0, `#/${where}`)
  }
  await visit(at, '')
  assert.match(await at.page.locator('.calm').textContent(), /^Nothing wants you\. 3 processes are alive/)
})

test('empty pages say why, and how to get one', async (t) => {
  const at = await open(t, 'empty')
  const words = { runs: 'daybook run', schedules: '[[schedule]]', queues: 'daybook queues make',
    plans: '[[plan]]', aggregations: '[[aggregate]]', processes: 'daybook daemon' }
  for (const [where, text] of Object.entries(words)) {
    await visit(at, where)
    const empty = at.page.locator('[data-state=empty]').first()
    assert.ok((await empty.textContent()).includes(text), where)
  }
})

test('pictures have a sentence, and stay in real pixels', async (t) => {
  const at = await open(t, 'wrong', { width: 400 })
  for (const where of ['queues/stock', 'schedules/leads', 'runs/pack/2026-11-23', 'plans/shelves']) {
    await visit(at, where)
    // A picture is drawn once the browser has told its width.
    await at.page.waitForFunction(() => [...document.querySelectorAll('figure svg')]
      .every((one) => one.querySelector('rect')))
    const pictures = await at.page.locator('figure svg').evaluateAll((all) =>
      all.map((one) => ({
        says: one.getAttribute('aria-label'), scaled: one.hasAttribute('viewBox'),
        shapes: one.querySelectorAll('rect').length, width: one.getBoundingClientRect().width,
      })))
    assert.ok(pictures.length > 0, where)
    for (const one of pictures) {
      assert.ok(one.says.length > 20 && one.shapes > 0 && one.shapes <= 300, JSON.stringify(one))
      assert.ok(!one.scaled && one.width > 100, JSON.stringify(one))
    }
  }
})

test('after a change of pages the heading has the focus, and the title says where we are', async (t) => {
  const at = await open(t, 'normal')
  await visit(at, '')
  await at.page.click('nav a:has-text("Queues")')
  await at.page.waitForFunction(() => document.activeElement?.textContent === 'Queues' &&
    document.activeElement.tagName === 'H1')
  assert.equal(await at.page.title(), 'Queues – Daybook')
})

test('g and a letter goes to a page, j and k to rows, Enter opens', async (t) => {
  const at = await open(t, 'wrong')
  await visit(at, '')
  await at.page.keyboard.press('g')
  await at.page.keyboard.press('q')
  await at.page.waitForFunction(() => document.title.startsWith('Queues'))
  await at.page.waitForSelector('[data-row]')
  for (const key of ['j', 'j', 'k', 'Enter']) await at.page.keyboard.press(key)
  await at.page.waitForFunction(() => document.title.startsWith('stock'))
  await at.page.keyboard.press('?')
  await at.page.waitForSelector('dialog[open] .keys')
  await at.page.keyboard.press('Escape')
  await at.page.waitForSelector('dialog[open]', { state: 'detached' })
})

test('a plan says why a key was not launched', async (t) => {
  const at = await open(t, 'normal')
  await visit(at, 'plans/restock')
  await at.page.fill('.filter input', 'product')
  await at.page.keyboard.press('Enter')
  await at.page.waitForSelector('text=was launched 2 times')
  assert.match(await at.page.locator('main').textContent(), /refused 1 time, last .*: it is in hand/)
})

test('what a server does not tell is no error', async (t) => {
  const at = await open(t, 'normal')
  delete at.server.book['queues/stock/due']
  await visit(at, 'queues/stock')
  assert.equal(await at.page.locator('[data-state=error]').count(), 0)
  assert.match(await at.page.locator('[data-state=not-told]').textContent(), /does not tell it/)
})

test('the overview leaves out what a server does not tell', async (t) => {
  const at = await open(t, 'normal')
  delete at.server.book.flows
  at.server.book.missing = ['flows']
  await visit(at, '')
  await at.page.waitForSelector('.problems, .calm')
  assert.doesNotMatch(await at.page.locator('main').textContent(), /Flow|does not tell it/)
})

test('changes are saved as CSV in which no cell is a formula', async (t) => {
  const at = await open(t, 'normal')
  at.server.book.changes.items[0].reason = '=cmd|"/c calc"!A1'
  await visit(at, 'changes')
  const [saved] = await Promise.all([
    at.page.waitForEvent('download'), at.page.click('button:has-text("Save as CSV")')])
  const lines = fs.readFileSync(await saved.path(), 'utf8').split('\r\n')
  assert.equal(lines[0], 'at,actor,action,subject,reason,detail,source')
  assert.ok(lines[1].includes(`"'=cmd|""/c calc""!A1"`), lines[1])
  assert.deepEqual(at.bad, [])
})
