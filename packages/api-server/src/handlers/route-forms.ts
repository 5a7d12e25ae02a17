/** In which forms the objects behind a route can be had. Contract: docs/behaviour/api-server/requests.md, "Tables". */
import { schemaOf } from '@gyropilot/api/schema'
import type { ServedResource } from '../registry/resource-registry.ts'
import type { Route } from './routes.ts'

const WITHOUT_TABLES: ReadonlySet<string> = new Set([
  // Created and never read again.
  'binding',
  'eviction',
  'token',
  'log',
  'approval',
  'ephemeralcontainers',
  'finalize',
  'resize',
])
/** Most have the columns of their kind. */
const STATUS_WITHOUT_TABLES: ReadonlySet<string> = new Set([
  'apiservices.apiregistration.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
  'resourceclaims.resource.k8s.io',
  'devicetaintrules.resource.k8s.io',
  'resourcepoolstatusrequests.resource.k8s.io',
  'podgroups.scheduling.k8s.io',
])

export function isShownInTables({ resource: { info }, subresource }: Route): boolean {
  if (subresource === '') return info.verbs.some((verb) => verb !== 'create')
  if (subresource === 'status') return !STATUS_WITHOUT_TABLES.has(`${info.resource}.${info.group}`)
  return !WITHOUT_TABLES.has(subresource)
}

/** Objects of the API itself have messages; custom resources and what others measure have none. */
export function isTyped({ info, custom }: ServedResource): boolean {
  return !custom && schemaOf(info.group, info.version, info.kind) !== undefined
}
