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

type Context = Pick<
  ControllerContext<ControllersConfiguration>,
  'informers' | 'configuration' | 'clock'
>

export const persistentVolumeClaimProtectionController: ControllerDescriptor<ControllersConfiguration> =
  {
    name: 'persistentvolumeclaim-protection-controller',
    aliases: ['pvc-protection'],
    enabledByDefault: true,
    serviceAccount: SERVICE_ACCOUNT,
    build(context) {
      const wake = (key: string, afterMs: number): void => controller.enqueue({ key, afterMs })
      const logic = persistentVolumeClaimProtectionLogic(context, wake)
      const controller = runKeyedController(logic, context)
      return controller
    },
  }

/** Keys are namespaces: what waits in one is judged together, by one list of its pods. */
export function persistentVolumeClaimProtectionLogic(
  { informers, configuration, clock }: Context,
  wake: (namespace: string, afterMs: number) => void = () => {},
): KeyedController<ObservedBatch> {
  const claims = informers.informer(resources.persistentvolumeclaims).lister
  const pods = informers.informer(resources.pods)
  addPodClaimIndex(pods)
  const batches = new Batches(() => clock.monotonicMs())
  const tellsUnused = configuration.featureGates[UNUSED_SINCE_GATE] === true
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    watches: [claimWatch({ batches, tellsUnused }), podWatch({ batches, tellsUnused })],
    observe: (namespace) => ({
      namespace,
      claims: batches.due(namespace).flatMap((name) => {
        const claim = claims.get(namespace, name)
        if (claim !== undefined) return [claim]
        batches.begin(namespace, name)
        batches.succeeded(namespace, name)
        return []
      }),
      podsUsing: (claim) => podsUsing(pods.lister, keyOf(claim)),
    }),
    reconcile: (batch) => reconcile(batch, { tellsUnused, batches, wake }),
  }
}
