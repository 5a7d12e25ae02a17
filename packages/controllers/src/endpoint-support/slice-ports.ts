/** Which EndpointSlices may share endpoints: those with the same ports. */
import { compareStrings } from '@gyropilot/foundation'
import type { EndpointPort } from '@gyropilot/api'

/** Equal for equal sets of ports, in any order; an absent list is an empty one. */
export function portsKey(ports: readonly EndpointPort[] | null | undefined): string {
  return (ports ?? [])
    .map(({ name = '', protocol = 'TCP', port, appProtocol }) =>
      JSON.stringify([name, protocol, port ?? null, appProtocol ?? null]),
    )
    .toSorted(compareStrings)
    .join()
}
