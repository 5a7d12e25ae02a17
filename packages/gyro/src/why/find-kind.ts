/** Which resource a person means by `deploy`, `Pods` or `widgets.example.com`. Pure. */
import type { DiscoveredResource } from '@gyropilot/api'
import type { Discovered } from '@gyropilot/client'
import { ResourceLookup } from '@gyropilot/client'
import { suggestion } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'

/** Throws KIND_UNKNOWN. Plural, singular and kind go before short names; built-in groups come first in discovery. */
export function findKind(discovered: Discovered, written: string): DiscoveredResource {
  const word = written.toLowerCase()
  const known = new ResourceLookup(discovered).preferred(['get'])
  const named = (has: (resource: DiscoveredResource) => readonly string[]) =>
    known.find((resource) => has(resource).some((name) => isMeant(word, name, resource)))
  const found =
    named(({ resource, singular, kind }) => [resource, singular, kind.toLowerCase()]) ??
    named(({ shortNames }) => shortNames)
  if (found !== undefined) return found
  const names = known.flatMap(({ resource, kind }) => [resource, kind.toLowerCase()])
  const unread = [...discovered.failed.keys()]
  const hint =
    unread.length > 0
      ? `; its group may be one of those that could not be read: ${unread.join(', ')}`
      : suggestion(word, names)
  throw gyroErrors.make(
    'KIND_UNKNOWN',
    `the server has no kind ${JSON.stringify(written)}${hint || ': see kubectl api-resources'}`,
  )
}

/** `widgets`, `widgets.example.com` or `widgets.v1.example.com`. */
function isMeant(word: string, name: string, { group, version }: DiscoveredResource): boolean {
  return [name, `${name}.${group}`, `${name}.${version}.${group}`].includes(word)
}
