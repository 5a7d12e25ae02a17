import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../workload-support/fixtures.ts'
import { deployment, outcome, owned, rollout, sizes } from './fixtures.ts'
import { scaleAndAnnotate } from './scale.ts'

const web = deployment({ replicas: 3, strategy: { type: 'Recreate' } })

function scaled(
  of: { readonly replicas: number; readonly annotations?: Readonly<Record<string, string>> },
  size: number,
  options = {},
) {
  const replicaSet = owned(web, { name: 'rs', ...of })
  const working = rollout(web, replicaSet)
  let answer
  const driven = outcome(
    (function* () {
      answer = yield* scaleAndAnnotate(working, replicaSet, size)
    })(),
    options,
  )
  return { answer, written: driven.scaled, messages: driven.messages }
}

test('another size is written and told, up or down', () => {
  assert.deepEqual(scaled({ replicas: 1 }, 3), {
    answer: { scaled: true },
    written: { rs: 3 },
    messages: ['Scaled up replica set rs from 1 to 3'],
  })
  assert.deepEqual(scaled({ replicas: 3 }, 0), {
    answer: { scaled: true },
    written: { rs: 0 },
    messages: ['Scaled down replica set rs from 3 to 0'],
  })
})

test('annotations that are behind are written without a word, and are no scaling', () => {
  assert.deepEqual(scaled({ replicas: 2, annotations: sizes(2, 3) }, 2), {
    answer: { scaled: false },
    written: { rs: 2 },
    messages: [],
  })
})

test('size and annotations that are right already are not written', () => {
  assert.deepEqual(scaled({ replicas: 2, annotations: sizes(3, 3) }, 2), {
    answer: { scaled: false },
    written: {},
    messages: [],
  })
})

test('what could not be written is no scaling, and is not told', () => {
  const { answer, messages } = scaled({ replicas: 1 }, 3, {
    onWrite: () => refused(409, 'Conflict', 'newer'),
  })
  const { scaled: is, error } = answer! as { scaled: boolean; error: Error }
  assert.deepEqual([is, error.message, messages], [false, 'newer', []])
})
