import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexedJob, job, jobPod } from '../fixtures.ts'
import { completionIndexOf, earlierFailuresOf } from './pod-index.ts'

const cases: readonly (readonly [string | undefined, number | undefined])[] = [
  [undefined, undefined],
  ['', undefined],
  ['x', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['0', 0],
  ['2', 2],
  ['3', undefined],
]
for (const [text, index] of cases) {
  test(`annotation ${JSON.stringify(text)} of a Job of 3 is index ${index}`, () => {
    assert.equal(
      completionIndexOf(jobPod('p', text === undefined ? {} : { index: text }), indexedJob()),
      index,
    )
  })
}

test('an index may have several digits, and a plus as a number in Go may', () => {
  const owner = indexedJob({ spec: { completions: 100 } })
  const indexOf = (index: string) => completionIndexOf(jobPod('p', { index }), owner)
  assert.deepEqual(
    [indexOf('12'), indexOf('+7'), indexOf('100'), indexOf('1x')],
    [12, 7, undefined, undefined],
  )
})

test('a Job without completions has no index', () => {
  assert.equal(completionIndexOf(jobPod('p', { index: 0 }), job()), undefined)
})

test('failures before a pod are 0 unless its annotations say otherwise', () => {
  assert.deepEqual(earlierFailuresOf(jobPod('p')), { counted: 0, ignored: 0 })
  const pod = jobPod('p', { failures: 2, ignoredFailures: 3 })
  assert.deepEqual(earlierFailuresOf(pod), { counted: 2, ignored: 3 })
})
