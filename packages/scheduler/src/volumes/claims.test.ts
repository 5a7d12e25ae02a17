import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '@gyropilot/api/testing'
import { claimProblem } from './claims.ts'
import { boundClaim, claim, later, listersOf, podWith } from './fixtures.ts'
import type { Given } from './fixtures.ts'

const user = podWith('data')
const bound = boundClaim('data', 'disk')
const UNBOUND = 'pod has unbound immediate PersistentVolumeClaims'

const PROBLEMS: readonly (readonly [string, Given, string | undefined])[] = [
  ['claim missing', {}, 'persistentvolumeclaim "data" not found'],
  [
    'claim Lost',
    { claims: [{ ...claim('data', { volumeName: 'disk' }), status: { phase: 'Lost' } }] },
    'persistentvolumeclaim "data" bound to non-existent persistentvolume "disk"',
  ],
  [
    'claim deleting',
    { claims: [{ ...bound, metadata: { ...bound.metadata, deletionTimestamp: 'now' } }] },
    'persistentvolumeclaim "data" is being deleted',
  ],
  [
    'unbound, Immediate class',
    { claims: [claim('data')], classes: [later({ volumeBindingMode: 'Immediate' })] },
    UNBOUND,
  ],
  [
    'unbound, no class',
    { claims: [claim('data', { storageClassName: '' })], classes: [later()] },
    UNBOUND,
  ],
  ['unbound, class missing', { claims: [claim('data')] }, UNBOUND],
  [
    'unbound, volume named by its user',
    { claims: [claim('data', { volumeName: 'disk' })], classes: [later()] },
    UNBOUND,
  ],
  ['unbound, WaitForFirstConsumer', { claims: [claim('data')], classes: [later()] }, undefined],
  ['bound', { claims: [bound] }, undefined],
]
for (const [title, given, wanted] of PROBLEMS) {
  test(`${title}: ${wanted ?? 'the pod may go'}`, () => {
    assert.equal(claimProblem(user, listersOf(given)), wanted)
    assert.equal(claimProblem(pod(), listersOf(given)), undefined, 'a pod without claims may go')
  })
}

test('what is missing is told before what is unbound', () => {
  const listers = listersOf({ claims: [claim('a')] })
  assert.equal(claimProblem(podWith('a', 'b'), listers), 'persistentvolumeclaim "b" not found')
})

const volumes = [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: {} } } }]
const ephemeral = pod({ name: 'p', spec: { volumes } })

test('an ephemeral volume waits for its controller', () => {
  assert.equal(
    claimProblem(ephemeral, listersOf({})),
    'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"',
  )
})

test('a claim that happens to have the name of an ephemeral volume is not taken', () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', controller: true }
  const named = (uid: string) => {
    const ownerReferences = [{ ...owner, uid }]
    const claims = [claim('p-v', {}, { ownerReferences })]
    return claimProblem(ephemeral, listersOf({ claims, classes: [later()] }))
  }
  assert.equal(
    named('uid-other'),
    'PVC default/p-v was not created for pod default/p (pod is not owner)',
  )
  assert.equal(named('uid-p'), undefined)
})
