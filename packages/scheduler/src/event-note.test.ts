import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventNote } from './event-note.ts'

test('a note has at most 1,024 bytes of whole characters, and says that it was cut', () => {
  assert.equal(eventNote('a'.repeat(1_024)), 'a'.repeat(1_024))
  assert.equal(eventNote('a'.repeat(1_025)), `${'a'.repeat(1_020)} ...`)
  assert.equal(eventNote(`a${'é'.repeat(600)}`), `a${'é'.repeat(509)} ...`)
})
