/** Which addresses a cluster has: those that were asked for, but in a data directory those that it began with. */
import { resolve } from 'node:path'
import type { Store } from '@gyropilot/api-server'
import type { IpFamily } from '@gyropilot/cluster/live'
import { gyroErrors } from '../errors.ts'
import type { UpOptions } from './up-options.ts'

/** Throws when another family is asked for: nodes and Services never change theirs. */
export function familyOf(
  { family, familyIsGiven, dataDir }: Pick<UpOptions, 'family' | 'familyIsGiven' | 'dataDir'>,
  store: Pick<Store, 'get'>,
): IpFamily {
  const kept = keptFamily(store)
  if (kept === undefined || kept === family) return family
  if (!familyIsGiven) return kept
  throw gyroErrors.make(
    'UP_FLAG_INVALID',
    `--ip-family=${family}: the cluster in ${resolve(dataDir)} has ${kept}: leave the flag out, or choose another --data-dir`,
  )
}

/** By the range of Services that the server made when it started first. Undefined: it never did. */
function keptFamily(store: Pick<Store, 'get'>): IpFamily | undefined {
  const key = { collection: 'servicecidrs.networking.k8s.io', key: 'kubernetes' }
  const cidrs: readonly string[] = store.get(key)?.object['spec'].cidrs ?? []
  return cidrs.length === 0 ? undefined : familyOfRanges(cidrs)
}

/** Of one or two ranges of Services. */
export function familyOfRanges(cidrs: readonly string[]): IpFamily {
  if (cidrs.length > 1) return 'dual'
  return cidrs[0]?.includes(':') ? 'ipv6' : 'ipv4'
}
