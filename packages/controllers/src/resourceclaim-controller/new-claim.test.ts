import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generatedNameBase } from './new-claim.ts'

test('a long base is cut on both sides in proportion', () => {
  const cases: readonly [number, number, number, number][] = [
    // Lengths of the pod's name and the entry's, and what is left of them.
    [50, 5, 50, 5],
    [50, 6, 49, 5],
    [200, 50, 45, 11],
    [10, 63, 7, 47],
  ]
  for (const [pod, entry, ofPod, ofEntry] of cases) {
    const base = generatedNameBase('p'.repeat(pod), 'e'.repeat(entry))
    const dash = ofPod === pod && ofEntry === entry ? '-' : ''
    assert.equal(base, `${'p'.repeat(ofPod)}-${'e'.repeat(ofEntry)}${dash}`)
  }
})
