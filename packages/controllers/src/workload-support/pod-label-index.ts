/**
 * Pods by their labels, so that what a selector costs is what it selects, and not what its namespace
 * holds.
 */
import type { LabelQuery, LabelRequirement, Pod } from '@gyropilot/api'
import type { IndexFunction, Informer, Lister } from '@gyropilot/runtime'

/** The index of pods by each of their labels, shared by all controllers: `ns/key=value`. */
const POD_LABEL_INDEX = 'podLabel'

export const podLabelIndexValues: IndexFunction<Pod> = ({ metadata }) => {
  const { namespace = '', labels } = metadata ?? {}
  const values: string[] = []
  for (const key in labels) values.push(labelIndexValue(namespace, key, labels[key]!))
  return values
}

/** Registering it again is fine. */
export function addPodLabelIndex(pods: Informer<Pod>): void {
  pods.addIndex(POD_LABEL_INDEX, podLabelIndexValues)
}

export function labelIndexValue(namespace: string, key: string, value: string): string {
  return `${namespace}/${key}=${value}`
}

interface Narrowest {
  readonly requirement: LabelRequirement
  /** How many pods had the label when it was chosen. */
  readonly pods: number
}

/** Which label of a selector fewest pods have; looked for again when it no longer is as rare. */
const narrowest = new WeakMap<LabelQuery, Narrowest>()

/** Twice as many as then, and a few for small numbers, are too many. */
const TOLERATED_GROWTH = 2
const TOLERATED_PODS = 64

/** Pods of the namespace that the query matches, in any phase and in no particular order. */
export function podsMatching(
  pods: Lister<Pod>,
  namespace: string | undefined,
  query: LabelQuery,
): readonly Pod[] {
  if (query.matchesNothing) return []
  return candidates(pods, namespace ?? '', query).filter((pod) =>
    query.matches(pod.metadata?.labels),
  )
}

function candidates(pods: Lister<Pod>, namespace: string, query: LabelQuery): readonly Pod[] {
  const withLabel = ({ key, values }: LabelRequirement): readonly Pod[] =>
    pods.byIndex(POD_LABEL_INDEX, labelIndexValue(namespace, key, values[0]!))
  const known = narrowest.get(query)
  if (known !== undefined) {
    const found = withLabel(known.requirement)
    if (found.length <= TOLERATED_GROWTH * known.pods + TOLERATED_PODS) return found
  }
  let fewest: readonly Pod[] | undefined
  for (const requirement of query.requirements) {
    if (!isOneValue(requirement)) continue
    const found = withLabel(requirement)
    if (fewest !== undefined && fewest.length <= found.length) continue
    fewest = found
    narrowest.set(query, { requirement, pods: found.length })
  }
  return fewest ?? pods.list(namespace)
}

function isOneValue({ operator, values }: LabelRequirement): boolean {
  return values.length === 1 && (operator === '=' || operator === '==' || operator === 'in')
}
