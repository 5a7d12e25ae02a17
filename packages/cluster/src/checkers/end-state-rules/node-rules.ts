/** What nodes must have come to. Written from the page of node-lifecycle-controller, not from the controller. */
import type { Node } from '@gyropilot/api'
import { findCondition, resources } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

const PREFIX = 'node.kubernetes.io/'
const PRESSURES = [
  ['MemoryPressure', 'memory-pressure'],
  ['DiskPressure', 'disk-pressure'],
  ['PIDPressure', 'pid-pressure'],
  ['NetworkUnavailable', 'network-unavailable'],
] as const

const OWN: ReadonlySet<string> = new Set([
  'not-ready',
  'unreachable',
  'unschedulable',
  ...PRESSURES.map(([, key]) => key),
])

export function* nodeTaints(objects: Objects): Iterable<string> {
  for (const node of objects.all(resources.nodes)) {
    const wanted = wantedTaints(node)
    const { name } = node.metadata ?? {}
    const taintKeys = (effect: string): readonly string[] =>
      (node.spec?.taints ?? [])
        .filter((taint) => taint.effect === effect && taint.key.startsWith(PREFIX))
        .map(({ key }) => key.slice(PREFIX.length))
        .filter((key) => OWN.has(key))
        .toSorted()
    const present = taintKeys('NoSchedule')
    if (present.join() !== wanted.join())
      yield `Node ${name} has the taints ${present.join()} and not ${wanted.join()}`
    const evicting = taintKeys('NoExecute').filter((key) => !wanted.includes(key))
    if (evicting.length > 0) yield `Node ${name} drives pods out by ${evicting.join()}`
  }
}

/** Of effect NoSchedule, without their prefix, sorted. */
function wantedTaints({ spec, status }: Node): readonly string[] {
  const wanted: string[] = PRESSURES.filter(
    ([type]) => findCondition(status?.conditions, type)?.status === 'True',
  ).map(([, key]) => key)
  const ready = findCondition(status?.conditions, 'Ready')?.status
  if (ready === 'False') wanted.push('not-ready')
  if (ready === 'Unknown') wanted.push('unreachable')
  if (spec?.unschedulable === true) wanted.push('unschedulable')
  return wanted.toSorted()
}
