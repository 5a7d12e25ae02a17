/** What DaemonSets must have come to. Written from their page, not from their controller. */
import type { DaemonSet, Node, Pod } from '@gyropilot/api'
import {
  controllerOf,
  deepEqual,
  isPodFinished,
  isPodReady,
  isTaintTolerated,
  isTerminating,
  nodeAffinityMatches,
  resources,
} from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

/** What every daemon pod tolerates. */
const TOLERATIONS = [
  'not-ready',
  'unreachable',
  'disk-pressure',
  'memory-pressure',
  'pid-pressure',
  'unschedulable',
].map((key) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists' }) as const)
const HASH_LABEL = 'controller-revision-hash'
const GENERATION_LABEL = 'pod-template-generation'
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation'

export function* daemonSets(objects: Objects): Iterable<string> {
  const nodes = objects.all(resources.nodes)
  for (const daemonSet of objects.all(resources.daemonsets)) {
    if (isTerminating(daemonSet)) continue
    const { namespace, name, uid } = daemonSet.metadata ?? {}
    const text = `DaemonSet ${namespace}/${name}`
    const own = objects
      .all(resources.pods, namespace)
      .filter((pod) => controllerOf(pod)?.uid === uid && !isTerminating(pod) && !isPodFinished(pod))
    const wanted = nodes.filter((node) => runsOn(daemonSet, node))
    yield* placement(text, own, nodes, wanted)
    yield* templates(text, daemonSet, own, objects)
    yield* counts(text, daemonSet, own, wanted)
  }
}

/** The taints of the world are free again in the end, but for those that a node has by itself. */
function runsOn({ spec }: DaemonSet, node: Node): boolean {
  const tolerations = [...TOLERATIONS, ...(spec?.template.spec?.tolerations ?? [])]
  return (
    nodeAffinityMatches(spec?.template.spec, node) &&
    (node.spec?.taints ?? []).every(
      (taint) => taint.effect === 'PreferNoSchedule' || isTaintTolerated(tolerations, taint),
    )
  )
}

function* placement(
  text: string,
  pods: readonly Pod[],
  nodes: readonly Node[],
  wanted: readonly Node[],
): Iterable<string> {
  for (const { metadata } of nodes) {
    const here = pods.filter(({ spec }) => spec?.nodeName === metadata?.name)
    const count = wanted.some((node) => node.metadata?.name === metadata?.name) ? 1 : 0
    if (here.length !== count)
      yield `${text} has ${here.length} pods on ${metadata?.name} and not ${count}`
  }
  const lost = pods.filter(
    ({ spec }) => !nodes.some(({ metadata }) => metadata?.name === spec?.nodeName),
  )
  if (lost.length > 0) yield `${text} has ${lost.length} pods on no node`
}

function* templates(
  text: string,
  { metadata, spec }: DaemonSet,
  pods: readonly Pod[],
  objects: Objects,
): Iterable<string> {
  const history = objects
    .all(resources.controllerrevisions, metadata?.namespace)
    .filter((revision) => controllerOf(revision)?.uid === metadata?.uid)
  const isCurrent = ({ data }: (typeof history)[number]): boolean => {
    const { spec: kept } = data as unknown as { spec: { template: { $patch?: string } } }
    const { $patch: _, ...template } = kept.template
    return deepEqual(template, spec?.template)
  }
  const current = history.filter(isCurrent)
  if (current.length !== 1) yield `${text} has ${current.length} revisions of its template`
  const newest = Math.max(...history.map(({ revision }) => revision))
  if (current[0]?.revision !== newest)
    yield `the newest revision of ${text} is not that of its template`
  const used = new Set(pods.map((pod) => pod.metadata?.labels?.[HASH_LABEL]))
  const idle = history.filter(
    (revision) => !isCurrent(revision) && !used.has(revision.metadata?.labels?.[HASH_LABEL]),
  )
  const limit = spec?.revisionHistoryLimit ?? 10
  if (idle.length > limit) yield `${text} keeps ${idle.length} old revisions, at most ${limit}`
  if (spec?.updateStrategy?.type === 'OnDelete') return
  const hash = current[0]?.metadata?.labels?.[HASH_LABEL]
  const generation = metadata?.annotations?.[GENERATION_ANNOTATION]
  // Pods of a namesake of the same generation are taken over as they are.
  const old = pods.filter(
    ({ metadata: { labels } = {} }) =>
      labels?.[HASH_LABEL] !== hash && labels?.[GENERATION_LABEL] !== generation,
  )
  if (old.length > 0 && pods.every(isPodReady))
    yield `${text} has ${old.length} pods of old templates`
}

function* counts(
  text: string,
  { status }: DaemonSet,
  pods: readonly Pod[],
  wanted: readonly Node[],
): Iterable<string> {
  if (status?.desiredNumberScheduled !== wanted.length)
    yield `the status of ${text} says ${status?.desiredNumberScheduled} nodes, there are ${wanted.length}`
  const ready = pods.filter(isPodReady).length
  if (status?.numberReady !== ready)
    yield `the status of ${text} says ${status?.numberReady} ready pods, there are ${ready}`
}
