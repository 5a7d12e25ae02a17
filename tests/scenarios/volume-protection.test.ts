/** Claims, volumes and pods' own claims on a whole cluster: what is used stays. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { pod } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 10_000
const SPEC = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'by-hand',
  resources: { requests: { storage: '1Gi' } },
} as const

function volume(): PersistentVolume {
  return {
    metadata: { name: 'disk' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/data' },
      storageClassName: 'by-hand',
    },
  }
}

/** A claim and a volume that are bound to each other. */
async function bound(world: World): Promise<void> {
  await world.of(resources.persistentvolumes).create(volume())
  await world
    .of(resources.persistentvolumeclaims)
    .create({ metadata: { name: 'data' }, spec: SPEC } as PersistentVolumeClaim)
  await world.until('they are bound', 20_000, async () => {
    const claim = await world.find(resources.persistentvolumeclaims, 'data')
    return claim?.status?.phase === 'Bound' ? true : undefined
  })
}

function userOf(claimName: string, name = 'user'): Pod {
  const plain = pod(name)
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }]
  return { ...plain, spec: { ...plain.spec!, volumes } }
}

async function untilGone(world: World, what: 'claim' | 'volume', name: string): Promise<void> {
  const find = () =>
    what === 'claim'
      ? world.find(resources.persistentvolumeclaims, name)
      : world.find(resources.persistentvolumes, name)
  await world.until(`the ${what} is gone`, WITHIN_MS, async () =>
    (await find()) === undefined ? true : undefined,
  )
}

async function untilRunning(world: World, name: string): Promise<Pod> {
  return await world.until(`${name} runs`, WITHIN_MS, async () => {
    const found = await world.find(resources.pods, name)
    return found?.status?.phase === 'Running' ? found : undefined
  })
}

scenario(
  'Given a PVC in use deleted through the API, then it is Terminating until the pod is gone, and new pods using it are not scheduled',
  async (world) => {
    await bound(world)
    await world.of(resources.pods).create(userOf('data'))
    await untilRunning(world, 'user')
    await world.of(resources.persistentvolumeclaims).delete('data')
    await world.advance(5_000)
    const held = await world.find(resources.persistentvolumeclaims, 'data')
    assert.ok(held?.metadata?.deletionTimestamp)
    await world.of(resources.pods).create(userOf('data', 'late'))
    const late = await world.until('the late pod is refused a node', WITHIN_MS, async () =>
      (await world.find(resources.pods, 'late'))?.status?.conditions?.find(
        ({ type }) => type === 'PodScheduled',
      ),
    )
    assert.deepEqual([late.status, late.reason], ['False', 'Unschedulable'])
    await world.of(resources.pods).delete('user', { gracePeriodSeconds: 0 })
    await untilGone(world, 'claim', 'data')
  },
)

scenario(
  'Given a bound PV deleted through the API, then it stays Terminating until the claim is deleted',
  async (world) => {
    await bound(world)
    await world.of(resources.persistentvolumes).delete('disk')
    await world.advance(5_000)
    assert.ok((await world.find(resources.persistentvolumes, 'disk'))?.metadata?.deletionTimestamp)
    await world.of(resources.persistentvolumeclaims).delete('data')
    await untilGone(world, 'claim', 'data')
    await untilGone(world, 'volume', 'disk')
  },
)

scenario('Given an unbound PV deleted, then it disappears at once', async (world) => {
  await world.of(resources.persistentvolumes).create(volume())
  await world.advance(1_000)
  await world.of(resources.persistentvolumes).delete('disk')
  await untilGone(world, 'volume', 'disk')
})

scenario(
  'Given a pod with a generic ephemeral volume, then it runs, and pod deletion removes the PVC',
  async (world) => {
    const plain = pod('p')
    const volumes = [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: SPEC } } }]
    await world.of(resources.pods).create({ ...plain, spec: { ...plain.spec!, volumes } })
    await world.of(resources.persistentvolumes).create(volume())
    const claim = await world.until('the claim is made', WITHIN_MS, () =>
      world.find(resources.persistentvolumeclaims, 'p-scratch'),
    )
    assert.equal(claim.metadata?.ownerReferences?.[0]?.name, 'p')
    await world.advance(60_000)
    await untilRunning(world, 'p')
    await world.of(resources.pods).delete('p')
    await world.until('the claim is collected', 60_000, async () =>
      (await world.find(resources.persistentvolumeclaims, 'p-scratch')) === undefined
        ? true
        : undefined,
    )
  },
)
