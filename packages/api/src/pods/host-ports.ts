/** Ports of the node that pods take for themselves. Pure. */
import type { Pod } from '../generated/core-v1.ts'

export interface HostPort {
  readonly port: number
  readonly protocol: string
  readonly ip: string
}

const EVERY_ADDRESS = '0.0.0.0'

/** Of its containers and sidecars: init containers that end are gone when the others run. */
export function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(
    ({ restartPolicy }) => restartPolicy === 'Always',
  )
  return [...(spec?.containers ?? []), ...sidecars].flatMap((container) =>
    (container.ports ?? [])
      .filter((port) => (port.hostPort ?? 0) > 0)
      .map(({ hostPort = 0, protocol = 'TCP', hostIP }) => ({
        port: hostPort,
        protocol,
        ip: hostIP || EVERY_ADDRESS,
      })),
  )
}

/** Whether one of them is taken: the same number and protocol on the same address, or on all. */
export function hostPortsConflict(wanted: readonly HostPort[], used: readonly HostPort[]): boolean {
  return wanted.some((a) =>
    used.some(
      (b) =>
        a.port === b.port &&
        a.protocol === b.protocol &&
        (a.ip === b.ip || a.ip === EVERY_ADDRESS || b.ip === EVERY_ADDRESS),
    ),
  )
}
