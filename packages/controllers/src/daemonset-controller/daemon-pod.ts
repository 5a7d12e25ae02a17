/**
 * Pods of a DaemonSet: the one that is made for a node, the node one is meant for, and whether it is
 * of the newest template.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Applying creates and deletes, Pods by
 * node, Rolling update.
 */
import { resources } from '@gyropilot/api'
import type { Affinity, DaemonSet, Pod, PodTemplateSpec } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { podFromTemplate } from '../workload-support/pod-control.ts'
import { daemonTolerations } from './tolerations.ts'

/** The bare hash of a template; on revisions and on pods. */
export const HASH_LABEL = 'controller-revision-hash'
const GENERATION_LABEL = 'pod-template-generation'
export const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation'

const NODE_NAME_FIELD = 'metadata.name'
const MAX_INT64 = 2n ** 63n

/** Makes pods for nodes; what all of them share is made once. */
export function podMaker(daemonSet: DaemonSet, hash: string): (nodeName: string) => Pod {
  const template = daemonTemplate(daemonSet, hash)
  const pod = podFromTemplate(template, daemonSet, resources.daemonsets)
  return (nodeName) => ({
    ...pod,
    spec: { ...pod.spec!, affinity: onlyOnNode(template.spec?.affinity, nodeName) },
  })
}

function daemonTemplate({ metadata, spec }: DaemonSet, hash: string): PodTemplateSpec {
  const template = spec?.template ?? {}
  const generation = templateGeneration(metadata?.annotations?.[GENERATION_ANNOTATION])
  const labels = {
    ...template.metadata?.labels,
    ...(generation === undefined ? {} : { [GENERATION_LABEL]: generation }),
    ...(hash === '' ? {} : { [HASH_LABEL]: hash }),
  }
  return {
    metadata: { ...template.metadata, labels },
    spec: { containers: [], ...template.spec, tolerations: daemonTolerations(template.spec) },
  }
}

/** Terms are alternatives, so those of the template have to go: it was they that chose the node. */
function onlyOnNode(affinity: Affinity | undefined, nodeName: string): Affinity {
  const term = {
    matchFields: [{ key: NODE_NAME_FIELD, operator: 'In', values: [nodeName] }],
  } as const
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
    },
  }
}

/** The node a pod is on, or was made for. Undefined: a pod that nobody made for a node. */
export function targetNodeOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    for (const { key, operator, values = [] } of matchFields) {
      if (key !== NODE_NAME_FIELD || operator !== 'In') continue
      return values.length === 1 ? values[0] : undefined
    }
  }
  return undefined
}

/** Whether pods are of the newest template, by their hash or by the number of the template. */
export function isUpdatedTo(daemonSet: DaemonSet, hash: string): (pod: Pod) => boolean {
  const generation = templateGeneration(daemonSet.metadata?.annotations?.[GENERATION_ANNOTATION])
  return ({ metadata }) => {
    const labels = metadata?.labels ?? {}
    if (hash !== '' && labels[HASH_LABEL] === hash) return true
    return generation !== undefined && labels[GENERATION_LABEL] === generation
  }
}

/** A number as Go prints it; undefined where Go would not read one. */
function templateGeneration(text = ''): string | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return value >= -MAX_INT64 && value < MAX_INT64 ? String(value) : undefined
}

/** Which of several pods of a node counts: bound before waiting, then the oldest, then by name. */
export function compareDaemonPods(left: Pod, right: Pod): number {
  return (
    Number(Boolean(right.spec?.nodeName)) - Number(Boolean(left.spec?.nodeName)) ||
    compareStrings(
      left.metadata?.creationTimestamp ?? '',
      right.metadata?.creationTimestamp ?? '',
    ) ||
    compareStrings(left.metadata?.name ?? '', right.metadata?.name ?? '')
  )
}
