import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writtenAt } from './grown-bytes.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)
const text = (of: Uint8Array): string => Buffer.from(of).toString()

test('pieces are added, written over others, and stand behind zeros', () => {
  const one = writtenAt(new Uint8Array(0), 0, bytes('abc'))
  assert.equal(text(writtenAt(one, 3, bytes('de'))), 'abcde')
  assert.equal(text(writtenAt(one, 1, bytes('x'))), 'axc')
  assert.equal(text(writtenAt(one, 2, bytes('xyz'))), 'abxyz')
  assert.equal(text(writtenAt(one, 5, bytes('x'))), 'abc\0\0x')
})

test('what was handed out does not change by what follows', () => {
  const first = writtenAt(bytes('a'), 1, bytes('bcd'))
  const second = writtenAt(first, 4, bytes('e'))
  const other = writtenAt(first, 4, bytes('f'))
  const third = writtenAt(second, 5, bytes('g'))
  assert.deepEqual([first, second, other, third].map(text), ['abcd', 'abcde', 'abcdf', 'abcdeg'])
})

test('what pieces cost does not grow with their number', () => {
  const before = process.cpuUsage()
  let all: Uint8Array = new Uint8Array(0)
  for (let n = 0; n < 200_000; n++) all = writtenAt(all, all.length, bytes('line\n'))
  const { user, system } = process.cpuUsage(before)
  assert.equal(all.length, 1_000_000)
  // To copy a megabyte for each of the lines takes more than ten seconds.
  assert.ok((user + system) / 1e6 < 5)
})
