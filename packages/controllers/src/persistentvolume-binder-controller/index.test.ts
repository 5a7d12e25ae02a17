import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../workload-support/fixtures.ts'
import { claim, volume, world } from './fixtures.ts'

test('a conflict is tried again without a word at default verbosity, another refusal with an error', () => {
  for (const [code, reason, isQuiet] of [
    [409, 'Conflict', true],
    [500, 'InternalError', undefined],
  ] as const) {
    const refuse = () => refused(code, reason, 'no')
    const bound = world([claim(), volume()], { onWrite: refuse }).syncClaim()
    const shown = world([volume('v', { phase: 'Pending' })], { onWrite: refuse }).syncVolume()
    for (const driven of [bound, shown]) {
      const verdict = driven?.result
      assert.ok(verdict?.error)
      assert.equal(verdict.expected, isQuiet, `${code}`)
    }
  }
})
