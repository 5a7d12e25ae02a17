/** A collector at work in a live world, and objects that own each other. */
import type { TestContext } from 'node:test'
import { apiVersionOf, resources } from '@gyropilot/api'
import type { ConfigMap, KubernetesObject, OwnerReference, Pod, ResourceType } from '@gyropilot/api'
import { liveWorld } from './live-world.ts'
import type { LiveWorld, LiveWorldOptions } from './live-world.ts'

export const UNKNOWN_UID = '11111111-1111-1111-1111-111111111111'

export async function started(
  t: TestContext,
  running = true,
  options: LiveWorldOptions = {},
): Promise<LiveWorld> {
  const world = await liveWorld(options)
  t.after(() => world.stop())
  if (running) await start(world)
  return world
}

export async function start(world: LiveWorld): Promise<void> {
  world.start()
  await world.clock.advance(1_000)
}

export const metadata = (
  name: string,
  owners: readonly OwnerReference[] = [],
  finalizers: string[] = [],
) => ({
  name,
  namespace: 'default',
  ...(owners.length === 0 ? {} : { ownerReferences: owners }),
  ...(finalizers.length === 0 ? {} : { finalizers }),
})
export const configMap = (...given: Parameters<typeof metadata>): ConfigMap => ({
  metadata: metadata(...given),
})
export const pod = (...given: Parameters<typeof metadata>): Pod => ({
  metadata: metadata(...given),
  spec: { containers: [{ name: 'c', image: 'i' }] },
})
export const controller = (name: string, finalizers: string[] = []) => ({
  metadata: metadata(name, [], finalizers),
  spec: {
    replicas: 0,
    selector: { app: name },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
  },
})

export function refTo(
  type: ResourceType,
  { metadata: of }: KubernetesObject,
  more: Partial<OwnerReference> = {},
): OwnerReference {
  const { name = '', uid = '' } = of ?? {}
  return { apiVersion: apiVersionOf(type), kind: type.kind, name, uid, ...more }
}
export const refToMap = (of: KubernetesObject, more?: Partial<OwnerReference>): OwnerReference =>
  refTo(resources.configmaps, of, more)
export const BLOCKING = { blockOwnerDeletion: true }
export const absentRef = (name: string): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  name,
  uid: UNKNOWN_UID,
})

export async function controllerWithPods(world: LiveWorld, more: Partial<OwnerReference> = {}) {
  const rc = await world.create(resources.replicationcontrollers, controller('rc'))
  const owners = [refTo(resources.replicationcontrollers, rc, more)]
  const pods = [
    await world.create(resources.pods, pod('one', owners)),
    await world.create(resources.pods, pod('two', owners)),
  ]
  await world.clock.advance(100)
  return { rc, pods }
}

export async function existing<T extends KubernetesObject>(
  world: LiveWorld,
  type: ResourceType<T>,
  objects: readonly T[],
): Promise<string[]> {
  const found = await Promise.all(objects.map((object) => world.find(type, object)))
  return found.flatMap((object) => object?.metadata?.name ?? [])
}
