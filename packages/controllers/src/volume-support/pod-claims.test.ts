import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { addPodClaimIndex, claimKeysOf, podsUsing } from './pod-claims.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'p' },
  spec: {
    containers: [],
    volumes: [
      { name: 'a', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'scratch', ephemeral: {} },
      { name: 'c', emptyDir: {} },
    ],
  },
}

test('a pod takes the claims that it names, and those named after it and its ephemeral volumes', () => {
  assert.deepEqual(claimKeysOf(pod), ['ns/data', 'ns/p-scratch'])
  assert.deepEqual(claimKeysOf({ metadata: pod.metadata }), [])
})

test('pods are found by the claims that they take', () => {
  const pods = fakeInformers([pod]).informer(resources.pods)
  addPodClaimIndex(pods)
  addPodClaimIndex(pods)
  assert.deepEqual(podsUsing(pods.lister, 'ns/p-scratch'), [pod])
  assert.deepEqual(podsUsing(pods.lister, 'other/data'), [])
})
