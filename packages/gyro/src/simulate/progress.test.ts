import assert from 'node:assert/strict'
import { test } from 'node:test'
import { progressLine } from './progress.ts'

test('progress is shown on a terminal that can write over a line, and fits it', () => {
  for (const [isTTY, isDumb, shown] of [
    [true, false, '\r\x1b[Kone tw'],
    [true, true, ''],
    [false, false, ''],
  ] as const) {
    let said = ''
    const stream = { isTTY, columns: 7, write: (text: string) => void (said += text) }
    progressLine(stream as unknown as NodeJS.WriteStream, isDumb).show('one two three')
    assert.equal(said, shown)
  }
})
