import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '@gyropilot/foundation'
import { testClock } from '../testing/index.ts'
import { EventNames } from './event-names.ts'

test('the longest name has 253 characters, beyond that it is a UUID', () => {
  const names = new EventNames(testClock(), new SeededRandom('names'))
  const longest = 'a'.repeat(236)
  assert.match(names.next(longest), new RegExp(`^${longest}\\.[0-9a-f]{16}$`))
  assert.match(names.next(`${longest}a`), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})
