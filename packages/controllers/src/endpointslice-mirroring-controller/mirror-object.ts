/**
 * The slice that mirrors a subset, and whether one that exists will do.
 * Contract: docs/behaviour/controllers/endpointslice-mirroring-controller.md, Sync 10 and 11.
 */
import { deepEqual, newControllerRef, resources } from '@gyropilot/api'
import type { EndpointSlice, Endpoints } from '@gyropilot/api'
import { MANAGED_BY_LABEL, SERVICE_NAME_LABEL } from '../endpoint-support/slice-labels.ts'
import { sliceNamePrefix } from '../endpoint-support/slice-name.ts'
import { MANAGER, UNMIRRORED_ANNOTATIONS } from './config.ts'
import type { DesiredMirror } from './desired-mirrors.ts'

type Texts = Readonly<Record<string, string>>

/** Complete: what somebody else put on a slice goes with the next write of it. */
export function newMirror(
  endpoints: Endpoints,
  { family, ports, endpoints: members }: DesiredMirror,
): EndpointSlice {
  const { namespace, name = '', labels } = endpoints.metadata ?? {}
  const annotations = mirroredAnnotations(endpoints)
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: sliceNamePrefix(name),
      namespace,
      labels: { ...labels, [SERVICE_NAME_LABEL]: name, [MANAGED_BY_LABEL]: MANAGER },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [newControllerRef(endpoints, resources.endpoints)],
    },
    addressType: family,
    endpoints: members.list(),
    ports,
  }
}

/** Labels, annotations and owner are those that it would be written with. */
export function isCurrentMirror({ metadata }: EndpointSlice, endpoints: Endpoints): boolean {
  const { [SERVICE_NAME_LABEL]: _, [MANAGED_BY_LABEL]: __, ...labels } = metadata?.labels ?? {}
  return (
    deepEqual(labels, endpoints.metadata?.labels ?? {}) &&
    deepEqual(metadata?.annotations ?? {}, mirroredAnnotations(endpoints)) &&
    !(metadata?.ownerReferences ?? []).some(
      ({ kind, name, uid }) =>
        kind === 'Endpoints' &&
        name === endpoints.metadata?.name &&
        uid !== endpoints.metadata?.uid,
    )
  )
}

function mirroredAnnotations({ metadata }: Endpoints): Texts {
  const all = Object.entries(metadata?.annotations ?? {})
  return Object.fromEntries(all.filter(([key]) => !UNMIRRORED_ANNOTATIONS.includes(key)))
}
