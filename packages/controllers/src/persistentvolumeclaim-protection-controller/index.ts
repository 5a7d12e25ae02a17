/**
 * persistentvolumeclaim-protection-controller: a claim stays until no scheduled pod uses it.
 * Contract: docs/behaviour/controllers/persistentvolumeclaim-protection-controller.md.
 */
import { keyOf, resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { addPodClaimIndex, podsUsing } from '../volume-support/pod-claims.ts'
import { Batches } from './batches.ts'
import { QUEUE_NAME, SERVICE_ACCOUNT, UNUSED_SINCE_GATE, WORKERS } from './config.ts'
import { reconcile } from './reconcile.ts'
import type { ObservedBatch } from './reconcile.ts'
import { claimWatch, podWatch } from './watches.ts'

type Context = Pick<ControllerContext<ControllersConfiguration>, 'informers' | 'configuration'>

export const persistentVolumeClaimProtectionController: ControllerDescriptor<ControllersConfiguration> =
  {
    name: 'persistentvolumeclaim-protection-controller',
    aliases: ['pvc-protection'],
    enabledByDefault: true,
    serviceAccount: SERVICE_ACCOUNT,
    build: (context) => runKeyedController(persistentVolumeClaimProtectionLogic(context), context),
  }

/** Keys are namespaces: what waits in one is judged together, by one list of its pods. */
export function persistentVolumeClaimProtectionLogic({
  informers,
  configuration,
}: Context): KeyedController<ObservedBatch> {
  const claims = informers.informer(resources.persistentvolumeclaims).lister
  const pods = informers.informer(resources.pods)
  addPodClaimIndex(pods)
  const batches = new Batches()
  const tellsUnused = configuration.featureGates[UNUSED_SINCE_GATE] === true
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    watches: [claimWatch({ batches, tellsUnused }), podWatch({ batches, tellsUnused })],
    observe: (namespace) => ({
      namespace,
      claims: batches.take(namespace).flatMap((name) => claims.get(namespace, name) ?? []),
      podsUsing: (claim) => podsUsing(pods.lister, keyOf(claim)),
    }),
    reconcile: (batch) =>
      reconcile(batch, {
        tellsUnused,
        putBack: ({ metadata }) => batches.add(batch.namespace, metadata?.name ?? ''),
      }),
  }
}
