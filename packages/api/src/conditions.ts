/** Status conditions. Contract: docs/behaviour/controllers/shared-controller-utils.md, Status and conditions. */

/** What the conditions of all kinds have in common. */
export interface StatusCondition {
  readonly type: string
  /** `True`, `False` or `Unknown`. */
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** Its time may be left out, also where the kind requires one. */
type Untimed<T extends StatusCondition> = Omit<T, 'lastTransitionTime'> &
  Pick<StatusCondition, 'lastTransitionTime'>

export function findCondition<T extends StatusCondition>(
  conditions: readonly T[] | null | undefined,
  type: string,
): T | undefined {
  return conditions?.find((condition) => condition.type === type)
}

/** Absent is not true. */
export function isConditionTrue(
  conditions: readonly StatusCondition[] | null | undefined,
  type: string,
): boolean {
  return findCondition(conditions, type)?.status === 'True'
}

/**
 * Replace by type, as the workload controllers do: when type, status and reason are unchanged the list is returned as it is, message
 * and times included; otherwise the old entry goes and the new one stands at the end. With `keepTransitionTime` the
 * new entry keeps the old lastTransitionTime while the status stays.
 */
export function replaceCondition<T extends StatusCondition>(
  conditions: readonly T[] | null | undefined,
  condition: T,
  options: { readonly keepTransitionTime?: boolean } = {},
): readonly T[] {
  const current = findCondition(conditions, condition.type)
  if (conditions && current?.status === condition.status && current.reason === condition.reason) {
    return conditions
  }
  const keeps = options.keepTransitionTime === true && current?.status === condition.status
  const entry = keeps ? { ...condition, lastTransitionTime: current.lastTransitionTime } : condition
  return [...withoutCondition(conditions, condition.type), entry]
}

/**
 * Set in place, as for metav1.Condition: the entry keeps its position; lastTransitionTime moves to `nowText` only when the status
 * changes, unless the new condition brings its own. Returns the same list when nothing changes.
 */
export function setCondition<T extends StatusCondition>(
  conditions: readonly T[] | null | undefined,
  condition: NoInfer<Untimed<T>>,
  nowText: string,
): readonly T[] {
  const list = conditions ?? []
  const current = findCondition(list, condition.type)
  const moved = current?.status !== condition.status
  const lastTransitionTime = moved
    ? (condition.lastTransitionTime ?? nowText)
    : current?.lastTransitionTime
  const entry = { ...condition, lastTransitionTime } as T
  if (current === undefined) return [...list, entry]
  const keys = new Set([...Object.keys(current), ...Object.keys(entry)]) as Set<keyof T>
  if ([...keys].every((key) => current[key] === entry[key])) return list
  return list.map((existing) => (existing === current ? entry : existing))
}

export function withoutCondition<T extends StatusCondition>(
  conditions: readonly T[] | null | undefined,
  type: string,
): readonly T[] {
  return (conditions ?? []).filter((condition) => condition.type !== type)
}
