/** Which nodes traffic may be sent to. Contract: docs/behaviour/controllers/service-lb-controller.md, Watches and keys. Pure. */
import { isTerminating } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { AUTOSCALER_TAINT, EXCLUDE_LABEL } from './config.ts'

const MOST_NAMES = 20
/** As strconv.ParseBool reads a false. */
const FALSE = /^(0|f|F|false|False|FALSE)$/

/** Not excluded by its label; a label whose value is no boolean excludes, an empty one too. */
export function isIncluded({ metadata }: Node): boolean {
  const value = metadata?.labels?.[EXCLUDE_LABEL]
  return value === undefined || FALSE.test(value)
}

/** Ready or not. */
export function isBackend(node: Node): boolean {
  const isLeaving = node.spec?.taints?.some(({ key }) => key === AUTOSCALER_TAINT) ?? false
  return !isTerminating(node) && isIncluded(node) && !isLeaving
}

/** Whether balancers may have to be told. */
export function concernsBackends(previous: Node, current: Node): boolean {
  return (
    isIncluded(previous) !== isIncluded(current) ||
    (previous.spec?.providerID ?? '') !== (current.spec?.providerID ?? '')
  )
}

/** The same names with the same provider IDs. */
export function sameBackends(some: readonly Node[], others: readonly Node[]): boolean {
  if (some.length !== others.length) return false
  const ids = new Map(others.map((node) => [nameOf(node), node.spec?.providerID ?? '']))
  return some.every((node) => ids.get(nameOf(node)) === (node.spec?.providerID ?? ''))
}

/** Sorted, in brackets, the first twenty. */
export function namesText(nodes: readonly Node[]): string {
  const shown = nodes.slice(0, MOST_NAMES).map(nameOf).sort(compareStrings)
  const more = nodes.length - shown.length
  return `[${[...shown, ...(more > 0 ? [`<${more} more>`] : [])].join(' ')}]`
}

export function nameOf({ metadata }: Node): string {
  return metadata?.name ?? ''
}
