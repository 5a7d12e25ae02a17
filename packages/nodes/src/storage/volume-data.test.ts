import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume } from '@gyropilot/api'
import { VolumeData, placeOf, sharedPlaceOf } from './volume-data.ts'

const volume = (spec: PersistentVolume['spec']): PersistentVolume => ({
  metadata: { name: 'v', uid: 'u' },
  spec,
})

test('two volumes of one place show the same files, and those of a node are its own', () => {
  const csi = { driver: 'd', volumeHandle: 'h' }
  const place = (spec: PersistentVolume['spec'], nodeName = 'n1') => placeOf(volume(spec), nodeName)
  assert.equal(place({ csi }), place({ csi, capacity: { storage: '1Gi' } }, 'n2'))
  assert.notEqual(place({ csi }), place({ csi: { ...csi, driver: 'e' } }))
  assert.notEqual(place({ csi }), place({ csi: { ...csi, volumeHandle: 'i' } }))
  assert.equal(place({ hostPath: { path: '/a' } }), place({ local: { path: '/a' } }))
  assert.notEqual(place({ hostPath: { path: '/a' } }), place({ hostPath: { path: '/a' } }, 'n2'))
  const nfs = { server: 's', path: '/a' }
  assert.equal(place({ nfs }), place({ nfs }, 'n2'))
  assert.notEqual(place({ nfs }), place({ nfs: { ...nfs, server: 't' } }))
  assert.equal(place({ fc: {} }), place({ fc: {} }, 'n2'))
})

test('bytes stay until they are destroyed, and there is no end of room', () => {
  const data = new VolumeData()
  data.of('a').set('/x', Buffer.from('1'))
  assert.ok(data.of('a').get('/x'))
  assert.equal(data.of('b').get('/x'), undefined)
  data.destroy('a')
  data.destroy('never')
  assert.equal(data.of('a').get('/x'), undefined)
  assert.throws(() => data.of('a').set('/y', new Uint8Array(65 * 2 ** 20)), /No space left/)
})

test('a volume without a claim lies where a volume behind a claim of the same path does', () => {
  const hostPath = { path: '/a' }
  assert.equal(sharedPlaceOf({ name: 'v', hostPath }, 'n1'), placeOf({ spec: { hostPath } }, 'n1'))
  assert.notEqual(
    sharedPlaceOf({ name: 'v', hostPath }, 'n1'),
    sharedPlaceOf({ name: 'v', hostPath }, 'n2'),
  )
  const nfs = { server: 's', path: '/a' }
  assert.equal(sharedPlaceOf({ name: 'v', nfs }, 'n1'), sharedPlaceOf({ name: 'w', nfs }, 'n2'))
  assert.equal(sharedPlaceOf({ name: 'v', emptyDir: {} }, 'n1'), undefined)
})
