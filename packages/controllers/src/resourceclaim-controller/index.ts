/**
 * resourceclaim-controller: makes the claims of pods' templates and frees those that nobody uses any more.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md.
 */
import { resources } from '@gyropilot/api'
import { LruCache, runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
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
  const caches = { pods: podInformer.lister, claims: claimInformer.lister }
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
  const observePod = (key: string): ObservedPod | undefined => {
    const pod = caches.pods.getByKey(key)
    const { namespace, uid = '' } = pod?.metadata ?? {}
    return (
      pod && {
        kind: 'pod',
        pod,
        claimNamed: (name) => caches.claims.get(namespace, name),
        templateNamed: (name) => templates.get(namespace, name),
        ownClaims: () => claimsMadeFor(caches.claims, uid),
      }
    )
  }
  const observeClaim = (key: string): ObservedClaim | undefined => {
    const claim = caches.claims.getByKey(key)
    return (
      claim && {
        kind: 'claim',
        claim,
        podNamed: (name) => caches.pods.get(claim.metadata?.namespace, name),
        isRememberedGone: (uid) => gone.get(uid) === true,
      }
    )
  }
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
      return kind === 'pod' ? observePod(objectKey) : observeClaim(objectKey)
    },
    reconcile: (observed) =>
      observed.kind === 'pod' ? syncPod(observed, tools) : syncClaim(observed),
  }
}
