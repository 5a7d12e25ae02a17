import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job } from '@gyropilot/api'
import { isJobFinished, jobFinishCondition } from './job-finish.ts'

const job = (...conditions: readonly (readonly [string, string])[]): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  spec: { template: {} },
  status: { conditions: conditions.map(([type, status]) => ({ type, status })) },
})

const cases: readonly (readonly [Job, string | undefined])[] = [
  [job(['Complete', 'True']), 'Complete'],
  [job(['Suspended', 'True'], ['Failed', 'True'], ['Complete', 'True']), 'Failed'],
  [job(['Failed', 'False'], ['Complete', 'True']), 'Complete'],
  [job(['Complete', 'Unknown'], ['Failed', 'False']), undefined],
  [job(['SuccessCriteriaMet', 'True'], ['FailureTarget', 'True']), undefined],
  [job(), undefined],
  [{ kind: 'Job', spec: { template: {} } }, undefined],
]
for (const [subject, type] of cases) {
  const conditions = (subject.status?.conditions ?? []).map(
    (entry) => `${entry.type}=${entry.status}`,
  )
  test(`a Job with ${conditions.join() || 'no condition'} has ended by ${type ?? 'none'}`, () => {
    assert.equal(jobFinishCondition(subject)?.type, type)
    assert.equal(isJobFinished(subject), type !== undefined)
  })
}
