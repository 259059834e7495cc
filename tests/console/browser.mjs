// A browser, and pages of it that keep what must not be: messages of the console, errors, requests to
// anybody but the server.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { after, before } from 'node:test'
import { Server } from './server.mjs'

const modules = process.env.DAYBOOK_CONSOLE_MODULES ?? path.dirname(new URL(import.meta.url).pathname)
const require = createRequire(path.join(path.resolve(modules), 'x.js'))
const { chromium } = require('playwright-core')
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

let browser
before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.DAYBOOK_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'],
  })
})
after(() => browser.close())

export const newContext = (options) => browser.newContext(options)

/** Server and page for one test, both ended with it. `bad` has what must stay empty. */
export async function open(test, book, options = {}) {
  const server = await new Server(book, options.role === undefined ? 'admin' : options.role).start()
  const context = await browser.newContext({
    colorScheme: options.scheme ?? 'light',
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    deviceScaleFactor: options.zoom ?? 1, forcedColors: options.forced ? 'active' : 'none',
  })
  const page = await context.newPage()
  const bad = []
  page.on('console', (said) => bad.push(`${said.type()}: ${said.text()}`))
  page.on('pageerror', (error) => bad.push(`error: ${error}`))
  page.on('dialog', (dialog) => bad.push(`dialog: ${dialog.message()}`))
  page.on('request', (asked) => {
    if (!asked.url().startsWith(server.url)) bad.push(`asked ${asked.url()}`)
  })
  test.after(async () => {
    await context.close()
    await server.stop().catch(() => {})
  })
  return { server, page, bad, context }
}

/** Opens an address of the page, and waits until what it asked for is there. */
export async function visit({ server, page }, where) {
  await page.goto(server.url + '#/' + where)
  await shown(page)
}

export async function shown(page) {
  await page.waitForSelector('main h1')
  await page.waitForFunction(() => !document.querySelector('.loading'))
}

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What axe finds, a line each. */
export async function faults(page) {
  await page.evaluate(axe)
  const found = await page.evaluate((tags) => window.axe.run({ runOnly: tags }), rules)
  return found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)} ${node.failureSummary}`))
}
