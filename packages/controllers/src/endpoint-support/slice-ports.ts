/** Which EndpointSlices may share endpoints: those with the same ports. */
import { compareStrings } from '@gyropilot/foundation'
import type { EndpointSlice } from '@gyropilot/api'

/** A port in a slice: not the one of the same name in Endpoints, whose number is never absent. */
export type SlicePort = NonNullable<EndpointSlice['ports']>[number]

/** Equal for equal sets of ports, in any order; an absent list is an empty one. */
export function portsKey(ports: readonly SlicePort[] | null | undefined): string {
  return (ports ?? [])
    .map(({ name = '', protocol = 'TCP', port, appProtocol }) =>
      JSON.stringify([name, protocol, port ?? null, appProtocol ?? null]),
    )
    .toSorted(compareStrings)
    .join()
}
