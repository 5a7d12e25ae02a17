import type { ResourceType } from '@gyropilot/api'
import { ResourceLookup } from '@gyropilot/client'
import type { Discovered } from '@gyropilot/client'
import type { ObjectIdentity } from '../graph/identity.ts'

/** The resource that serves a kind at an apiVersion, which need not be the preferred one. */
export function kindLookup(
  discovered: Discovered,
): (kind: Pick<ObjectIdentity, 'apiVersion' | 'kind'>) => ResourceType | undefined {
  const lookup = new ResourceLookup(discovered)
  return ({ apiVersion, kind }) => {
    const parts = apiVersion.split('/')
    const [group, version] = parts.length === 1 ? ['', parts[0]] : parts
    // An empty version would stand for the preferred one, but a reference must say which it means.
    if (parts.length > 2 || !version || group === undefined || kind === '') return undefined
    return lookup.forKind(group, kind, version)
  }
}
