// Texts of others are texts: what looks like markup, a path or a program is shown as it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open, visit } from './browser.mjs'
import { canaries } from './canaries.mjs'
import { part } from './paths.mjs'

const lists = ['', 'runs', 'schedules', 'queues', 'plans', 'processes', 'changes']

test('lists show the texts of others as they are', async (t) => {
  const at = await open(t, 'huge')
  for (const where of lists) {
    await visit(at, where)
    const texts = new Set(await at.page.locator('bdi').allTextContents())
    const lacks = canaries.filter((text) => ![...texts].some((one) => one.includes(text)))
    // The overview lists the next eight schedules, and all problems.
    assert.deepEqual(lacks, [], `#/${where}`)
    assert.deepEqual(at.bad, [], `#/${where}`)
  }
  assert.equal(await at.page.evaluate(() => window.canary), undefined)
})

test('every address with such a name leads to its page', async (t) => {
  const at = await open(t, 'huge')
  for (const text of canaries) {
    const name = part(text)
    for (const where of [`runs/${name}/${name}`, `queues/${name}`, `queues/${name}/${name}`,
      `schedules/${name}`, `plans/${name}`]) {
      await visit(at, where)
      const head = await at.page.locator('h1').textContent()
      assert.ok(head.includes(text), `#/${where}: ${head}`)
      assert.equal(await at.page.locator('[data-state=error]').count(), 0, `#/${where}`)
      assert.deepEqual(at.bad, [], `#/${where}`)
    }
  }
  assert.equal(await at.page.evaluate(() => window.canary), undefined)
})

test('links of lists lead to the thing itself', async (t) => {
  const at = await open(t, 'huge')
  for (const text of canaries) {
    await visit(at, 'queues')
    await at.page.locator('tbody tr', { has: at.page.locator('bdi', { hasText: text }) }).first()
      .locator('a').first().click()
    await at.page.waitForFunction((name) =>
      document.querySelector('h1')?.textContent === `Queue ${name}`, text)
  }
})

test('a narrow screen stays narrow with long names', async (t) => {
  const at = await open(t, 'huge', { width: 320 })
  for (const where of [...lists, `runs/${part(canaries.at(-1))}/${part(canaries.at(-1))}`]) {
    await visit(at, where)
    const wide = await at.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(wide <= 0, `#/${where} is ${wide} px too wide`)
  }
})
