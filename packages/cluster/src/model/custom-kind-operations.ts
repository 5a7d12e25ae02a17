/** What a random user does with a kind of his own: its objects own each other and others, and wait for his finalizer. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { findCondition, resources } from '@gyropilot/api'
import { definitionOf } from '@gyropilot/runtime'
import { configMap } from '../scenarios/objects.ts'
import { isHeldBy, lettingGo } from './holding.ts'
import { isUsers, merge, remove, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const GADGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'gadgets',
  kind: 'Gadget',
  namespaced: true,
}
const API_VERSION = 'example.com/v1'
const FINALIZER = 'example.com/gadget'
const MOST = 12

function definition({ cluster }: Hand) {
  return cluster.objects.find(
    resources.customresourcedefinitions,
    undefined,
    `${GADGETS.resource}.${GADGETS.group}`,
  )
}

function isServed(hand: Hand): boolean {
  const conditions = definition(hand)?.status?.conditions
  return findCondition(conditions, 'Established')?.status === 'True'
}

function gadgets({ cluster }: Hand, place?: string): readonly KubernetesObject[] {
  return cluster.objects
    .all(GADGETS, place)
    .filter(isUsers)
    .map((found) => ({ ...found, apiVersion: API_VERSION, kind: GADGETS.kind }))
}

export const customKindOperations: readonly Operation[] = [
  {
    name: 'bring a kind of his own',
    weight: 1,
    async act(hand) {
      if (definition(hand) !== undefined) return false
      const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
      await hand.cluster.create(definitionOf(GADGETS, { schema, statusSubresource: false }))
      return true
    },
  },
  {
    name: 'create an object of his own kind',
    weight: 3,
    async act(hand) {
      const { cluster, pick, random } = hand
      if (!isServed(hand) || gadgets(hand).length >= MOST) return false
      const namespace = somePlace(hand)
      const maps = cluster.objects.all(resources.configmaps, namespace).filter(isUsers)
      const map = pick(maps)
      const owner = pick([
        pick(gadgets(hand, namespace)),
        map && { ...map, apiVersion: 'v1', kind: 'ConfigMap' },
        undefined,
      ])
      const blocks = random.next() < 0.5
      const { metadata } = configMap(hand.fresh('gadget'), owner === undefined ? [] : [owner], {
        namespace,
        blocks,
      })
      const finalizers = random.next() < 0.3 ? [FINALIZER] : []
      const gadget = { apiVersion: API_VERSION, kind: GADGETS.kind, spec: { size: 1 } }
      const made = { ...gadget, metadata: { ...metadata, finalizers } } as KubernetesObject
      await cluster.client.resource(GADGETS, namespace).create(made)
      return true
    },
  },
  {
    name: 'create an object that belongs to one of his own kind',
    weight: 3,
    async act(hand) {
      const owner = hand.pick(gadgets(hand))
      if (owner === undefined || gadgets(hand).length >= MOST) return false
      const given = { namespace: owner.metadata?.namespace ?? '', blocks: hand.random.next() < 0.5 }
      await hand.cluster.create(configMap(hand.fresh('owned'), [owner], given))
      return true
    },
  },
  {
    name: 'change an object of his own kind',
    weight: 1,
    async act(hand) {
      const target = hand.pick(gadgets(hand))
      if (target === undefined) return false
      const next = hand.pick(gadgets(hand, target.metadata?.namespace))
      const isItself = next?.metadata?.uid === target.metadata?.uid
      const owners = configMap('any', next === undefined || isItself ? [] : [next]).metadata
      const ownerReferences = owners?.ownerReferences ?? null
      const change = hand.pick([{ spec: { size: 2 } }, { metadata: { ownerReferences } }])!
      await merge(hand, GADGETS, target, change)
      return true
    },
  },
  {
    name: 'delete an object of his own kind',
    weight: 2,
    async act(hand) {
      const target = hand.pick(gadgets(hand))
      if (target === undefined) return false
      await remove(hand, GADGETS, target)
      return true
    },
  },
  ...lettingGo(
    {
      finalizer: FINALIZER,
      held: (hand) => gadgets(hand).filter(isHeldBy(FINALIZER)),
      typeOf: () => GADGETS,
    },
    { name: 'let go an object of his own kind', weight: 1 },
    { name: 'let go all objects of his own kind' },
  ),
]
