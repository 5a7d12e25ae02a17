/** Gathers what the rules of a Service need from the caches. */
import type { Endpoints, Pod, Service } from '@gyropilot/api'
import { byString } from '@gyropilot/foundation'
import type { Lister } from '@gyropilot/runtime'
import { serviceQuery } from '../endpoint-support/pod-services.ts'
import { podsMatching } from '../workload-support/pod-label-index.ts'

export interface ObservedEndpoints {
  readonly key: string
  readonly namespace: string
  readonly name: string
  /** Undefined: it is gone, and what was made for it must go. */
  readonly service: Service | undefined
  readonly endpoints: Endpoints | undefined
  /** Those that the selector selects, by name. */
  pods(): readonly Pod[]
}

interface EndpointsListers {
  readonly services: Lister<Service>
  readonly endpoints: Lister<Endpoints>
  readonly pods: Lister<Pod>
}

const byName = byString(({ metadata }: Pod) => metadata?.name ?? '')

export function observe(key: string, listers: EndpointsListers): ObservedEndpoints {
  const [namespace = '', name = ''] = key.split('/')
  const service = listers.services.getByKey(key)
  return {
    key,
    namespace,
    name,
    service,
    endpoints: listers.endpoints.getByKey(key),
    pods: () =>
      service === undefined
        ? []
        : podsMatching(listers.pods, namespace, serviceQuery(service)).toSorted(byName),
  }
}
