import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { silentLogger } from '@gyropilot/foundation'
import { FakeServer, fakeInformers, testClock } from '@gyropilot/runtime/testing'
import { DriverBackend } from './driver-backend.ts'
import { DRIVER } from './driver-objects.ts'
import { Provisioner } from './provisioner.ts'
import { storageInformers } from './storage-services.ts'

test('a claim that is seen before its class has its volume once the class is known', async () => {
  const clock = testClock()
  const client = new FakeServer()
  const informers = fakeInformers()
  const provisioner = new Provisioner({
    client,
    clock,
    logger: silentLogger,
    recorder: { record: () => {} } as never,
    backend: new DriverBackend(clock),
    informers: storageInformers(informers),
  })
  const stop = new AbortController()
  void provisioner.run(stop.signal)
  const claim = client.put(resources.persistentvolumeclaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      namespace: 'ns',
      name: 'c',
      uid: 'c-uid',
      annotations: { 'volume.kubernetes.io/storage-provisioner': DRIVER },
    },
    spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
  })
  const storageClass = client.put(resources.storageclasses, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'fast' },
    provisioner: DRIVER,
    volumeBindingMode: 'Immediate',
  })
  const made = async () => {
    await clock.advance(10_000)
    return (await client.resource(resources.persistentvolumes).list()).items.length
  }
  informers.apply(resources.persistentvolumeclaims, claim)
  assert.equal(await made(), 0)
  informers.apply(resources.storageclasses, storageClass)
  assert.equal(await made(), 1)
  stop.abort()
})
