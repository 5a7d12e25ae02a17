/**
 * The Endpoints object of a Service, and whether the one that exists will do.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Sync 11 to 14.
 */
import { deepEqual } from '@gyropilot/api'
import type { EndpointAddress, EndpointSubset, Endpoints, Service } from '@gyropilot/api'
import { isHeadless } from '../endpoint-support/ip-address.ts'
import { repackSubsets } from '../endpoint-support/repack-subsets.ts'
import { HEADLESS_LABEL } from '../endpoint-support/slice-labels.ts'
import { withTriggerTime } from '../endpoint-support/trigger-times.ts'
import {
  MANAGED_BY_LABEL,
  MANAGER,
  MAX_ADDRESSES,
  OVER_CAPACITY_ANNOTATION,
  TRUNCATED,
} from './config.ts'
import { addressCount, truncateSubsets } from './truncate.ts'

type Labels = Readonly<Record<string, string>>

/** 11. Nothing needs to be written. */
export function isCurrent(
  current: Endpoints,
  service: Service,
  subsets: readonly EndpointSubset[],
): boolean {
  const stored = current.subsets ?? []
  const isOverCapacity = current.metadata?.annotations?.[OVER_CAPACITY_ANNOTATION] !== undefined
  if (isOverCapacity || addressCount(stored) > MAX_ADDRESSES) return false
  if (!labelsFollow(current.metadata?.labels, service.metadata?.labels)) return false
  return sameSubsets(stored, subsets) || sameSubsets(repackSubsets(stored), subsets)
}

/** 12. Never of a Service that has reserved labels itself: its Endpoints are written at every sync. */
function labelsFollow(labels: Labels | undefined, serviceLabels: Labels | undefined): boolean {
  return (
    labels?.[MANAGED_BY_LABEL] === MANAGER &&
    deepEqual(withoutReserved(labels), serviceLabels ?? {})
  )
}

function withoutReserved(labels: Labels | undefined): Labels {
  const { [MANAGED_BY_LABEL]: _, [HEADLESS_LABEL]: __, ...others } = labels ?? {}
  return others
}

/** The version of a pod does not count: it changes with every write of its status. */
function sameSubsets(a: readonly EndpointSubset[], b: readonly EndpointSubset[]): boolean {
  return deepEqual(a.map(comparable), b.map(comparable))
}

function comparable({ addresses, notReadyAddresses, ports }: EndpointSubset): object {
  return {
    addresses: (addresses ?? []).map(withoutVersion),
    notReadyAddresses: (notReadyAddresses ?? []).map(withoutVersion),
    ports: ports ?? [],
  }
}

function withoutVersion(address: EndpointAddress): EndpointAddress {
  if (address.targetRef?.resourceVersion === undefined) return address
  const { resourceVersion: _, ...targetRef } = address.targetRef
  return { ...address, targetRef }
}

/** 13, 14. `current` is undefined when there is none. */
export function endpointsOf(
  current: Endpoints | undefined,
  service: Service,
  subsets: readonly EndpointSubset[],
  triggerTime: string | undefined,
): Endpoints {
  const { namespace, name } = service.metadata ?? {}
  const isTruncated = addressCount(subsets) > MAX_ADDRESSES
  const { [OVER_CAPACITY_ANNOTATION]: _, ...annotations } = withTriggerTime(
    current?.metadata?.annotations,
    triggerTime,
  )
  const all = isTruncated ? { ...annotations, [OVER_CAPACITY_ANNOTATION]: TRUNCATED } : annotations
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      ...(current?.metadata ?? { name, namespace }),
      labels: labelsOf(service),
      annotations: all,
    },
    subsets: isTruncated ? truncateSubsets(subsets, MAX_ADDRESSES) : subsets,
  }
}

function labelsOf(service: Service): Labels {
  return {
    ...withoutReserved(service.metadata?.labels),
    [MANAGED_BY_LABEL]: MANAGER,
    ...(isHeadless(service) ? { [HEADLESS_LABEL]: '' } : {}),
  }
}
