import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { refersTo, uses } from './claim-use.ts'

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
