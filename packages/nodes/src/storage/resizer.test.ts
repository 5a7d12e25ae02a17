import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import { silentLogger } from '@gyropilot/foundation'
import { FakeServer, fakeInformers, testClock } from '@gyropilot/runtime/testing'
import { DriverBackend } from './driver-backend.ts'
import { DRIVER } from './driver-objects.ts'
import { Resizer } from './resizer.ts'
import { storageInformers } from './storage-services.ts'

const VOLUME: PersistentVolume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'v' },
  spec: {
    capacity: { storage: '1Gi' },
    claimRef: { namespace: 'ns', name: 'c', uid: 'c-uid' },
    csi: { driver: DRIVER, volumeHandle: 'v' },
  },
}

const CLAIM: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'ns', name: 'c', uid: 'c-uid' },
  spec: { volumeName: 'v', resources: { requests: { storage: '2Gi' } } },
  status: { phase: 'Bound', capacity: { storage: '1Gi' } },
}

function running() {
  const clock = testClock()
  const client = new FakeServer()
  const informers = fakeInformers()
  const resizer = new Resizer({
    client,
    clock,
    logger: silentLogger,
    recorder: { record: () => {} } as never,
    backend: new DriverBackend(clock),
    informers: storageInformers(informers),
  })
  const stop = new AbortController()
  void resizer.run(stop.signal)
  return { clock, client, informers, stop }
}

test('a claim that wants more before its volume is known is made larger once it is', async () => {
  const { clock, client, informers, stop } = running()
  const volume = client.put(resources.persistentvolumes, VOLUME)
  const claim = client.put(resources.persistentvolumeclaims, CLAIM)
  const capacity = async () =>
    (await client.resource(resources.persistentvolumes).get('v')).spec?.capacity?.['storage']
  informers.apply(resources.persistentvolumeclaims, claim)
  await clock.advance(1_000)
  assert.equal(await capacity(), '1Gi')
  informers.apply(resources.persistentvolumes, volume)
  await clock.advance(0)
  assert.equal(await capacity(), '2Gi')
  const { status } = await client.resource(resources.persistentvolumeclaims, 'ns').get('c')
  assert.equal(status?.allocatedResourceStatuses?.['storage'], 'NodeResizePending')
  stop.abort()
})

test('what the node has finished meanwhile is not said to be in progress', async () => {
  const { clock, client, informers, stop } = running()
  const volume = client.put(resources.persistentvolumes, VOLUME)
  const claim = client.put(resources.persistentvolumeclaims, CLAIM)
  let isFinished = false
  // As a server that locks optimistically: the patch is of the version before.
  client.onRequest = ({ verb, body }) => {
    if (verb !== 'patch' || isFinished) return undefined
    isFinished = true
    const status = { ...CLAIM.status!, capacity: { storage: '2Gi' } }
    client.put(resources.persistentvolumeclaims, { ...CLAIM, status })
    const { value } = body as { value: PersistentVolumeClaim }
    if (value.metadata?.resourceVersion !== claim.metadata?.resourceVersion) return undefined
    throw new StatusError({ kind: 'Status', apiVersion: 'v1', reason: 'Conflict', code: 409 })
  }
  informers.apply(resources.persistentvolumes, volume)
  informers.apply(resources.persistentvolumeclaims, claim)
  await clock.advance(10_000)
  const { status } = await client.resource(resources.persistentvolumeclaims, 'ns').get('c')
  assert.equal(isFinished, true)
  assert.deepEqual(status, { ...CLAIM.status, capacity: { storage: '2Gi' } })
  stop.abort()
})
