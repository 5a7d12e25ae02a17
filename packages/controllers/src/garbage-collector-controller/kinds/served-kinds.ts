import type { ResourceType } from '@gyropilot/api'
import { ResourceLookup } from '@gyropilot/client'
import type { Discovered } from '@gyropilot/client'
import type { ObjectIdentity } from '../graph/identity.ts'

/** `exact`: the version that is named, preferred or not. `any`: if that is not served, the preferred one of those that are. */
export type Versions = 'exact' | 'any'

export type KindLookup = (
  kind: Pick<ObjectIdentity, 'apiVersion' | 'kind'>,
  versions?: Versions,
) => ResourceType | undefined

/** The resource that serves a kind at an apiVersion. */
export function kindLookup(discovered: Discovered): KindLookup {
  const lookup = new ResourceLookup(discovered)
  return ({ apiVersion, kind }, versions = 'exact') => {
    const parts = apiVersion.split('/')
    const [group, version] = parts.length === 1 ? ['', parts[0]] : parts
    // An empty version would stand for the preferred one, but a reference must say which it means.
    if (parts.length > 2 || !version || group === undefined || kind === '') return undefined
    const exact = lookup.forKind(group, kind, version)
    return exact === undefined && versions === 'any' ? lookup.forKind(group, kind) : exact
  }
}
