import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasFinalizer, resources, withFinalizer } from '@gyropilot/api'
import type { PersistentVolume, VolumeAttachment } from '@gyropilot/api'
import { silentLogger } from '@gyropilot/foundation'
import { FakeServer, fakeInformers, statusError, testClock } from '@gyropilot/runtime/testing'
import { ATTACHER_FINALIZER, Attacher } from './attacher.ts'
import { DriverBackend } from './driver-backend.ts'
import { DRIVER } from './driver-objects.ts'
import { storageInformers } from './storage-services.ts'

const VOLUME: PersistentVolume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'v' },
  spec: { csi: { driver: DRIVER, volumeHandle: 'v' } },
}

const ATTACHMENT: VolumeAttachment = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name: 'a' },
  spec: { attacher: DRIVER, nodeName: 'n', source: { persistentVolumeName: 'v' } },
}

function world() {
  const clock = testClock()
  const client = new FakeServer()
  const informers = fakeInformers()
  const services = storageInformers(informers)
  const attacher = new Attacher({
    client,
    clock,
    logger: silentLogger,
    recorder: { record: () => {} } as never,
    backend: new DriverBackend(clock),
    informers: services,
  })
  informers.apply(resources.persistentvolumes, client.put(resources.persistentvolumes, VOLUME))
  const stored = () => client.resource(resources.volumeattachments).get('a')
  /** The cache sees what is stored. */
  const seen = (attachment: VolumeAttachment): void => {
    const put = client.put(resources.volumeattachments, attachment)
    informers.apply(resources.volumeattachments, put)
  }
  /** The next read is answered so. */
  const answerOnce = (answer: () => VolumeAttachment): void => {
    client.onRequest = ({ verb, path }) => {
      if (verb !== 'get' || !path.includes('volumeattachments')) return undefined
      client.onRequest = undefined
      return answer()
    }
  }
  const stop = new AbortController()
  void attacher.run(stop.signal)
  return { clock, client, informers, stored, seen, answerOnce, stop }
}

test('a new attachment that a read from the past does not know yet is attached a second later', async () => {
  const { clock, stored, seen, answerOnce, stop } = world()
  answerOnce(() => {
    throw statusError(404, 'NotFound')
  })
  seen(ATTACHMENT)
  await clock.advance(500)
  assert.equal((await stored()).status?.attached, undefined)
  await clock.advance(1_000)
  assert.equal((await stored()).status?.attached, true)
  stop.abort()
})

test('an attachment that goes is detached although a read from the past says that nobody wants it gone', async () => {
  const { clock, client, stored, seen, answerOnce, stop } = world()
  seen(ATTACHMENT)
  await clock.advance(500)
  const attached = await stored()
  assert.ok(attached.status?.attached === true && hasFinalizer(attached, ATTACHER_FINALIZER))
  answerOnce(() => attached)
  const deletionTimestamp = '2026-01-01T00:00:01Z'
  seen({ ...attached, metadata: { ...attached.metadata, deletionTimestamp } })
  await clock.advance(500)
  assert.equal(client.onRequest, undefined)
  assert.equal(hasFinalizer(await stored(), ATTACHER_FINALIZER), true)
  await clock.advance(1_000)
  await assert.rejects(stored(), /not found/, 'with its last finalizer it is gone')
  stop.abort()
})

test('what was done already, and the cache has not seen, is not done again', async () => {
  const { clock, client, informers, stop } = world()
  const old = client.put(resources.volumeattachments, ATTACHMENT)
  client.put(resources.volumeattachments, { ...ATTACHMENT, status: { attached: true } })
  informers.apply(resources.volumeattachments, old)
  await clock.advance(10_000)
  assert.deepEqual(
    client.requests.map(({ verb }) => verb),
    ['get'],
  )
  stop.abort()
})

test('of two nodes that ask for a volume at once one gets it, and the other when it is free', async () => {
  const { clock, client, informers, seen, stop } = world()
  const on = (name: string, nodeName: string): VolumeAttachment => ({
    ...ATTACHMENT,
    metadata: { name, uid: name },
    spec: { ...ATTACHMENT.spec!, nodeName },
  })
  const guarded = client.put(resources.persistentvolumes, withFinalizer(VOLUME, ATTACHER_FINALIZER))
  informers.apply(resources.persistentvolumes, guarded)
  const attachments = client.resource(resources.volumeattachments)
  const attachedTo = async (): Promise<readonly (string | undefined)[]> =>
    (await attachments.list()).items
      .filter(({ status }) => status?.attached === true)
      .map(({ spec }) => spec?.nodeName)
  seen(on('a', 'n'))
  seen(on('b', 'm'))
  await clock.advance(500)
  assert.deepEqual(await attachedTo(), ['n'])
  const { status } = await attachments.get('b')
  assert.match(status?.attachError?.message ?? '', /volume v is attached to node n$/)

  const first = await attachments.get('a')
  const deletionTimestamp = '2026-01-01T00:00:01Z'
  seen({ ...first, metadata: { ...first.metadata, deletionTimestamp } })
  await clock.advance(500)
  client.remove(resources.volumeattachments, first)
  informers.remove(resources.volumeattachments, first)
  await clock.advance(60_000)
  assert.deepEqual(await attachedTo(), ['m'])
  stop.abort()
})
