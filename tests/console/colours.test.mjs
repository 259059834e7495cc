// The palette: texts have 4.5:1, shapes and edges 3:1, on both grounds of both themes.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

const sheet = fs.readFileSync(new URL('../../console/web/src/app.css', import.meta.url), 'utf8')
const palette = Object.fromEntries(
  [...sheet.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g)]
    .map(([, name, light, dark]) => [name, { light, dark }]))

function luminance(colour) {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
}

function contrast(one, other) {
  const [less, more] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (more + 0.05) / (less + 0.05)
}

const texts = ['text', 'dim', 'accent', 'done', 'run', 'wait', 'late', 'bad', 'unknown', 'skip']
const shapes = ['edge', 'done', 'run', 'wait', 'late', 'bad', 'unknown', 'skip', 'accent']

for (const theme of ['light', 'dark']) {
  test(`contrasts of the ${theme} theme`, () => {
    assert.ok(Object.keys(palette).length >= 14, 'the palette was read')
    for (const ground of ['ground', 'panel']) {
      for (const [names, least] of [[texts, 4.5], [shapes, 3]]) {
        for (const name of names) {
          const found = contrast(palette[name][theme], palette[ground][theme])
          assert.ok(found >= least, `${name} on ${ground}: ${found.toFixed(2)}, and not ${least}`)
        }
      }
    }
    assert.ok(contrast(palette['on-accent'][theme], palette.accent[theme]) >= 4.5)
  })
}

test('no picture says by the hair line what it means', () => {
  assert.ok(!/\.f-[\w-]+ \{[^}]*var\(--line\)/.test(sheet))
})
