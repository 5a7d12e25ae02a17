/** What a pod asks of a node. Contract: docs/behaviour/simulation/scheduler.md, Filters (Requests). Pure. */
import type { Container, Pod } from '../generated/core-v1.ts'
import { parseQuantity } from '../values/quantity.ts'
import { amountsWithStatus, podLevelRequestsWithStatus } from './pod-resources.ts'

/** Amounts by resource: cpu in thousandths, everything else in units. */
export type ResourceAmounts = ReadonlyMap<string, number>

interface PodRequestsOptions {
  /** What a container asks for that does not say how much, by resource. Default: nothing. */
  readonly missing?: ResourceAmounts
  /** What a running pod and its containers have been given counts too, where it is more than what they ask for. Default: false. */
  readonly withStatus?: boolean
}

type Requests = Readonly<Record<string, string | number>> | undefined

/** `cpu` in milli, the rest in whole units rounded up. */
export function amountOf(resource: string, quantity: string | number): number {
  const value = Number(parseQuantity(String(quantity)).toNumber())
  return resource === 'cpu' ? Math.ceil(value * 1000 - 1e-9) : Math.ceil(value - 1e-9)
}

export function amountsOf(quantities: Requests): ResourceAmounts {
  return new Map(
    Object.entries(quantities ?? {}).map(([name, value]) => [name, amountOf(name, value)]),
  )
}

/**
 * Per resource the larger of main containers plus sidecars, and each init container plus the sidecars started before it;
 * plus overhead; requests of the pod as a whole win. One of `pods`.
 */
export function podRequests(
  pod: Pod,
  { missing, withStatus = false }: PodRequestsOptions = {},
): ResourceAmounts {
  const counted = withStatus ? amountsWithStatus(pod, 'requests') : undefined
  const requestsOf = (container: Container, runsOn = true): ResourceAmounts => {
    const own = amountsOf(runsOn && counted ? counted(container) : container.resources?.requests)
    return missing === undefined ? own : new Map([...missing, ...own])
  }
  const total = new Map<string, number>()
  const sidecars = new Map<string, number>()
  const highest = new Map<string, number>()
  for (const container of pod.spec?.initContainers ?? []) {
    const own = requestsOf(container, container.restartPolicy === 'Always')
    if (container.restartPolicy === 'Always') addAmounts(sidecars, own)
    for (const [name, amount] of own) {
      const alongside =
        (sidecars.get(name) ?? 0) + (container.restartPolicy === 'Always' ? 0 : amount)
      highest.set(name, Math.max(highest.get(name) ?? 0, alongside))
    }
  }
  for (const container of pod.spec?.containers ?? []) addAmounts(total, requestsOf(container))
  addAmounts(total, sidecars)
  for (const [name, amount] of highest) total.set(name, Math.max(total.get(name) ?? 0, amount))
  const ofPod = withStatus ? podLevelRequestsWithStatus(pod) : pod.spec?.resources?.requests
  for (const [name, amount] of amountsOf(ofPod)) total.set(name, amount)
  addAmounts(total, amountsOf(pod.spec?.overhead))
  total.set('pods', 1)
  return total
}

export function addAmounts(into: Map<string, number>, amounts: ResourceAmounts, times = 1): void {
  for (const [name, amount] of amounts) into.set(name, (into.get(name) ?? 0) + times * amount)
}
