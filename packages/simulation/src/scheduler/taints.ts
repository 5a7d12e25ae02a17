/** Taints and tolerations. Pure. */
import type { Pod, Taint, Toleration } from '@gyropilot/api'

/** An empty key with Exists tolerates every taint, an empty effect every effect. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false
  const operator = toleration.operator ?? 'Equal'
  if (!toleration.key) return operator === 'Exists'
  if (toleration.key !== taint.key) return false
  if (operator === 'Exists') return true
  return operator === 'Equal' && (toleration.value ?? '') === (taint.value ?? '')
}

export function isTolerated(pod: Pod, taint: Taint): boolean {
  return (pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint))
}
