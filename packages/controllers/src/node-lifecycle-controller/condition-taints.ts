/**
 * The taints and labels that a node should have by what it says of itself. Pure.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, A.
 */
import { findCondition } from '@gyropilot/api'
import type { Node, Taint } from '@gyropilot/api'

const PREFIX = 'node.kubernetes.io/'
export const NOT_READY = `${PREFIX}not-ready`
export const UNREACHABLE = `${PREFIX}unreachable`

const BY_CONDITION = [
  ['Ready', 'False', NOT_READY],
  ['Ready', 'Unknown', UNREACHABLE],
  ['MemoryPressure', 'True', `${PREFIX}memory-pressure`],
  ['DiskPressure', 'True', `${PREFIX}disk-pressure`],
  ['PIDPressure', 'True', `${PREFIX}pid-pressure`],
  ['NetworkUnavailable', 'True', `${PREFIX}network-unavailable`],
] as const
const UNSCHEDULABLE = `${PREFIX}unschedulable`
const OWN: ReadonlySet<string> = new Set([...BY_CONDITION.map(([, , key]) => key), UNSCHEDULABLE])

export interface TaintChanges {
  /** Keys of NoSchedule taints. */
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/** Only taints of this controller are looked at; their values and times are not. */
export function noScheduleChanges(node: Node): TaintChanges {
  const { spec, status } = node
  const wanted = BY_CONDITION.filter(
    ([type, value]) => findCondition(status?.conditions, type)?.status === value,
  ).map(([, , key]): string => key)
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
