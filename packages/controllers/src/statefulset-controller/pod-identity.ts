/**
 * Which pod of a set is which: names, ordinals, labels and volumes.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Pod identity.
 */
import { resources } from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, StatefulSet } from '@gyropilot/api'
import { podFromTemplate } from '../workload-support/pod-control.ts'

export const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name'
const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index'
/** Holds the whole name of a revision. */
const REVISION_LABEL = 'controller-revision-hash'

const MAX_INT32 = 2 ** 31 - 1

/** The set's name and the ordinal in a pod's name; undefined where it does not end in a number of 32 bits. */
export function nameParts(
  podName: string,
): { readonly setName: string; readonly ordinal: number } | undefined {
  const dash = podName.lastIndexOf('-')
  const digits = podName.slice(dash + 1)
  if (dash === -1 || !/^[0-9]+$/.test(digits) || Number(digits) > MAX_INT32) return undefined
  return { setName: podName.slice(0, dash), ordinal: Number(digits) }
}

/** -1 where there is none. */
export function ordinalOf(pod: Pod): number {
  return nameParts(pod.metadata?.name ?? '')?.ordinal ?? -1
}

/** Whether the pod's name is one of this set's: `<set>-<digits>`. */
export function isNamedBy(set: StatefulSet, pod: Pod): boolean {
  const { name = '' } = pod.metadata ?? {}
  const dash = name.lastIndexOf('-')
  return (
    dash !== -1 &&
    name.slice(0, dash) === set.metadata?.name &&
    /^[0-9]+$/.test(name.slice(dash + 1))
  )
}

function podNameOf(set: StatefulSet, ordinal: number): string {
  return `${set.metadata?.name}-${ordinal}`
}

export function startOrdinal(set: StatefulSet): number {
  return set.spec?.ordinals?.start ?? 0
}

export function isInRange(set: StatefulSet, ordinal: number): boolean {
  const start = startOrdinal(set)
  return ordinal >= start && ordinal < start + (set.spec?.replicas ?? 1)
}

export function claimName(
  template: PersistentVolumeClaim,
  set: StatefulSet,
  ordinal: number,
): string {
  return `${template.metadata?.name}-${set.metadata?.name}-${ordinal}`
}

/** What a claim of this ordinal is made as. */
export function claimFromTemplate(
  template: PersistentVolumeClaim,
  set: StatefulSet,
  ordinal: number,
): PersistentVolumeClaim {
  const { annotations, finalizers, labels } = template.metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(template, set, ordinal),
      namespace: set.metadata?.namespace,
      labels: { ...labels, ...set.spec?.selector.matchLabels },
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    ...(template.spec === undefined ? {} : { spec: template.spec }),
  }
}

/** A pod of this ordinal as it is created: nothing of it exists yet, so its phase is empty. */
export function newPod(
  set: StatefulSet,
  ordinal: number,
  template: PodTemplateSpec,
  revisionName: string,
): Pod {
  const { metadata, spec, ...type } = podFromTemplate(template, set, resources.statefulsets)
  const name = podNameOf(set, ordinal)
  // The domain is the set's, though it has none and the template names one.
  const { subdomain: _, ...own } = spec!
  const pod: Pod = {
    ...type,
    metadata: {
      ...metadata,
      name,
      labels: { ...metadata?.labels, [REVISION_LABEL]: revisionName },
    },
    spec: {
      ...own,
      hostname: name,
      ...(set.spec?.serviceName ? { subdomain: set.spec.serviceName } : {}),
    },
  }
  return withStorage(set, withIdentity(set, pod))
}

export function revisionOf(pod: Pod): string {
  return pod.metadata?.labels?.[REVISION_LABEL] ?? ''
}

/** Name, namespace and the label of the name; the index label is not asked for, older pods lack it. */
export function identityMatches(set: StatefulSet, pod: Pod): boolean {
  const { name, namespace, labels } = pod.metadata ?? {}
  return (
    name === podNameOf(set, ordinalOf(pod)) &&
    namespace === set.metadata?.namespace &&
    labels?.[POD_NAME_LABEL] === name
  )
}

export function withIdentity(set: StatefulSet, pod: Pod): Pod {
  const ordinal = ordinalOf(pod)
  const name = podNameOf(set, ordinal)
  const labels = {
    ...pod.metadata?.labels,
    [POD_NAME_LABEL]: name,
    [POD_INDEX_LABEL]: String(ordinal),
  }
  return { ...pod, metadata: { ...pod.metadata, name, namespace: set.metadata?.namespace, labels } }
}

/** Whether each claim template has its volume in the pod. */
export function storageMatches(set: StatefulSet, pod: Pod): boolean {
  const ordinal = ordinalOf(pod)
  return (set.spec?.volumeClaimTemplates ?? []).every((template) =>
    pod.spec?.volumes?.some(
      (volume) =>
        volume.name === template.metadata?.name &&
        volume.persistentVolumeClaim?.claimName === claimName(template, set, ordinal),
    ),
  )
}

/** Volumes of the claims first, then those of the template that have other names. */
export function withStorage(set: StatefulSet, pod: Pod): Pod {
  const templates = set.spec?.volumeClaimTemplates ?? []
  if (templates.length === 0) return pod
  const ordinal = ordinalOf(pod)
  const claims = templates.map((template) => ({
    name: template.metadata?.name ?? '',
    persistentVolumeClaim: { claimName: claimName(template, set, ordinal) },
  }))
  const names = new Set(claims.map(({ name }) => name))
  const others = (pod.spec?.volumes ?? []).filter(({ name }) => !names.has(name))
  return { ...pod, spec: { ...pod.spec!, volumes: [...claims, ...others] } }
}
