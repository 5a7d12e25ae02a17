/** Which taints keep a pod off a node. Pure. */
import type { Taint, Toleration } from '../generated/core-v1.ts'

export interface TolerationOptions {
  /** Feature gate TaintTolerationComparisonOperators: operators Lt and Gt compare whole numbers. Default: off. */
  readonly comparisonOperators?: boolean
}

/** An empty key with Exists tolerates every taint, an empty effect every effect. */
export function tolerates(
  toleration: Toleration,
  taint: Taint,
  options: TolerationOptions = {},
): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false
  const operator = toleration.operator || 'Equal'
  if (!toleration.key) return operator === 'Exists'
  if (toleration.key !== taint.key) return false
  switch (operator) {
    case 'Exists':
      return true
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '')
    case 'Lt':
    case 'Gt':
      return options.comparisonOperators === true && compares(operator, toleration, taint)
    default:
      return false
  }
}

export function isTaintTolerated(
  tolerations: readonly Toleration[] | undefined,
  taint: Taint,
  options: TolerationOptions = {},
): boolean {
  return (tolerations ?? []).some((toleration) => tolerates(toleration, taint, options))
}

/** Whether the taint's number is less than, or greater than, the toleration's. What is no number is not tolerated. */
function compares(operator: 'Lt' | 'Gt', toleration: Toleration, taint: Taint): boolean {
  const actual = integerOf(taint.value)
  const bound = integerOf(toleration.value)
  if (actual === undefined || bound === undefined) return false
  return operator === 'Lt' ? actual < bound : actual > bound
}

function integerOf(text = ''): bigint | undefined {
  return /^-?\d+$/.test(text) ? BigInt(text) : undefined
}
