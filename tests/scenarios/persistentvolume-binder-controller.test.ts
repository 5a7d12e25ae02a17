/** Claims and volumes on a whole cluster, with the controllers that protect and use them. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 20_000

function volume(name: string, spec: PersistentVolume['spec'] = {}): PersistentVolume {
  return {
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/data' },
      storageClassName: 'by-hand',
      ...spec,
    },
  }
}

function claim(name: string, spec: PersistentVolumeClaim['spec'] = {}): PersistentVolumeClaim {
  return {
    metadata: { name, namespace: 'default' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'by-hand',
      resources: { requests: { storage: '1Gi' } },
      ...spec,
    },
  }
}

async function untilVolume(world: World, phase: string, name = 'disk'): Promise<PersistentVolume> {
  return await world.until(`volume ${name} is ${phase}`, WITHIN_MS, async () => {
    const found = await world.find(resources.persistentvolumes, name)
    return found?.status?.phase === phase ? found : undefined
  })
}

async function untilClaim(
  world: World,
  phase: string,
  name = 'data',
): Promise<PersistentVolumeClaim> {
  return await world.until(`claim ${name} is ${phase}`, WITHIN_MS, async () => {
    const found = await world.find(resources.persistentvolumeclaims, name)
    return found?.status?.phase === phase ? found : undefined
  })
}

scenario('Given a full life cycle through the API, then each phase is seen.', async (world) => {
  const volumes = world.of(resources.persistentvolumes)
  const claims = world.of(resources.persistentvolumeclaims)
  await volumes.create(volume('disk', { persistentVolumeReclaimPolicy: 'Retain' }))
  await untilVolume(world, 'Available')
  await claims.create(claim('data'))
  const bound = await untilClaim(world, 'Bound')
  assert.equal(bound.spec?.volumeName, 'disk')
  assert.deepEqual(bound.status?.capacity, { storage: '1Gi' })
  await untilVolume(world, 'Bound')
  await claims.delete('data')
  const released = await untilVolume(world, 'Released')
  assert.equal(released.spec?.claimRef?.uid, bound.metadata?.uid)
  // What is kept is given to nobody until somebody says so.
  await claims.create(claim('data'))
  await world.advance(20_000)
  await untilClaim(world, 'Pending')
  await volumes.patch('disk', { type: 'merge', value: { spec: { claimRef: null } } })
  await untilClaim(world, 'Bound')
  await volumes.delete('disk')
  await claims.delete('data')
  await world.until('the volume is gone', WITHIN_MS, async () =>
    (await world.find(resources.persistentvolumes, 'disk')) === undefined ? true : undefined,
  )
})

scenario('a manager that dies while it binds leaves nothing half bound', async (world) => {
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) await world.of(resources.persistentvolumes).create(volume(`v-${name}`))
  for (const name of names) await untilVolume(world, 'Available', `v-${name}`)
  for (const name of names) await world.of(resources.persistentvolumeclaims).create(claim(name))
  world.restartManager()
  for (const name of names) await untilClaim(world, 'Bound', name)
  const taken = await world.list(resources.persistentvolumeclaims)
  assert.equal(new Set(taken.map(({ spec }) => spec?.volumeName)).size, names.length)
  for (const { metadata, spec } of taken) {
    const partner = await untilVolume(world, 'Bound', spec?.volumeName)
    assert.equal(partner.spec?.claimRef?.uid, metadata?.uid)
  }
})

scenario(
  'a claim that waits long gets the default class when there is one, and its volume',
  async (world) => {
    const waiting = claim('data', { storageClassName: undefined })
    await world.of(resources.persistentvolumeclaims).create(waiting)
    await world.advance(60_000)
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
    await world.of(resources.storageclasses).create({
      metadata: { name: 'by-hand', annotations },
      provisioner: 'example.com/disk',
    })
    const asked = await world.until('the provisioner is asked', 40_000, async () => {
      const found = await world.find(resources.persistentvolumeclaims, 'data')
      return found?.metadata?.annotations?.['volume.kubernetes.io/storage-provisioner']
        ? found
        : undefined
    })
    assert.equal(asked.spec?.storageClassName, 'by-hand')
    // What an external provisioner does.
    const { namespace, name, uid } = asked.metadata ?? {}
    const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid }
    await world.of(resources.persistentvolumes).create(volume('disk', { claimRef }))
    await untilClaim(world, 'Bound')
    await untilVolume(world, 'Bound')
  },
  { storage: false },
)
