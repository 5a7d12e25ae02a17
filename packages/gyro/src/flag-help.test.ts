import assert from 'node:assert/strict'
import { test } from 'node:test'
import { helpPage } from './flag-help.ts'

const TEXT = `${'word '.repeat(30)}end.
Another line.

Examples:
  gyro up ${'x'.repeat(150)}

Usage:
  gyro up [flags]

Flags:
`

test('the prose of a help page is wrapped to the terminal, its examples are not', () => {
  for (const [columns, widest] of [
    [40, 80],
    [100, 100],
    [300, 120],
  ] as const) {
    const page = helpPage(
      TEXT,
      [{ name: 'a', type: 'bool', default: 'false', help: 'A.' }],
      columns,
    )
    const lines = page.split('\n')
    const prose = lines.slice(0, lines.indexOf(''))
    assert.ok(Math.max(...prose.map(({ length }) => length)) <= widest)
    assert.match(prose.join(' '), /word end\. Another line\.$/)
    assert.ok(lines.includes(`  gyro up ${'x'.repeat(150)}`))
    assert.match(page, /\n\nUsage:\n {2}gyro up \[flags\]\n\nFlags:\n {6}--a +A\.\n$/)
  }
})
