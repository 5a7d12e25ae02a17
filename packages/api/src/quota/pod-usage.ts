import type { Quantity } from '../generated/meta-v1.ts'
import { deepEqual } from '../values/deep-equal.ts'
import type { Container, ContainerStatus, Pod } from '../generated/core-v1.ts'
import { podResources } from '../pods/pod-resources.ts'
import type { ResourceList } from '../pods/pod-resources.ts'
import { isPodFinished } from '../pods/pods.ts'
import { parseTime } from '../values/time.ts'
import { hasDeadline, podMatchesScope } from './pod-scopes.ts'
import {
  LIMITS_PREFIX,
  REQUESTS_PREFIX,
  isExtendedRequest,
  isExtendedResource,
} from './resource-names.ts'
import type { UsageEvaluator } from './usage-evaluator.ts'

const OBJECT_COUNT = 'count/pods'
const STANDARD: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage'])
const HUGE_PAGES_PREFIX = 'hugepages-'
/** A quota on one of these asks every container for a value. */
const TO_BE_STATED: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
])

export const podEvaluator: UsageEvaluator = {
  resource: { group: '', resource: 'pods' },
  counts: countsForPods,
  usage: (object, { nowMs }) => podUsage(object as Pod, nowMs),
  matchesScope: (object, requirement) => podMatchesScope(object as Pod, requirement),
  admits({ operation, subresource, object, oldObject }) {
    if (operation === 'CREATE') return subresource === ''
    if (subresource === 'resize') return true
    if (subresource !== '' || oldObject === undefined) return false
    return hasDeadline(object as Pod) !== hasDeadline(oldObject as Pod)
  },
  unstated: (object, quotaNames) => unstatedAmounts(object as Pod, quotaNames),
  changesUsage(previous, current, nowMs) {
    const [was, is] = [previous as Pod, current as Pod]
    return (
      hasDeadline(was) !== hasDeadline(is) ||
      (isCharged(was, nowMs) && !isCharged(is, nowMs)) ||
      givenResourcesDiffer(was, is)
    )
  },
}

function countsForPods(name: string): boolean {
  if (name === OBJECT_COUNT || name === 'pods' || isExtendedRequest(name)) return true
  if (name.startsWith(LIMITS_PREFIX)) return STANDARD.has(name.slice(LIMITS_PREFIX.length))
  const base = name.startsWith(REQUESTS_PREFIX) ? name.slice(REQUESTS_PREFIX.length) : name
  return STANDARD.has(base) || base.startsWith(HUGE_PAGES_PREFIX)
}

function podUsage(pod: Pod, nowMs: number): ResourceList {
  const usage: Record<string, Quantity> = { [OBJECT_COUNT]: '1' }
  if (!isCharged(pod, nowMs)) return usage
  usage['pods'] = '1'
  const requests = podResources(pod, 'requests', { withStatus: true })
  for (const [name, amount] of Object.entries(requests)) {
    if (STANDARD.has(name) || name.startsWith(HUGE_PAGES_PREFIX)) {
      usage[name] = amount
      usage[`${REQUESTS_PREFIX}${name}`] = amount
    } else if (isExtendedResource(name)) usage[`${REQUESTS_PREFIX}${name}`] = amount
  }
  for (const [name, amount] of Object.entries(podResources(pod, 'limits', { withStatus: true }))) {
    if (STANDARD.has(name)) usage[`${LIMITS_PREFIX}${name}`] = amount
  }
  return usage
}

/** Pods that are done, or should have been gone by now, take nothing but their object. */
function isCharged(pod: Pod, nowMs: number): boolean {
  if (isPodFinished(pod)) return false
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata ?? {}
  const deletedMs = parseTime(deletionTimestamp)
  if (deletedMs === undefined || deletionGracePeriodSeconds === undefined) return true
  return nowMs <= deletedMs + Number(deletionGracePeriodSeconds) * 1000
}

function unstatedAmounts({ spec }: Pod, quotaNames: readonly string[]): readonly string[] {
  // What the pod says as a whole stands for all its containers, if it says anything.
  const { requests, limits } = spec?.resources ?? {}
  if (Object.keys({ ...requests, ...limits }).length > 0) return []
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
  const unstated: string[] = []
  for (const quotaName of quotaNames.filter((name) => TO_BE_STATED.has(name)).toSorted()) {
    const silent = containers.filter((container) => !states(container, quotaName))
    const names = [...new Set(silent.map(({ name }) => name))].toSorted()
    if (names.length > 0) unstated.push(`${quotaName} for: ${names.join(',')}`)
  }
  return unstated
}

function states({ resources }: Container, quotaName: string): boolean {
  if (quotaName.startsWith(LIMITS_PREFIX))
    return resources?.limits?.[quotaName.slice(LIMITS_PREFIX.length)] !== undefined
  return resources?.requests?.[quotaName.replace(REQUESTS_PREFIX, '')] !== undefined
}

/** Of containers that both have: one that only now has a status was given nothing new. */
function givenResourcesDiffer({ status: was }: Pod, { status: is }: Pod): boolean {
  const differ = (
    before: readonly ContainerStatus[] = [],
    after: readonly ContainerStatus[] = [],
  ): boolean => {
    const known = new Map(before.map((status) => [status.name, status]))
    return after.some((status) => {
      const previous = known.get(status.name)
      return previous !== undefined && !deepEqual(previous.resources, status.resources)
    })
  }
  return (
    differ(was?.containerStatuses, is?.containerStatuses) ||
    differ(was?.initContainerStatuses, is?.initContainerStatuses)
  )
}
