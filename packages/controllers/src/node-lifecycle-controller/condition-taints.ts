/**
 * The taints and labels that a node should have by what it says of itself. Pure.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, A.
 */
import type { Node, Taint } from '@gyropilot/api'

const PREFIX = 'node.kubernetes.io/'
export const NOT_READY = `${PREFIX}not-ready`
export const UNREACHABLE = `${PREFIX}unreachable`

/** By type and status of a condition. */
const BY_CONDITION: ReadonlyMap<string, string> = new Map([
  ['Ready=False', NOT_READY],
  ['Ready=Unknown', UNREACHABLE],
  ['MemoryPressure=True', `${PREFIX}memory-pressure`],
  ['DiskPressure=True', `${PREFIX}disk-pressure`],
  ['PIDPressure=True', `${PREFIX}pid-pressure`],
  ['NetworkUnavailable=True', `${PREFIX}network-unavailable`],
])
const UNSCHEDULABLE = `${PREFIX}unschedulable`
const OWN: ReadonlySet<string> = new Set([...BY_CONDITION.values(), UNSCHEDULABLE])

interface TaintChanges {
  /** Keys of NoSchedule taints, in the order of the node's conditions. */
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/** Only taints of this controller are looked at; their values and times are not. */
export function noScheduleChanges(node: Node): TaintChanges {
  const { spec, status } = node
  const wanted = (status?.conditions ?? []).flatMap(
    (condition) => BY_CONDITION.get(`${condition.type}=${condition.status}`) ?? [],
  )
  if (spec?.unschedulable === true) wanted.push(UNSCHEDULABLE)
  const present = (spec?.taints ?? [])
    .filter(({ key, effect }) => effect === 'NoSchedule' && OWN.has(key))
    .map(({ key }) => key)
  return {
    add: wanted.filter((key) => !present.includes(key)),
    remove: present.filter((key) => !wanted.includes(key)),
  }
}

/** The stable labels rule: each goes by its older name too. Empty: nothing to do. */
export function labelChanges({ metadata }: Node): Readonly<Record<string, string>> {
  const labels = metadata?.labels ?? {}
  const changes: Record<string, string> = {}
  for (const name of ['os', 'arch']) {
    const value = labels[`kubernetes.io/${name}`]
    if (value !== undefined && labels[`beta.kubernetes.io/${name}`] !== value)
      changes[`beta.kubernetes.io/${name}`] = value
  }
  return changes
}

export function hasTaint(node: Node, key: string, effect: Taint['effect']): boolean {
  return (node.spec?.taints ?? []).some((taint) => taint.key === key && taint.effect === effect)
}
