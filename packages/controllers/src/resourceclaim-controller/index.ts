/**
 * resourceclaim-controller: makes the claims of the templates that pods and PodGroups name, and frees those that nobody uses any more.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md.
 */
import { POD_GROUPS, isPodFinished, resources } from '@gyropilot/api'
import type { ClaimUser, ResourceClaimTemplate } from '@gyropilot/api'
import { LruCache, runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  Lister,
} from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { SHARED_CLAIMS_GATE } from '../workload-support/group-pod-index.ts'
import { sharingGroupOf } from './claim-users.ts'
import type { ObservedUser, UserType } from './claim-users.ts'
import { EVENT_COMPONENT, GONE_USERS_MAX, QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'
import { parseKey } from './keys.ts'
import { claimsMetric, creationMetrics } from './metrics.ts'
import { OwnCreates } from './own-creates.ts'
import { syncClaim } from './sync-claim.ts'
import type { ObservedClaim } from './sync-claim.ts'
import { syncGroup } from './sync-group.ts'
import type { ObservedGroup } from './sync-group.ts'
import { syncPod } from './sync-pod.ts'
import type { ObservedPod } from './sync-pod.ts'
import type { ClaimTools } from './user-claims.ts'
import { addIndexes, claimsMadeFor } from './user-indexes.ts'
import { claimWatch, groupWatch, podWatch, templateWatch } from './watches.ts'
import type { Caches, Witness } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>
type Observed = ObservedPod | ObservedGroup | ObservedClaim

export const resourceClaimController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'resourceclaim-controller',
  aliases: ['resource-claim-controller'],
  enabledByDefault: true,
  featureGates: ['DynamicResourceAllocation'],
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(resourceClaimLogic(context), context),
}

export function resourceClaimLogic({
  informers,
  configuration,
  metrics,
}: Pick<Context, 'informers' | 'configuration' | 'metrics'>): KeyedController<Observed> {
  const podInformer = informers.informer(resources.pods)
  const claimInformer = informers.informer(resources.resourceclaims)
  const templates = informers.informer(resources.resourceclaimtemplates).lister
  // An alpha gate: without it no informer may ask for what is not served.
  const sharesClaims = featureEnabled(configuration, SHARED_CLAIMS_GATE, false)
  const groupInformer = sharesClaims ? informers.informer(POD_GROUPS) : undefined
  addIndexes(podInformer, claimInformer, groupInformer)
  const caches: ReadCaches = {
    pods: podInformer.lister,
    claims: claimInformer.lister,
    groups: groupInformer?.lister,
    templates,
  }
  const gone = new LruCache<true>(GONE_USERS_MAX)
  const ownCreates = new OwnCreates()
  const witness: Witness = {
    userGone(uid) {
      gone.set(uid, true)
      ownCreates.userGone(uid)
    },
    claimSeen: (key) => ownCreates.forget(key),
  }
  const tools: ClaimTools = {
    gates: {
      adminAccess: featureEnabled(configuration, 'DRAAdminAccess'),
      prioritizedList: featureEnabled(configuration, 'DRAPrioritizedList'),
    },
    ownCreates,
    onCreated: creationMetrics(metrics),
  }
  claimsMetric(metrics, () => caches.claims.list())
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: configuration.resourceClaim.concurrentSyncs,
    staleGuard: {
      informers: [claimInformer],
      ownerUid: (observed) =>
        (observed.kind === 'claim' ? observed.claim : observed.user).metadata?.uid ?? '',
    },
    watches: [
      podWatch(caches, witness),
      ...(sharesClaims ? [groupWatch(caches, witness)] : []),
      claimWatch(caches, witness),
      templateWatch(caches),
    ],
    observe(key) {
      const { kind, objectKey } = parseKey(key)
      if (kind === 'pod') return observePod(objectKey, caches)
      if (kind === 'podgroup') return observeGroup(objectKey, caches)
      return observeClaim(objectKey, caches, (uid) => gone.get(uid) === true)
    },
    reconcile(observed) {
      if (observed.kind === 'pod') return syncPod(observed, tools)
      return observed.kind === 'podgroup' ? syncGroup(observed, tools) : syncClaim(observed)
    },
  }
}

interface ReadCaches extends Caches {
  readonly templates: Lister<ResourceClaimTemplate>
}

function observePod(key: string, caches: ReadCaches): ObservedPod | undefined {
  const pod = caches.pods.getByKey(key)
  return (
    pod && {
      kind: 'pod',
      ...observeUser(resources.pods, pod, caches),
      user: pod,
      isOver: isPodFinished(pod),
      group: sharingGroupOf(pod, caches.groups),
    }
  )
}

function observeGroup(key: string, caches: ReadCaches): ObservedGroup | undefined {
  const group = caches.groups?.getByKey(key)
  return (
    group && {
      kind: 'podgroup',
      ...observeUser(POD_GROUPS, group, caches),
      user: group,
      isOver: false,
    }
  )
}

function observeUser(
  type: UserType,
  { metadata: { namespace, uid = '' } = {} }: ClaimUser,
  { claims, templates }: ReadCaches,
): Omit<ObservedUser, 'user' | 'isOver'> {
  return {
    type,
    claimNamed: (name) => claims.get(namespace, name),
    templateNamed: (name) => templates.get(namespace, name),
    ownClaims: () => claimsMadeFor(claims, uid),
  }
}

function observeClaim(
  key: string,
  { pods, groups, claims }: Caches,
  isRememberedGone: (uid: string) => boolean,
): ObservedClaim | undefined {
  const claim = claims.getByKey(key)
  if (claim === undefined) return undefined
  const usersOf = (type: UserType): ObservedUsers => {
    const cached: Lister<ClaimUser> | undefined = type === POD_GROUPS ? groups : pods
    return cached && ((name) => cached.get(claim.metadata?.namespace, name))
  }
  return { kind: 'claim', claim, usersOf, isRememberedGone }
}

type ObservedUsers = ReturnType<ObservedClaim['usersOf']>
