import type { Lease, LeaseCandidate } from '@gyropilot/api'
import { formatMicroTime, formatTime } from '@gyropilot/foundation'

/** The moment at which these tests begin. */
export const NOW_MS = Date.UTC(2026, 0, 1)
export const OLDEST = 'OldestEmulationVersion'

interface CandidateSetup {
  readonly emulation?: string
  readonly binary?: string
  readonly strategy?: string
  /** Times in seconds from NOW_MS. Renewed: absent is now, null never. */
  readonly renewed?: number | null
  readonly pinged?: number
  readonly created?: number
}

export const at = (seconds: number): string => formatMicroTime(NOW_MS + seconds * 1000)

/** For the lease kube-system/l. */
export function candidate(name: string, setup: CandidateSetup = {}): LeaseCandidate {
  const { emulation = '1.36.0', binary = '1.36.0', strategy = OLDEST } = setup
  const { renewed = 0, pinged, created = -60 } = setup
  return {
    metadata: {
      namespace: 'kube-system',
      name,
      creationTimestamp: formatTime(NOW_MS + created * 1000),
    },
    spec: {
      leaseName: 'l',
      binaryVersion: binary,
      emulationVersion: emulation,
      strategy,
      ...(renewed === null ? {} : { renewTime: at(renewed) }),
      ...(pinged === undefined ? {} : { pingTime: at(pinged) }),
    },
  }
}

/** Held, and renewed now for 15 s, unless told otherwise. */
export function lease(holderIdentity: string, spec: Lease['spec'] = {}): Lease {
  return {
    metadata: { namespace: 'kube-system', name: 'l' },
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: at(0), strategy: OLDEST, ...spec },
  }
}
