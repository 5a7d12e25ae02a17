import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerState, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { isTerminated, refersTo, uses } from './claim-use.ts'

function podOf(states: readonly ContainerState[], isDeleting = true): Pod {
  return {
    metadata: isDeleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {},
    status: {
      phase: 'Running',
      containerStatuses: states.map((state, index) => ({
        name: `c${index}`,
        image: 'i',
        imageID: '',
        ready: false,
        restartCount: 0,
        state,
      })),
    },
  }
}
const [running, ended, waiting]: readonly ContainerState[] = [
  { running: {} },
  { terminated: { exitCode: 0 } },
  { waiting: {} },
]

const cases: readonly (readonly [string, Pod, boolean])[] = [
  ['whose containers have ended or wait', podOf([ended!, waiting!]), true],
  ['of whose containers one runs', podOf([ended!, running!]), false],
  ['whose container says nothing', podOf([{}]), false],
  ['that has no containers yet', podOf([]), true],
  ['that is not deleted', podOf([ended!], false), false],
]
for (const [title, pod, isOver] of cases) {
  test(`a pod ${title} ${isOver ? 'has let go' : 'holds on'}`, () => {
    assert.equal(isTerminated(pod), isOver)
  })
}

test('a claim is behind an ephemeral volume alone, whatever another volume is called', () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p-uid', controller: true }
  const claim: PersistentVolumeClaim = { metadata: { name: 'p-data', ownerReferences: [owner] } }
  const pod = (volume: object): Pod => ({
    metadata: { name: 'p', uid: 'p-uid' },
    spec: { nodeName: 'n', containers: [], volumes: [{ name: 'data', ...volume }] },
  })
  for (const [volume, isUsed] of [
    [{ ephemeral: {} }, true],
    [{ emptyDir: {} }, false],
  ] as const) {
    assert.deepEqual([uses(pod(volume), claim), refersTo(pod(volume), claim)], [isUsed, isUsed])
  }
})
