import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerStatus, PodStatus } from '@gyropilot/api'
import { pod } from '@gyropilot/api/testing'
import { bringsBack } from './ended-containers.ts'

const RUNNING = { running: { startedAt: '2026-01-01T00:00:00Z' } }
const WAITING = { waiting: { reason: 'PodInitializing' } }
const ended = (exitCode: number) => ({ terminated: { exitCode } })
const RULE = { action: 'Restart', exitCodes: { operator: 'In', values: [0] } } as const

const statusOf = ([init, main]: readonly ContainerStatus['state'][]): PodStatus => {
  const status = { image: 'x', imageID: '', ready: false, restartCount: 0 }
  return {
    initContainerStatuses: [{ ...status, name: 'i', state: init }],
    containerStatuses: [{ ...status, name: 'c', state: main }],
  } as PodStatus
}

for (const [what, policy, rules, before, now, expected] of [
  [
    'an init container that succeeded runs',
    'OnFailure',
    [],
    [ended(0), RUNNING],
    [RUNNING, RUNNING],
    true,
  ],
  ['it waits', 'Never', [], [ended(0), RUNNING], [WAITING, RUNNING], true],
  ['it has ended once more', 'OnFailure', [], [ended(0), RUNNING], [ended(0), WAITING], false],
  ['it failed and restarts', 'OnFailure', [], [ended(1), WAITING], [RUNNING, WAITING], false],
  ['it failed for good', 'Never', [], [ended(1), WAITING], [RUNNING, WAITING], true],
  ['all restart always', 'Always', [], [ended(0), ended(0)], [RUNNING, RUNNING], false],
  ['a main container succeeded', 'OnFailure', [], [ended(0), ended(0)], [ended(0), RUNNING], true],
  ['a rule restarts it', 'OnFailure', [RULE], [ended(0), ended(0)], [ended(0), RUNNING], false],
  [
    'a rule restarts all',
    'Never',
    [{ ...RULE, action: 'RestartAllContainers' }],
    [ended(0), ended(0)],
    [WAITING, WAITING],
    false,
  ],
] as const)
  test(`${what}: ${expected ? 'held back' : 'written'} (${policy})`, () => {
    const stored = pod({
      spec: {
        restartPolicy: policy,
        initContainers: [{ name: 'i', image: 'x' }],
        containers: [{ name: 'c', image: 'x', restartPolicyRules: [...rules] }],
      },
      status: statusOf(before),
    })
    assert.equal(bringsBack(stored, statusOf(now)), expected)
  })

test('what is left out, and a first status, bring nothing back', () => {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } as const
  assert.equal(bringsBack(pod({ spec, status: statusOf([ended(0), ended(0)]) }), {}), false)
  assert.equal(bringsBack(pod({ spec, status: {} }), statusOf([WAITING, WAITING])), false)
})
