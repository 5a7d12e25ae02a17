/** The names under which quotas limit things. Contract: docs/behaviour/controllers/resourcequota-controller.md, Evaluators. */
import type { GroupResource } from '../generated/meta-v1.ts'

export const REQUESTS_PREFIX = 'requests.'
export const LIMITS_PREFIX = 'limits.'
export const STORAGE_CLASS_INFIX = '.storageclass.storage.k8s.io/'
export const DEVICES_SUFFIX = '.deviceclass.resource.k8s.io/devices'
/** Every device class can be asked for as an extended resource of this name. */
export const DEVICE_CLASS_RESOURCE_PREFIX = 'deviceclass.resource.kubernetes.io/'

/** `count/deployments.apps`, `count/pods` */
export function objectCountName({ group, resource }: GroupResource): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`
}

/** Extended resources are those with a domain that is not Kubernetes' own; device classes are the exception. */
export function isExtendedResource(name: string): boolean {
  if (!name.includes('/')) return false
  return name.startsWith(DEVICE_CLASS_RESOURCE_PREFIX) || !name.includes('kubernetes.io/')
}

/** Extended resources are limited as `requests.<name>` only. */
export function isExtendedRequest(quotaName: string): boolean {
  return (
    quotaName.startsWith(REQUESTS_PREFIX) &&
    isExtendedResource(quotaName.slice(REQUESTS_PREFIX.length))
  )
}

/** Never counted: they cannot be stored, or are too short-lived to be limited. */
const UNCOUNTED: ReadonlySet<string> = new Set([
  'bindings',
  'componentstatuses',
  'events',
  'events.events.k8s.io',
  'tokenreviews.authentication.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
])

/** Whether quotas can be about objects of this resource, if it is namespaced. */
export function isCountedResource({ group, resource }: GroupResource): boolean {
  return !UNCOUNTED.has(group === '' ? resource : `${resource}.${group}`)
}
