/** What an object counts for, by the names that quotas use. Contract: "ResourceQuota" in docs/behaviour/api-server/subresources-and-admission.md. */
import { addQuantities, subtractQuantities } from '@gyropilot/api'
import type { Stored } from '../../registry/kind-rules.ts'
import { podResources } from '../pod-resources.ts'
import type { ResourceList } from '../pod-resources.ts'

const SHORT_NAMES = new Set(['configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas'])
const STANDARD = new Set(['cpu', 'memory', 'ephemeral-storage'])
const STORAGE_CLASS_SUFFIX = '.storageclass.storage.k8s.io/'
const DEVICE_CLASS_SUFFIX = '.deviceclass.resource.k8s.io/devices'

export interface Counted {
  readonly group: string
  readonly resource: string
}

/** `count/deployments.apps` */
export function objectCountName({ group, resource }: Counted): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`
}

export function usageOf(counted: Counted, object: Stored, nowMs: number): ResourceList {
  const count = { [objectCountName(counted)]: '1' }
  const { group, resource } = counted
  if (group === 'resource.k8s.io' && resource === 'resourceclaims')
    return { ...count, ...claimDevices(object) }
  if (group !== '') return count
  if (resource === 'pods') return { ...count, ...podUsage(object, nowMs) }
  if (resource === 'services') return { ...count, ...serviceUsage(object) }
  if (resource === 'persistentvolumeclaims') return { ...count, ...volumeClaimUsage(object) }
  return SHORT_NAMES.has(resource) ? { ...count, [resource]: '1' } : count
}

/** Whether a quota on this name is about objects of this resource. */
export function isAbout(counted: Counted, name: string): boolean {
  if (name === objectCountName(counted)) return true
  const { group, resource } = counted
  if (group === 'resource.k8s.io' && resource === 'resourceclaims')
    return name.endsWith(DEVICE_CLASS_SUFFIX)
  if (group !== '') return false
  if (resource === 'pods') return isPodResource(name)
  if (resource === 'services')
    return name === 'services' || name === 'services.loadbalancers' || name === 'services.nodeports'
  if (resource === 'persistentvolumeclaims') {
    return name === resource || name === 'requests.storage' || name.includes(STORAGE_CLASS_SUFFIX)
  }
  return SHORT_NAMES.has(resource) && name === resource
}

function isPodResource(name: string): boolean {
  if (
    name === 'pods' ||
    STANDARD.has(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('requests.hugepages-')
  )
    return true
  if (name === 'requests.storage') return false
  const [prefix, ...rest] = name.split('.')
  const base = rest.join('.')
  if (prefix === 'limits') return STANDARD.has(base)
  return prefix === 'requests' && (STANDARD.has(base) || base.includes('/'))
}

/** Pods that are done, or should have been gone by now, take nothing but their object. */
function podUsage(pod: Stored, nowMs: number): ResourceList {
  const phase = pod['status']?.phase
  if (phase === 'Succeeded' || phase === 'Failed' || isPastGrace(pod, nowMs)) return {}
  const usage: Record<string, string> = { pods: '1' }
  for (const [name, value] of Object.entries(podResources(pod, 'requests'))) {
    if (STANDARD.has(name) || name.startsWith('hugepages-')) {
      usage[name] = value
      usage[`requests.${name}`] = value
    } else if (name.includes('/')) usage[`requests.${name}`] = value
  }
  for (const [name, value] of Object.entries(podResources(pod, 'limits'))) {
    if (STANDARD.has(name)) usage[`limits.${name}`] = value
  }
  return usage
}

function isPastGrace(pod: Stored, nowMs: number): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod['metadata']
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return nowMs > Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

function serviceUsage(service: Stored): ResourceList {
  const { type, ports = [], allocateLoadBalancerNodePorts } = service['spec']
  const usage: Record<string, string> = { services: '1' }
  if (type === 'NodePort') usage['services.nodeports'] = String(ports.length)
  if (type === 'LoadBalancer') {
    const given = ports.filter((port: Stored) => (port['nodePort'] ?? 0) !== 0).length
    usage['services.nodeports'] = String(
      allocateLoadBalancerNodePorts === false ? given : ports.length,
    )
    usage['services.loadbalancers'] = '1'
  }
  return usage
}

function volumeClaimUsage(claim: Stored): ResourceList {
  const className: string =
    claim['metadata'].annotations?.['volume.beta.kubernetes.io/storage-class'] ??
    claim['spec'].storageClassName ??
    ''
  const usage: Record<string, string> = { persistentvolumeclaims: '1' }
  const storage: string | undefined = claim['spec'].resources?.requests?.storage
  if (storage !== undefined) usage['requests.storage'] = storage
  if (className !== '') {
    usage[`${className}${STORAGE_CLASS_SUFFIX}persistentvolumeclaims`] = '1'
    if (storage !== undefined)
      usage[`${className}${STORAGE_CLASS_SUFFIX}requests.storage`] = storage
  }
  return usage
}

function claimDevices(claim: Stored): ResourceList {
  const usage: Record<string, string> = {}
  for (const request of claim['spec']?.devices?.requests ?? []) {
    // With alternatives the dearest one of each class is charged.
    const alternatives: Stored[] =
      request.firstAvailable ?? (request.exactly === undefined ? [] : [request.exactly])
    const dearest: Record<string, number | bigint> = {}
    for (const alternative of alternatives) {
      const count: number | bigint =
        alternative['allocationMode'] === 'All' ? 32 : (alternative['count'] ?? 1)
      const className = alternative['deviceClassName']
      if (count > (dearest[className] ?? 0)) dearest[className] = count
    }
    for (const [className, count] of Object.entries(dearest)) {
      const name = `${className}${DEVICE_CLASS_SUFFIX}`
      usage[name] = addQuantities(usage[name] ?? '0', String(count))
    }
  }
  return usage
}

/** after - before, without what did not change. */
export function usageDelta(before: ResourceList, after: ResourceList): ResourceList {
  const delta: Record<string, string> = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const difference = subtractQuantities(after[name] ?? '0', before[name] ?? '0')
    if (difference !== '0') delta[name] = difference
  }
  return delta
}
