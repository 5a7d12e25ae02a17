/** The Endpoints of a Service go with it. Contract: docs/behaviour/api-server/storage-and-watch.md, "Deletion". */
import type { Clock } from '@gyropilot/foundation'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { AllocationHook } from '../../contracts.ts'
import { cloneJson } from '../../registry/equality.ts'
import { withRevision } from '../../storage/revision-log.ts'
import type { Store } from '../../storage/store.ts'
import { NOTHING_TAKEN } from './allocations.ts'
import { markTerminating } from './deletion.ts'

/** Whoever made them, and without asking anybody: not left to a controller, which may have none to do it. Finalizers keep them. */
export function serviceEndpoints(store: Store, clock: Clock): AllocationHook {
  return {
    group: '',
    resource: 'services',
    begin: () => NOTHING_TAKEN,
    released({ metadata }: Stored): void {
      const key = { collection: 'endpoints', key: `${metadata.namespace}/${metadata.name}` }
      const endpoints = store.get(key)?.object
      if (endpoints === undefined) return
      const isKept = (endpoints['metadata'].finalizers ?? []).length > 0
      if (!isKept) store.commit(key, () => undefined)
      else if (endpoints['metadata'].deletionTimestamp === undefined) {
        const draft = cloneJson(endpoints) as Draft
        markTerminating(draft, clock.nowMs())
        store.commit(key, (revision) => withRevision(draft, revision))
      }
    },
  }
}
