/**
 * What the claims of a pod mean for where it can go. Volumes that wait for their first consumer are not chosen here yet: such
 * a claim keeps its pod from no node. Contract: docs/behaviour/simulation/scheduler.md, Volumes. Pure.
 */
import { nodeTermMatches } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'
import type { NodeFilter } from './filters/index.ts'

export interface ClaimListers {
  readonly claims: Pick<Lister<PersistentVolumeClaim>, 'get'>
  readonly volumes: Pick<Lister<PersistentVolume>, 'get'>
  readonly classes: Pick<Lister<StorageClass>, 'get'>
}

const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed'
const NONE: readonly string[] = []

interface ClaimUse {
  readonly name: string
  readonly claim: PersistentVolumeClaim | undefined
  /** Made by the ephemeral volume controller for this pod alone. */
  readonly isEphemeral: boolean
}

function claimsOf(pod: Pod, { claims }: ClaimListers): readonly ClaimUse[] {
  const { name: podName, namespace } = pod.metadata ?? {}
  const uses: ClaimUse[] = []
  for (const volume of pod.spec?.volumes ?? []) {
    const isEphemeral = volume.ephemeral !== undefined
    const name = isEphemeral ? `${podName}-${volume.name}` : volume.persistentVolumeClaim?.claimName
    if (name !== undefined) uses.push({ name, claim: claims.get(namespace, name), isEphemeral })
  }
  return uses
}

/** Why no node at all can take the pod yet. */
export function claimProblem(pod: Pod, listers: ClaimListers): string | undefined {
  for (const { name, claim, isEphemeral } of claimsOf(pod, listers)) {
    const quoted = `persistentvolumeclaim ${JSON.stringify(name)}`
    if (claim === undefined)
      return isEphemeral
        ? `waiting for ephemeral volume controller to create the ${quoted}`
        : `${quoted} not found`
    if (claim.status?.phase === 'Lost')
      return `${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? '')}`
    if (claim.metadata?.deletionTimestamp !== undefined) return `${quoted} is being deleted`
    if (!isBound(claim) && !waitsForConsumer(claim, listers))
      return 'pod has unbound immediate PersistentVolumeClaims'
  }
  return undefined
}

/** Nodes that cannot take the pod, because of the volumes that its claims are bound to. Undefined: any can. */
export function volumeFilter(pod: Pod, listers: ClaimListers): NodeFilter | undefined {
  const bound = claimsOf(pod, listers).flatMap(({ claim }) =>
    claim === undefined || !isBound(claim) ? [] : [claim.spec?.volumeName ?? ''],
  )
  if (bound.length === 0) return undefined
  const volumes = bound.map((name) => listers.volumes.get(undefined, name))
  return ({ node }) => {
    for (const volume of volumes) {
      if (volume === undefined)
        return ['node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)']
      const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms
      if (terms !== undefined && !terms.some((term) => nodeTermMatches(term, node!)))
        return ["node(s) didn't match PersistentVolume's node affinity"]
    }
    return NONE
  }
}

function isBound({ metadata, spec }: PersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName) && metadata?.annotations?.[BIND_COMPLETED] !== undefined
}

function waitsForConsumer({ spec }: PersistentVolumeClaim, { classes }: ClaimListers): boolean {
  const storageClass = classes.get(undefined, spec?.storageClassName ?? '')
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
}
