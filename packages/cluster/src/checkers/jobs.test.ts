import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jobCounts } from './jobs.ts'

const uncounted = (...succeeded: readonly string[]) => ({ uncountedTerminatedPods: { succeeded } })
const conditions = (reason: string) => ({
  conditions: [{ type: 'SuccessCriteriaMet', status: 'True', reason }],
})
const MET = conditions('CompletionsReached')

for (const [what, before, spec, status, wanted] of [
  ['all are counted', {}, { completions: 2 }, { ...MET, succeeded: 2 }, []],
  ['one will be counted', {}, { completions: 2 }, { ...MET, succeeded: 1, ...uncounted('b') }, []],
  ['one is missing', {}, { completions: 2 }, { ...MET, succeeded: 1 }, ['1 successes of 2']],
  ['the one that is asked for is missing', {}, {}, MET, ['0 successes of 1']],
  ['more are asked for later', MET, { completions: 2 }, { ...MET, succeeded: 1 }, []],
  [
    'fewer are enough',
    {},
    { completions: 2 },
    { ...conditions('SuccessPolicy'), succeeded: 1 },
    [],
  ],
] as const)
  test(`a Job that has reached its completions: ${what}`, () => {
    const reported: string[] = []
    const observer = jobCounts((_checker, message) => void reported.push(message))
    const job = (spec: object, status: object) => ({
      kind: 'Job',
      metadata: { namespace: 'x', name: 'a', uid: 'u' },
      spec,
      status,
    })
    for (const name of ['a', 'b']) {
      const owner = { kind: 'Job', uid: 'u', controller: true }
      const metadata = { uid: name, ownerReferences: [owner] }
      const object = { kind: 'Pod', metadata, status: { phase: 'Succeeded' } }
      observer.committed!({ type: 'created', collection: 'pods', object } as never)
    }
    const previous = job({}, before)
    const object = job(spec, status)
    const event = { type: 'updated', collection: 'jobs.batch', previous, object }
    observer.committed!(event as never)
    assert.deepEqual(
      reported,
      wanted.map((text) => `Job x/a is complete with ${text}`),
    )
  })
