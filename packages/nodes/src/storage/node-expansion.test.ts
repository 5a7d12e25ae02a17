import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { PersistentVolumeClaim } from '@gyropilot/api'
import { silentLogger } from '@gyropilot/foundation'
import { FakeServer, fakeInformers, statusError, testClock } from '@gyropilot/runtime/testing'
import { NodeExpansion } from './node-expansion.ts'
import type { VolumeListers, VolumeSources } from './volume-sources.ts'

test('a volume whose new size could not be told is tried again until it can', async () => {
  const clock = testClock()
  const client = new FakeServer()
  const informers = fakeInformers()
  const claims = informers.informer(resources.persistentvolumeclaims).lister
  const volumes = informers.informer(resources.persistentvolumes).lister
  const sources = {
    listers: async () => ({ claims, volumes }) as VolumeListers,
    onClaim: () => {},
  } as unknown as VolumeSources
  const recorder = { record: () => {} } as never
  const options = { client, clock, logger: silentLogger, recorder, sources }
  const expansion = new NodeExpansion(options)
  const claim: PersistentVolumeClaim = client.put(resources.persistentvolumeclaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'ns', name: 'c', uid: 'c-uid' },
    spec: { volumeName: 'v' },
    status: {
      capacity: { storage: '1Gi' },
      conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
    },
  })
  informers.apply(resources.persistentvolumeclaims, claim)
  const volume = client.put(resources.persistentvolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v' },
    spec: { capacity: { storage: '2Gi' } },
  })
  informers.apply(resources.persistentvolumes, volume)
  let refusals = 3
  client.onRequest = ({ verb }) => {
    if (verb === 'patch' && refusals-- > 0) throw statusError(500, 'InternalError')
    return undefined
  }
  const stop = new AbortController()
  expansion.begin(stop.signal)
  expansion.mounted(claim, 'p-uid')
  const capacity = async () =>
    (await client.resource(resources.persistentvolumeclaims, 'ns').get('c')).status?.capacity
  await clock.advance(14_000)
  assert.deepEqual(await capacity(), { storage: '1Gi' })
  await clock.advance(2_000)
  assert.deepEqual(await capacity(), { storage: '2Gi' })
  stop.abort()
})
