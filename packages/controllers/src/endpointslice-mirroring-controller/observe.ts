/** Gathers what the rules of mirroring need from the caches. */
import type { EndpointSlice, Endpoints, Service } from '@gyropilot/api'
import { byString } from '@gyropilot/foundation'
import type { Lister } from '@gyropilot/runtime'
import { SLICES_BY_SERVICE, isManagedBy } from '../endpoint-support/slice-labels.ts'
import { MANAGER } from './config.ts'

export interface ObservedMirror {
  readonly key: string
  readonly endpoints: Endpoints | undefined
  /** Of the same name. */
  readonly service: Service | undefined
  /** Of this Service by label and of this manager, by name. */
  readonly slices: readonly EndpointSlice[]
}

interface MirrorListers {
  readonly endpoints: Lister<Endpoints>
  readonly services: Lister<Service>
  readonly slices: Lister<EndpointSlice>
}

const byName = byString(({ metadata }: EndpointSlice) => metadata?.name ?? '')

export function observe(key: string, listers: MirrorListers): ObservedMirror {
  return {
    key,
    endpoints: listers.endpoints.getByKey(key),
    service: listers.services.getByKey(key),
    slices: listers.slices
      .byIndex(SLICES_BY_SERVICE, key)
      .filter((slice) => isManagedBy(slice, MANAGER))
      .toSorted(byName),
  }
}
