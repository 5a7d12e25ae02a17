/**
 * What a random user does with PodGroups whose pods share claims for devices, where they are served; some are gangs. The scheduler gives
 * claims of groups no devices, so he gives them devices and their pods nodes himself.
 */
import { POD_GROUPS, isTerminating, podGroupNameOf, resources } from '@gyropilot/api'
import type { Pod, PodGroup, PodResourceClaim, ResourceClaim } from '@gyropilot/api'
import {
  DRIVER,
  TEMPLATE,
  deviceClaim,
  deviceTemplate,
  podWithDevice,
} from '../scenarios/nodes/devices.ts'
import { podGroup } from '../scenarios/pod-groups.ts'
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'
import { APPS, hasRoom, isUsers, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const FINALIZER = 'resource.kubernetes.io/delete-protection'
const MOST_GROUPS = 4
const MOST_PODS = 8

export function arePodGroupsServed({ objects }: SimulatedCluster): boolean {
  const name = `${POD_GROUPS.version}.${POD_GROUPS.group}`
  return objects.find(resources.apiservices, undefined, name) !== undefined
}

const someGroup = (hand: Hand): PodGroup | undefined => some(hand, POD_GROUPS)

async function createGroup(hand: Hand, name: string, place: string): Promise<void> {
  const { cluster } = hand
  const claim = `shared-${hand.pick(APPS)}`
  const entries = hand.pick<readonly PodResourceClaim[]>([
    [{ name: 'gpu', resourceClaimTemplateName: TEMPLATE }],
    [{ name: 'gpu', resourceClaimTemplateName: TEMPLATE }],
    [{ name: 'gpu', resourceClaimName: claim }],
    [],
  ])!
  if (cluster.objects.find(resources.resourceclaimtemplates, place, TEMPLATE) === undefined)
    await cluster.create(deviceTemplate(place))
  if (cluster.objects.find(resources.resourceclaims, place, claim) === undefined)
    await cluster.create(deviceClaim(claim, place))
  const metadata = { name, namespace: place }
  await cluster.client
    .resource(POD_GROUPS, place)
    .create(podGroup(metadata, entries, hand.pick([0, 0, 1, 2, 3])))
}

function podsOfGroups({ cluster }: Hand): readonly Pod[] {
  return cluster.objects
    .all(resources.pods)
    .filter((pod) => isUsers(pod) && pod.spec?.schedulingGroup !== undefined)
}

/** Claims that have no devices yet and that the scheduler will not give any: those of groups and of their pods. */
function waitingClaims(hand: Hand): readonly ResourceClaim[] {
  const users = [...podsOfGroups(hand), ...hand.cluster.objects.all(POD_GROUPS)]
  const named = new Set(
    users.flatMap(({ metadata, spec, status }) => [
      ...(spec?.resourceClaims ?? []).map(
        (each) => `${metadata?.namespace}/${each.resourceClaimName}`,
      ),
      ...(status?.resourceClaimStatuses ?? []).map(
        (each) => `${metadata?.namespace}/${each.resourceClaimName}`,
      ),
    ]),
  )
  return hand.cluster.objects
    .all(resources.resourceclaims)
    .filter(({ status }) => status?.allocation === undefined)
    .filter((claim) => !isTerminating(claim))
    .filter(({ metadata }) => named.has(`${metadata?.namespace}/${metadata?.name}`))
}

/** As a scheduler does it, but for the reservation. */
async function allocate({ cluster, fresh }: Hand, { metadata }: ResourceClaim): Promise<void> {
  const { namespace, name = '', finalizers = [] } = metadata ?? {}
  const result = { request: 'gpu', driver: DRIVER, pool: 'store', device: fresh('gpu') }
  const held = { metadata: { finalizers: [...new Set([...finalizers, FINALIZER])] } }
  const status = { allocation: { devices: { results: [result] } } }
  const patch = (value: object, subresource?: string) =>
    cluster.patch(
      resources.resourceclaims,
      namespace,
      name,
      { type: 'merge', value },
      subresource === undefined ? {} : { subresource },
    )
  await patch(held)
  await patch({ status }, 'status')
}

export const podGroupOperations: readonly Operation[] = [
  {
    name: 'create a PodGroup',
    weight: 4,
    async act(hand) {
      if (hand.cluster.objects.all(POD_GROUPS).length >= MOST_GROUPS) return false
      await createGroup(hand, `group-${hand.pick(APPS)}`, somePlace(hand))
      return true
    },
  },
  {
    name: 'create a pod of a PodGroup',
    weight: 6,
    async act(hand) {
      const { cluster, pick, random } = hand
      if (!hasRoom(hand) || podsOfGroups(hand).length >= MOST_PODS) return false
      const namespace = someGroup(hand)?.metadata?.namespace ?? somePlace(hand)
      const claim = pick([undefined, undefined, `shared-${pick(APPS)}`])
      const run = pick([undefined, '20s', '1m'])
      const node = pick(cluster.objects.all(resources.nodes))
      const pod = podWithDevice(hand.fresh('member'), {
        namespace,
        ...(claim && { claim }),
        ...(run && { run }),
      })
      const given = random.next() < 0.8 ? { nodeName: node?.metadata?.name ?? '' } : {}
      const schedulingGroup = { podGroupName: `group-${pick(APPS)}` }
      await cluster.create({ ...pod, spec: { ...pod.spec!, ...given, schedulingGroup } })
      return true
    },
  },
  {
    name: 'give a claim of a PodGroup its devices',
    weight: 5,
    async act(hand) {
      const claim = hand.pick(waitingClaims(hand))
      if (claim === undefined) return false
      await allocate(hand, claim)
      return true
    },
  },
  {
    name: 'delete a PodGroup, or replace it by its namesake',
    weight: 3,
    async act(hand) {
      const group = someGroup(hand)
      if (group === undefined) return false
      const { namespace = '', name = '' } = group.metadata ?? {}
      await hand.cluster.delete(POD_GROUPS, namespace, name)
      if (hand.random.next() < 0.5) await createGroup(hand, name, namespace)
      return true
    },
  },
  {
    name: 'delete a pod of a PodGroup',
    weight: 2,
    async act(hand) {
      const { namespace, name = '' } = hand.pick(podsOfGroups(hand))?.metadata ?? {}
      if (name === '') return false
      await hand.cluster.delete(resources.pods, namespace, name)
      return true
    },
  },
  {
    // A claim that is deleted stays for as long as a group uses it, and a group for as long as a pod runs; a pod without devices is told
    // of for ever, and one of a gang waits for others that nobody makes.
    name: 'delete PodGroups that keep a claim, pods that keep a PodGroup, and those that wait',
    weight: 0.3,
    tidies: true,
    async act(hand) {
      const { cluster } = hand
      const going = cluster.objects.all(resources.resourceclaims).filter(isTerminating)
      for (const { metadata, status } of going)
        for (const { resource, name } of status?.reservedFor ?? [])
          if (
            resource === 'podgroups' &&
            cluster.objects.find(POD_GROUPS, metadata?.namespace, name)
          )
            await cluster.delete(POD_GROUPS, metadata?.namespace, name)
      const isGoing = (pod: Pod): boolean => {
        const { namespace } = pod.metadata ?? {}
        const group = cluster.objects.find(POD_GROUPS, namespace, podGroupNameOf(pod) ?? '')
        return group !== undefined && isTerminating(group)
      }
      for (const pod of podsOfGroups(hand)) {
        const { metadata, status } = pod
        if (status?.phase === 'Pending' || isGoing(pod))
          await cluster.delete(resources.pods, metadata?.namespace, metadata?.name ?? '')
      }
      return going.length > 0
    },
  },
]
