/** What upstream's tests say of claims for devices, on a whole cluster. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { Pod, ResourceClaim } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const FINALIZER = 'resource.kubernetes.io/delete-protection'
const PODS = 6

function podWith(name: string, spec: Partial<NonNullable<Pod['spec']>>): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', annotations: { 'sim.kubelet/run': '3s' } },
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'c', image: 'busybox:1', resources: { claims: [{ name: 'device' }] } }],
      ...spec,
    },
  }
}

const CLAIM: ResourceClaim = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { name: 'shared', namespace: 'default' },
  spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } },
}

/** As who allocates does it. */
async function allocate(world: World, name: string): Promise<void> {
  const claims = world.of(resources.resourceclaims)
  await claims.patch(name, { type: 'merge', value: { metadata: { finalizers: [FINALIZER] } } })
  const result = { request: 'r', driver: 'd.example', pool: 'node-1', device: 'gpu-0' }
  const allocation = { devices: { results: [result] } }
  await claims.patch(
    name,
    { type: 'merge', value: { status: { allocation } } },
    { subresource: 'status' },
  )
}

const state = async (world: World, name: string) => {
  const { metadata, status } = (await world.find(resources.resourceclaims, name)) ?? {}
  return {
    users: (status?.reservedFor ?? []).map((user) => user.name),
    isAllocated: status?.allocation !== undefined,
    isHeld: metadata?.finalizers?.includes(FINALIZER) === true,
  }
}

scenario(
  'Given many pods sharing one claim one after another, then each gets it.',
  async (world) => {
    await world.of(resources.resourceclaims).create(CLAIM)
    const entry = { name: 'device', resourceClaimName: 'shared' }
    for (let turn = 0; turn < PODS; turn++) {
      await allocate(world, 'shared')
      const name = `user-${turn}`
      const pod = podWith(name, { nodeName: 'node-1', resourceClaims: [entry] })
      await world.of(resources.pods).create(pod)
      await world.until(`${name} has it`, 10_000, async () => {
        const { users } = await state(world, 'shared')
        return users.join() === name ? true : undefined
      })
      await world.until('it is free again', 60_000, async () => {
        const { users, isAllocated, isHeld } = await state(world, 'shared')
        return users.length === 0 && !isAllocated && !isHeld ? true : undefined
      })
      const over = await world.find(resources.pods, name)
      assert.equal(over?.status?.phase, 'Succeeded')
    }
  },
)
