import type { Clock, RandomSource } from '@gyropilot/foundation'
import type { RbacAuthorizer } from '../auth/index.ts'
import type { AdmissionRequest, ApiError, ServerInternals } from '../contracts.ts'
import { forbidden } from '../http/errors.ts'
import type { OutgoingCalls } from '../http/outgoing-calls/outgoing-calls.ts'
import type { Stored } from '../registry/kind-rules.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { Store } from '../storage/store.ts'
import type { DecisionMetrics } from './decision-metrics.ts'
import type { PodSecurityDefaults } from './pod-security/defaults.ts'
import type { ServiceResolver } from './webhooks/client-config.ts'

/** What plug-ins look at, and through what they write. */
export interface AdmissionWorld {
  readonly store: Store
  readonly authorizer: RbacAuthorizer
  readonly clock: Clock
  readonly random: RandomSource
  /** What is served, for objects that are looked at in another version than the request's. */
  readonly registry?: ResourceRegistry
  /** Webhooks are called through it; absent: they count as unreachable. */
  readonly calls?: OutgoingCalls
  readonly resolveService?: ServiceResolver
  /** Absent: privileged. */
  readonly podSecurity?: PodSecurityDefaults
  /** Absent: gates are at their defaults. */
  featureEnabled?(gate: string): boolean
  /** Counts what webhooks and policies decide. */
  readonly decisions?: DecisionMetrics
  /** Asked late: the server is made after its plug-ins. */
  server(): ServerInternals
}

export function read(
  world: Pick<AdmissionWorld, 'store'>,
  collection: string,
  key: string,
): Stored | undefined {
  return world.store.get({ collection, key })?.object
}

/** All objects of a collection, or those of one namespace, in storage order. */
export function readAll(
  world: Pick<AdmissionWorld, 'store'>,
  collection: string,
  namespace?: string,
): Stored[] {
  const snapshot = world.store.list(collection, namespace === undefined ? '' : `${namespace}/`)
  return snapshot === 'expired' ? [] : snapshot.entries.map((entry) => entry.object)
}

/** Whether the request is for objects of this resource themselves, or for this subresource of them. */
export function isFor(
  request: AdmissionRequest,
  group: string,
  resource: string,
  subresource = '',
): boolean {
  return (
    request.resource.group === group &&
    request.resource.resource === resource &&
    request.subresource === subresource
  )
}

/** `<resource> "<name>" is forbidden: <why>`. Before the name is generated, its prefix is shown. */
export function refusal(request: AdmissionRequest, why: string): ApiError {
  const metadata = request.object?.['metadata']
  const name = request.name || metadata?.name || metadata?.generateName || 'Unknown'
  return forbidden(request.resource, name, why)
}

/** Newest first, ties by name: how a default class is chosen among several. */
export function newestFirst(objects: readonly Stored[]): Stored[] {
  const timeOf = (object: Stored): number => Date.parse(object['metadata'].creationTimestamp ?? '')
  const byName = (a: Stored, b: Stored): number =>
    a['metadata'].name < b['metadata'].name ? -1 : 1
  return objects.toSorted((a, b) => timeOf(b) - timeOf(a) || byName(a, b))
}
