/** The resource that a migration names, as the server has it now. */
import { apiVersionOf } from '@gyropilot/api'
import type { DiscoveredResource, StorageVersionMigration } from '@gyropilot/api'
import { ResourceLookup } from '@gyropilot/client'
import { discoverLive } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { resourceOf } from './migration.ts'

/** In its preferred version; undefined: there is none. A group that did not answer is an error: it may have it. */
export function* findResource(
  migration: StorageVersionMigration,
): Reconcile<Outcome<DiscoveredResource | undefined>> {
  const discovered = yield* discoverLive()
  if (!discovered.ok) return discovered
  const { group, resource } = resourceOf(migration)
  const { failed } = discovered.object
  const answered = discovered.object.resources.filter((each) => !failed.has(apiVersionOf(each)))
  const found = new ResourceLookup({ ...discovered.object, resources: answered }).forResource(
    group,
    resource,
  )
  if (found !== undefined) return { ok: true, object: found }
  for (const [groupVersion, reason] of failed) {
    if (groupVersion.split('/')[0] === group)
      return { ok: false, error: new Error(`${groupVersion}: ${reason}`), attempted: true }
  }
  return { ok: true, object: undefined }
}
