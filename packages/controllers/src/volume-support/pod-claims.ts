/**
 * The claims that pods use, by name and by volumes of their own.
 * Contract: docs/behaviour/controllers/persistentvolumeclaim-protection-controller.md, Watches and keys.
 */
import { claimNameOf } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import type { IndexFunction, Informer, Lister } from '@gyropilot/runtime'

const POD_CLAIM_INDEX = 'podClaim'

/** `namespace/name` of every claim that the pod takes. */
export const claimKeysOf: IndexFunction<Pod> = (pod) =>
  (pod.spec?.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod, volume)
    return name === undefined ? [] : [`${pod.metadata?.namespace}/${name}`]
  })

/** Registers the index that `podsUsing` asks; registering it again is fine. */
export function addPodClaimIndex(pods: Informer<Pod>): void {
  pods.addIndex(POD_CLAIM_INDEX, claimKeysOf)
}

/** Pods that take the claim `namespace/name`, whatever state they are in. */
export function podsUsing(pods: Lister<Pod>, claimKey: string): readonly Pod[] {
  return pods.byIndex(POD_CLAIM_INDEX, claimKey)
}
