/** Gathers what the rules of a Service need from the caches. */
import type { EndpointSlice, Node, Pod, Service } from '@gyropilot/api'
import { byString } from '@gyropilot/foundation'
import type { Lister } from '@gyropilot/runtime'
import { serviceQuery } from '../endpoint-support/pod-services.ts'
import { SLICES_BY_SERVICE, isManagedBy } from '../endpoint-support/slice-labels.ts'
import { podsMatching } from '../workload-support/pod-label-index.ts'
import { MANAGER } from './config.ts'

export interface ObservedService {
  readonly key: string
  readonly service: Service
  /** Those that the selector selects, by name. */
  readonly pods: readonly Pod[]
  /** Of this Service by label and of this manager, by name; also those on their way out. */
  readonly slices: readonly EndpointSlice[]
  nodeNamed(name: string): Node | undefined
}

interface SliceListers {
  readonly services: Lister<Service>
  readonly pods: Lister<Pod>
  readonly slices: Lister<EndpointSlice>
  readonly nodes: Lister<Node>
}

const byName = byString(
  ({ metadata }: { readonly metadata?: { readonly name?: string } }) => metadata?.name ?? '',
)

export function observe(key: string, listers: SliceListers): ObservedService | undefined {
  const service = listers.services.getByKey(key)
  if (service === undefined) return undefined
  const pods = podsMatching(listers.pods, service.metadata?.namespace, serviceQuery(service))
  const slices = listers.slices.byIndex(SLICES_BY_SERVICE, key)
  return {
    key,
    service,
    pods: pods.toSorted(byName),
    slices: slices.filter((slice) => isManagedBy(slice, MANAGER)).toSorted(byName),
    nodeNamed: (name) => listers.nodes.get(undefined, name),
  }
}
