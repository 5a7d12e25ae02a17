/** What operations of a random user have in common: a hand that decides, and a look at the world. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { controllerOf, resources } from '@gyropilot/api'
import type { RandomSource } from '@gyropilot/foundation'
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'

export interface Hand {
  readonly cluster: SimulatedCluster
  readonly random: RandomSource
  /** Undefined of none. */
  pick<T>(values: readonly T[]): T | undefined
  /** In [least, limit). */
  number(least: number, limit: number): number
  /** A name that was never used. */
  fresh(base: string): string
}

export interface Operation {
  readonly name: string
  /** How often, compared with the others. */
  readonly weight: number
  /** Done once more when the user's work is over, so that everything can come to its end. */
  readonly tidies?: boolean
  act(hand: Hand): Promise<boolean>
}

const MOST_PODS = 60
const MOST_WORKLOADS = 10
export const APPS = ['a', 'b', 'c', 'd'] as const
export const NAMESPACES = ['default', 'shop', 'bank'] as const
const POLICIES = ['Background', 'Foreground', 'Orphan'] as const

export function isUsers(object: KubernetesObject): boolean {
  return (NAMESPACES as readonly string[]).includes(object.metadata?.namespace ?? '')
}

export function some<T extends KubernetesObject>(
  { cluster, pick }: Hand,
  type: ResourceType<T>,
): T | undefined {
  return pick(cluster.objects.all(type).filter(isUsers))
}

export function merge<T extends KubernetesObject>(
  { cluster }: Hand,
  type: ResourceType<T>,
  target: T,
  value: object,
): Promise<T> {
  const { namespace: place, name = '' } = target.metadata ?? {}
  return cluster.patch(type, place, name, { type: 'merge', value })
}

export function remove(
  { cluster, pick }: Hand,
  type: ResourceType,
  target: KubernetesObject,
): Promise<KubernetesObject> {
  const { namespace: place, name = '' } = target.metadata ?? {}
  return cluster.delete(type, place, name, { propagationPolicy: pick(POLICIES)! })
}

/** One of the kind goes, in one of the ways in which dependents may. */
export function deletion(name: string, weight: number, type: ResourceType): Operation {
  return {
    name,
    weight,
    async act(hand) {
      const target = some(hand, type)
      if (target === undefined) return false
      await remove(hand, type, target)
      return true
    },
  }
}

/** Namespaces that exist, so that most operations are not refused. */
export function somePlace(hand: Hand): string {
  const present = NAMESPACES.filter((name) =>
    hand.cluster.objects.find(resources.namespaces, undefined, name),
  )
  return hand.pick(present)!
}

export function hasRoom({ cluster }: Hand): boolean {
  const wanted = [
    ...cluster.objects.all(resources.deployments),
    ...cluster.objects.all(resources.statefulsets),
    ...cluster.objects.all(resources.replicationcontrollers),
    ...cluster.objects.all(resources.replicasets).filter((set) => !controllerOf(set)),
  ]
  return wanted.length < MOST_WORKLOADS && cluster.objects.all(resources.pods).length < MOST_PODS
}
