import type { Pod, PodCondition } from '@gyropilot/api'

/**
 * A part of a strategic merge patch of the status. At the end, or where it was: the order of conditions is sent too, else it
 * would be the server's choice.
 */
export function conditionPatch<Condition extends Pick<PodCondition, 'type'>>(
  { status }: Pod,
  condition: Condition,
): object {
  const types = (status?.conditions ?? []).map(({ type }) => type)
  const ordered = types.includes(condition.type) ? types : [...types, condition.type]
  return {
    '$setElementOrder/conditions': ordered.map((type) => ({ type })),
    conditions: [condition],
  }
}
