/**
 * resourceclaim-controller: makes the claims of pods' templates and frees those that nobody uses any more.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { Pod, ResourceClaim, ResourceClaimTemplate } from '@gyropilot/api'
import { LruCache, runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  Lister,
} from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { EVENT_COMPONENT, GONE_PODS_MAX, QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'
import { parseKey } from './keys.ts'
import { claimsMetric, creationMetrics } from './metrics.ts'
import { OwnCreates } from './own-creates.ts'
import { addIndexes, claimsMadeFor } from './pod-indexes.ts'
import { syncClaim } from './sync-claim.ts'
import type { ObservedClaim } from './sync-claim.ts'
import { syncPod } from './sync-pod.ts'
import type { ObservedPod, PodTools } from './sync-pod.ts'
import { claimWatch, podWatch, templateWatch } from './watches.ts'
import type { Witness } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

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
}: Pick<Context, 'informers' | 'configuration' | 'metrics'>): KeyedController<
  ObservedPod | ObservedClaim
> {
  const podInformer = informers.informer(resources.pods)
  const claimInformer = informers.informer(resources.resourceclaims)
  const templates = informers.informer(resources.resourceclaimtemplates).lister
  addIndexes(podInformer, claimInformer)
  const caches = { pods: podInformer.lister, claims: claimInformer.lister, templates }
  const gone = new LruCache<true>(GONE_PODS_MAX)
  const ownCreates = new OwnCreates()
  const witness: Witness = {
    podGone(uid) {
      gone.set(uid, true)
      ownCreates.podGone(uid)
    },
    claimSeen: (key) => ownCreates.forget(key),
  }
  const tools: PodTools = {
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
        (observed.kind === 'pod' ? observed.pod : observed.claim).metadata?.uid ?? '',
    },
    watches: [podWatch(caches, witness), claimWatch(caches, witness), templateWatch(caches)],
    observe(key) {
      const { kind, objectKey } = parseKey(key)
      return kind === 'pod'
        ? observePod(objectKey, caches)
        : observeClaim(objectKey, caches, (uid) => gone.get(uid) === true)
    },
    reconcile: (observed) =>
      observed.kind === 'pod' ? syncPod(observed, tools) : syncClaim(observed),
  }
}

interface Caches {
  readonly pods: Lister<Pod>
  readonly claims: Lister<ResourceClaim>
  readonly templates: Lister<ResourceClaimTemplate>
}

function observePod(key: string, { pods, claims, templates }: Caches): ObservedPod | undefined {
  const pod = pods.getByKey(key)
  const { namespace, uid = '' } = pod?.metadata ?? {}
  return (
    pod && {
      kind: 'pod',
      pod,
      claimNamed: (name) => claims.get(namespace, name),
      templateNamed: (name) => templates.get(namespace, name),
      ownClaims: () => claimsMadeFor(claims, uid),
    }
  )
}

function observeClaim(
  key: string,
  { pods, claims }: Caches,
  isRememberedGone: (uid: string) => boolean,
): ObservedClaim | undefined {
  const claim = claims.getByKey(key)
  return (
    claim && {
      kind: 'claim',
      claim,
      podNamed: (name) => pods.get(claim.metadata?.namespace, name),
      isRememberedGone,
    }
  )
}
