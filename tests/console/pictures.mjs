// Takes the pictures of the documents: one page in both themes.
//   node tests/console/pictures.mjs [ADDRESS]     of a server whose link this is, else of recorded answers
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Server } from './server.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))
const modules = path.resolve(process.env.DAYBOOK_CONSOLE_MODULES ?? here)
const { chromium } = createRequire(path.join(modules, 'x.js'))('playwright-core')
const target = path.resolve(here, '../../docs/pictures')

mkdirSync(target, { recursive: true })
const server = process.argv[2] ? null : await new Server('wrong').start()
const browser = await chromium.launch({
  executablePath: process.env.DAYBOOK_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'],
})
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } })
await page.goto(process.argv[2] ?? server.url)
await page.waitForSelector('.problems, .calm')
for (const scheme of ['light', 'dark']) {
  await page.emulateMedia({ colorScheme: scheme })
  await page.waitForFunction(() => !document.querySelector('.loading'))
  await page.waitForFunction(() => !document.body.textContent.includes('connecting'))
  await page.screenshot({ path: path.join(target, `console-${scheme}.png`) })
}
await browser.close()
await server?.stop()
