/** What is being deleted has gone in the end, but for what something keeps as it should. */
import type { KubernetesObject, PersistentVolume, ServiceCIDR } from '@gyropilot/api'
import { claimNameOf, resources } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'
import { isNeeded } from './service-range-rules.ts'

export function* halfDeleted(objects: Objects): Iterable<string> {
  for (const { object } of objects.everything()) {
    const { deletionTimestamp, finalizers = [], namespace, name } = object.metadata ?? {}
    if (deletionTimestamp === undefined || isKept(object, objects)) continue
    const text = `${object.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
    yield `${text} is being deleted since ${deletionTimestamp} (${finalizers.join(', ') || 'no finalizers'})`
  }
}

function isKept(object: KubernetesObject, objects: Objects): boolean {
  const isForeground = object.metadata?.finalizers?.includes('foregroundDeletion') === true
  return isKeptItself(object, objects) || (isForeground && hasKeptDependent(object, objects))
}

function isKeptItself(object: KubernetesObject, objects: Objects): boolean {
  const { finalizers = [] } = object.metadata ?? {}
  return (
    // A finalizer of the user's own is the user's matter.
    finalizers.some((text) => text.startsWith('example.com/')) ||
    isClaimInUse(object, objects) ||
    isVolumeBound(object, objects) ||
    isRangeNeeded(object, objects)
  )
}

/** Such a claim goes with its last pod; one that has ended counts as well. */
function isClaimInUse({ kind, metadata }: KubernetesObject, objects: Objects): boolean {
  if (kind !== 'PersistentVolumeClaim') return false
  return objects
    .all(resources.pods, metadata?.namespace)
    .filter(({ spec }) => spec?.nodeName !== undefined)
    .some((pod) =>
      (pod.spec?.volumes ?? []).some((volume) => claimNameOf(pod, volume) === metadata?.name),
    )
}

/** Such a volume goes with its claim, also with one that does not name it yet and then cannot any more. */
function isVolumeBound(object: KubernetesObject, objects: Objects): boolean {
  if (object.kind !== 'PersistentVolume') return false
  const { claimRef } = (object as PersistentVolume).spec ?? {}
  return objects
    .all(resources.persistentvolumeclaims, claimRef?.namespace)
    .some(({ metadata, spec }) => {
      const isOther = Boolean(spec?.volumeName) && spec?.volumeName !== object.metadata?.name
      return metadata?.uid === claimRef?.uid && !isOther
    })
}

/** Such a range of Service addresses goes with the last that it alone has. */
function isRangeNeeded(object: KubernetesObject, objects: Objects): boolean {
  return object.kind === 'ServiceCIDR' && isNeeded(object as ServiceCIDR, objects)
}

/** Such an owner goes in the foreground, after its last dependent: a StatefulSet after a claim that somebody else's pod uses. */
function hasKeptDependent({ metadata }: KubernetesObject, objects: Objects): boolean {
  for (const { object } of objects.everything()) {
    const { ownerReferences = [], deletionTimestamp } = object.metadata ?? {}
    const isAwaited = ownerReferences.some(
      ({ uid, blockOwnerDeletion }) => uid === metadata?.uid && blockOwnerDeletion === true,
    )
    const isLeaving = isAwaited && deletionTimestamp !== undefined
    if (isLeaving && isKeptItself(object, objects)) return true
  }
  return false
}
