/**
 * What every daemon pod tolerates besides what its template says: it belongs on a node also when the
 * node is in trouble.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Tolerations added to every daemon pod.
 */
import type { PodSpec, Toleration } from '@gyropilot/api'

function anyValue(key: string, effect: 'NoExecute' | 'NoSchedule'): Toleration {
  return { key: `node.kubernetes.io/${key}`, operator: 'Exists', effect }
}

const ALWAYS: readonly Toleration[] = [
  anyValue('not-ready', 'NoExecute'),
  anyValue('unreachable', 'NoExecute'),
  anyValue('disk-pressure', 'NoSchedule'),
  anyValue('memory-pressure', 'NoSchedule'),
  anyValue('pid-pressure', 'NoSchedule'),
  anyValue('unschedulable', 'NoSchedule'),
]
const WITH_HOST_NETWORK = anyValue('network-unavailable', 'NoSchedule')

export function daemonTolerations(spec: PodSpec | undefined): readonly Toleration[] {
  const added = spec?.hostNetwork === true ? [...ALWAYS, WITH_HOST_NETWORK] : ALWAYS
  return added.reduce(withToleration, spec?.tolerations ?? [])
}

/** In the place of one that says the same for a limited time, otherwise at the end. */
function withToleration(known: readonly Toleration[], added: Toleration): readonly Toleration[] {
  if (!known.some((each) => isSame(each, added))) return [...known, added]
  return known.map((each) => (isSame(each, added) ? added : each))
}

/** The seconds of a toleration do not count. */
function isSame(left: Toleration, right: Toleration): boolean {
  return (
    left.key === right.key &&
    left.operator === right.operator &&
    left.effect === right.effect &&
    (left.value ?? '') === (right.value ?? '')
  )
}
