/** Fills in and checks what LimitRanges say of containers, pods and claims. */
import { aggregateText } from '@gyropilot/foundation'
import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import { compareQuantities, podResources, quantityToMilli } from '@gyropilot/api'
import type { Quantity, ResourceList } from '@gyropilot/api'
import { isFor, readAll, refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'

const ANNOTATION = 'kubernetes.io/limit-ranger'

export function limitRanger(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'LimitRanger',
    handles(request) {
      const { operation, oldObject } = request
      if (operation !== 'CREATE' && operation !== 'UPDATE') return false
      // Who takes the finalizers off must be able to, whatever the limits have become.
      if (oldObject?.['metadata'].deletionTimestamp) return false
      // Any update of a claim: one that is beyond the limits meanwhile is refused labels too.
      if (isFor(request, '', 'persistentvolumeclaims')) return true
      if (isFor(request, '', 'pods')) return operation === 'CREATE'
      return isFor(request, '', 'pods', 'resize') && operation === 'UPDATE'
    },
    mutate(request) {
      // Of a resize too: what it leaves out is filled in again.
      if (request.resource.resource !== 'pods') return
      for (const range of rangesOf(world, request)) applyDefaults(request.object!, range)
    },
    validate(request) {
      for (const range of rangesOf(world, request)) {
        const isClaim = request.resource.resource === 'persistentvolumeclaims'
        const violations = isClaim
          ? claimViolations(request.object!, range)
          : podViolations(request.object!, range)
        if (violations.length > 0) throw refusal(request, aggregateText(violations))
      }
    },
  }
}

function rangesOf(world: AdmissionWorld, request: AdmissionRequest): Stored[] {
  return readAll(world, 'limitranges', request.namespace)
}

function applyDefaults(pod: Draft, range: Stored): void {
  const requests: Record<string, Quantity> = {}
  const limits: Record<string, Quantity> = {}
  for (const item of itemsOf(range, 'Container')) {
    Object.assign(requests, item['defaultRequest'])
    Object.assign(limits, item['default'])
  }
  const notes: string[] = []
  for (const container of pod['spec'].containers ?? [])
    notes.push(...fillContainer(container, 'container', requests, limits))
  for (const container of pod['spec'].initContainers ?? [])
    notes.push(...fillContainer(container, 'init container', requests, limits))
  if (notes.length === 0) return
  pod['metadata'].annotations = {
    ...pod['metadata'].annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}`,
  }
}

function fillContainer(
  container: Draft,
  label: string,
  requests: ResourceList,
  limits: ResourceList,
): string[] {
  const notes: string[] = []
  const fill = (field: 'requests' | 'limits', defaults: ResourceList): string[] => {
    const missing = Object.keys(defaults).filter(
      (name) => container['resources']?.[field]?.[name] === undefined,
    )
    if (missing.length === 0) return []
    container['resources'] ??= {}
    const values = Object.fromEntries(missing.map((name) => [name, defaults[name]]))
    container['resources'][field] = { ...container['resources'][field], ...values }
    return missing.toSorted()
  }
  const setLimits = fill('limits', limits)
  const setRequests = fill('requests', requests)
  if (setRequests.length > 0)
    notes.push(`${setRequests.join(', ')} request for ${label} ${container['name']}`)
  if (setLimits.length > 0)
    notes.push(`${setLimits.join(', ')} limit for ${label} ${container['name']}`)
  return notes
}

function podViolations(pod: Stored, range: Stored): string[] {
  const violations: string[] = []
  const containers: Stored[] = [
    ...(pod['spec'].containers ?? []),
    ...(pod['spec'].initContainers ?? []),
  ]
  for (const item of range['spec'].limits ?? []) {
    if (item.type === 'Container') {
      for (const { resources = {} } of containers as unknown as { resources?: Stored }[]) {
        violations.push(...checkItem(item, resources['requests'] ?? {}, resources['limits'] ?? {}))
      }
    } else if (item.type === 'Pod') {
      violations.push(
        ...checkItem(
          item,
          podResources(pod, 'requests', { withOverhead: false }),
          podResources(pod, 'limits', { withOverhead: false }),
        ),
      )
    }
  }
  return violations
}

function claimViolations(claim: Stored, range: Stored): string[] {
  const requests: ResourceList = claim['spec']?.resources?.requests ?? {}
  const violations: string[] = []
  for (const item of itemsOf(range, 'PersistentVolumeClaim')) {
    for (const [name, bound] of sorted(item['min'])) {
      const subject = `minimum ${name} usage per PersistentVolumeClaim is ${bound}`
      if (requests[name] === undefined) violations.push(`${subject}.  No request is specified`)
      else if (compareQuantities(requests[name], bound) < 0)
        violations.push(`${subject}, but request is ${requests[name]}`)
    }
    for (const [name, bound] of sorted(item['max'])) {
      const subject = `maximum ${name} usage per PersistentVolumeClaim is ${bound}`
      if (requests[name] === undefined) violations.push(`${subject}.  No request is specified`)
      else if (compareQuantities(requests[name], bound) > 0)
        violations.push(`${subject}, but request is ${requests[name]}`)
    }
  }
  return violations
}

function checkItem(item: Stored, requests: ResourceList, limits: ResourceList): string[] {
  const messages = [
    ...sorted(item['min']).map(([name, bound]) =>
      belowMinimum(item['type'], name, bound, requests[name], limits[name]),
    ),
    ...sorted(item['max']).map(([name, bound]) =>
      aboveMaximum(item['type'], name, bound, requests[name], limits[name]),
    ),
    ...sorted(item['maxLimitRequestRatio']).map(([name, bound]) =>
      aboveRatio(item['type'], name, bound, requests[name], limits[name]),
    ),
  ]
  return messages.filter((message) => message !== undefined)
}

function belowMinimum(
  type: string,
  name: string,
  bound: Quantity,
  request?: Quantity,
  limit?: Quantity,
): string | undefined {
  const subject = `minimum ${name} usage per ${type} is ${bound}`
  if (request === undefined) return `${subject}.  No request is specified`
  if (compareQuantities(request, bound) < 0) return `${subject}, but request is ${request}`
  if (limit !== undefined && compareQuantities(limit, bound) < 0)
    return `${subject}, but limit is ${limit}`
  return undefined
}

function aboveMaximum(
  type: string,
  name: string,
  bound: Quantity,
  request?: Quantity,
  limit?: Quantity,
): string | undefined {
  const subject = `maximum ${name} usage per ${type} is ${bound}`
  if (limit === undefined) return `${subject}.  No limit is specified`
  if (compareQuantities(limit, bound) > 0) return `${subject}, but limit is ${limit}`
  if (request !== undefined && compareQuantities(request, bound) > 0)
    return `${subject}, but request is ${request}`
  return undefined
}

function aboveRatio(
  type: string,
  name: string,
  bound: Quantity,
  request?: Quantity,
  limit?: Quantity,
): string | undefined {
  const subject = `${name} max limit to request ratio per ${type} is ${bound}`
  if (request === undefined || quantityToMilli(request) === 0)
    return `${subject}, but no request is specified or request is 0`
  if (limit === undefined || quantityToMilli(limit) === 0)
    return `${subject}, but no limit is specified or limit is 0`
  const ratio = quantityToMilli(limit) / quantityToMilli(request)
  return ratio > quantityToMilli(bound) / 1000
    ? `${subject}, but provided ratio is ${ratio.toFixed(6)}`
    : undefined
}

function itemsOf(range: Stored, type: string): Stored[] {
  return (range['spec'].limits ?? []).filter((item: Stored) => item['type'] === type)
}

function sorted(list: ResourceList | undefined): [string, Quantity][] {
  return Object.entries(list ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
