/** What a random user does with devices and claims for them. */
import { isTerminating, resources } from '@gyropilot/api'
import {
  deviceClaim,
  deviceTemplate,
  podWithDevice,
  publish,
  TEMPLATE,
} from '../scenarios/nodes/devices.ts'
import { APPS, hasRoom, isUsers, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const MOST_CLAIMS = 8

function hasRoomForClaims(hand: Hand): boolean {
  return hasRoom(hand) && hand.cluster.objects.all(resources.resourceclaims).length < MOST_CLAIMS
}

async function ensureTemplate(hand: Hand, place: string): Promise<void> {
  const { cluster } = hand
  if (cluster.objects.find(resources.resourceclaimtemplates, place, TEMPLATE) !== undefined) return
  await cluster.create(deviceTemplate(place))
}

/**
 * A pod that waits for a device is told of for ever, and a claim that is deleted stays for as long as a pod runs with it:
 * there are devices for all, whole ones, and such pods end.
 */
async function serveAll(hand: Hand): Promise<boolean> {
  const { cluster } = hand
  for (const { metadata } of cluster.objects.all(resources.nodes)) {
    const [known] = cluster.objects
      .all(resources.resourceslices)
      .filter(({ spec }) => spec.nodeName === metadata?.name)
    const count = known?.spec.devices?.length === MOST_CLAIMS ? MOST_CLAIMS + 1 : MOST_CLAIMS
    await publish(cluster, metadata?.name ?? '', count)
  }
  const going = cluster.objects.all(resources.resourceclaims).filter(isTerminating)
  for (const { metadata, status } of going)
    for (const { name } of status?.reservedFor ?? [])
      if (cluster.objects.find(resources.pods, metadata?.namespace, name) !== undefined)
        await cluster.delete(resources.pods, metadata?.namespace, name)
  return true
}

export const deviceOperations: readonly Operation[] = [
  {
    name: 'put devices into a node',
    weight: 0.7,
    async act(hand) {
      const node = hand.pick(hand.cluster.objects.all(resources.nodes))
      if (node === undefined) return false
      await publish(hand.cluster, node.metadata?.name ?? '', hand.number(0, 4))
      return true
    },
  },
  {
    name: 'create a pod with a device of its own',
    weight: 1,
    async act(hand) {
      if (!hasRoomForClaims(hand)) return false
      const namespace = somePlace(hand)
      await ensureTemplate(hand, namespace)
      const run = hand.pick([undefined, '10s', '1m'])
      const given = run === undefined ? { namespace } : { namespace, run }
      await hand.cluster.create(podWithDevice(hand.fresh('gpu'), given))
      return true
    },
  },
  {
    name: 'create a pod that shares a device',
    weight: 1,
    async act(hand) {
      if (!hasRoomForClaims(hand)) return false
      const namespace = somePlace(hand)
      const claim = `shared-${hand.pick(APPS)}`
      if (hand.cluster.objects.find(resources.resourceclaims, namespace, claim) === undefined)
        await hand.cluster.create(deviceClaim(claim, namespace))
      await hand.cluster.create(podWithDevice(hand.fresh('share'), { namespace, claim }))
      return true
    },
  },
  {
    name: 'delete a claim for a device',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.resourceclaims)
      if (target === undefined) return false
      const { namespace, name = '' } = target.metadata ?? {}
      await hand.cluster.delete(resources.resourceclaims, namespace, name)
      return true
    },
  },
  {
    name: 'delete a pod with a device',
    weight: 1,
    async act(hand) {
      const users = hand.cluster.objects
        .all(resources.pods)
        .filter((pod) => isUsers(pod) && (pod.spec?.resourceClaims ?? []).length > 0)
      const target = hand.pick(users)
      if (target === undefined) return false
      const { namespace, name = '' } = target.metadata ?? {}
      await hand.cluster.delete(resources.pods, namespace, name)
      return true
    },
  },
  {
    name: 'taint a device or heal it',
    weight: 0.7,
    async act(hand) {
      const slice = hand.pick(hand.cluster.objects.all(resources.resourceslices))
      const device = hand.pick(slice?.spec.devices ?? [])
      if (slice === undefined || device === undefined) return false
      const { taints: before, ...healed } = device
      const taints = [{ key: 'example.com/bad', effect: 'NoExecute' }]
      const changed = before === undefined ? { ...device, taints } : healed
      const devices = slice.spec.devices?.map((each) => (each === device ? changed : each))
      await hand.cluster.patch(resources.resourceslices, undefined, slice.metadata?.name ?? '', {
        type: 'merge',
        value: { spec: { devices } },
      })
      return true
    },
  },
  { name: 'put devices for all into the nodes', weight: 0.2, tidies: true, act: serveAll },
]
