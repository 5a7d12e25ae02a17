/**
 * The EndpointSlice object of a Service.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync C.
 */
import { deepEqual, newControllerRef, resources } from '@gyropilot/api'
import type { EndpointSlice, Service } from '@gyropilot/api'
import { isHeadless } from '../endpoint-support/ip-address.ts'
import type { IpFamily } from '../endpoint-support/ip-address.ts'
import {
  HEADLESS_LABEL,
  MANAGED_BY_LABEL,
  SERVICE_NAME_LABEL,
} from '../endpoint-support/slice-labels.ts'
import { sliceNamePrefix } from '../endpoint-support/slice-name.ts'
import type { SlicePort } from '../endpoint-support/slice-ports.ts'
import { withTriggerTime } from '../endpoint-support/trigger-times.ts'
import { MANAGER } from './config.ts'

type Labels = Readonly<Record<string, string>>

/** Without endpoints and name. */
export function newSlice(
  service: Service,
  addressType: IpFamily,
  ports: readonly SlicePort[],
): EndpointSlice {
  const { namespace, name = '' } = service.metadata ?? {}
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: sliceNamePrefix(name),
      namespace,
      labels: sliceLabels(service),
      ownerReferences: [newControllerRef(service, resources.services)],
    },
    addressType,
    endpoints: [],
    ports,
  }
}

/** Those of the Service, and the keys that this controller keeps for itself. */
export function sliceLabels(service: Service): Labels {
  return {
    ...withoutReserved(service.metadata?.labels),
    [SERVICE_NAME_LABEL]: service.metadata?.name ?? '',
    [MANAGED_BY_LABEL]: MANAGER,
    ...(isHeadless(service) ? { [HEADLESS_LABEL]: '' } : {}),
  }
}

/** Reserved keys do not count: who wants them otherwise would fight this controller forever. */
export function labelsDiffer(slice: EndpointSlice, service: Service): boolean {
  return !deepEqual(
    withoutReserved(slice.metadata?.labels),
    withoutReserved(service.metadata?.labels),
  )
}

function withoutReserved(labels: Labels | undefined): Labels {
  const {
    [SERVICE_NAME_LABEL]: _,
    [MANAGED_BY_LABEL]: __,
    [HEADLESS_LABEL]: ___,
    ...others
  } = labels ?? {}
  return others
}

/** Made for this Service, not for an earlier one of the same name. */
export function isOwnedByService(slice: EndpointSlice, service: Service): boolean {
  return (slice.metadata?.ownerReferences ?? []).some(
    ({ uid, kind, apiVersion }) =>
      uid === service.metadata?.uid && kind === 'Service' && apiVersion === 'v1',
  )
}

/** Nothing that counts would change if `slice` were written as `placeholder`: an empty label is as good as none. */
export function isSamePlaceholder(slice: EndpointSlice, placeholder: EndpointSlice): boolean {
  const contentOf = ({ addressType, endpoints, ports, metadata }: EndpointSlice): object => ({
    addressType,
    endpoints: endpoints ?? [],
    ports: ports ?? [],
    namespace: metadata?.namespace,
    labels: withoutEmpty(metadata?.labels ?? {}),
    owners: metadata?.ownerReferences ?? [],
  })
  return deepEqual(contentOf(slice), contentOf(placeholder))
}

function withoutEmpty(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''))
}

/** With the time of the change that it passes on. */
export function stampedWith(slice: EndpointSlice, triggerTime: string | undefined): EndpointSlice {
  const annotations = withTriggerTime(slice.metadata?.annotations, triggerTime)
  return { ...slice, metadata: { ...slice.metadata, annotations } }
}
