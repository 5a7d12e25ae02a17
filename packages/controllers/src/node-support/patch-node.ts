import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import { getLive, patch, wait, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'

const TRIES = 5
const PAUSE_MS = 100

interface NodeChange {
  readonly metadata?: object
  readonly spec?: object
}

/**
 * Changes a node that others write too: from what is there now, and never over a change that came between; five tries.
 * `change` makes a strategic patch of the live node; undefined: there is nothing to change. Answers the error, if there was one.
 */
export function* patchNode(
  { metadata }: Node,
  change: (live: Node) => NodeChange | undefined,
): Reconcile<unknown> {
  for (let attempt = 1; ; attempt++) {
    const live = yield* getLive(resources.nodes, undefined, metadata?.name ?? '')
    if (!live.ok) return live.error
    const changes = change(live.object)
    if (changes === undefined) return undefined
    // The version refuses a patch that would undo what somebody else did since.
    const { resourceVersion } = live.object.metadata ?? {}
    const value = { ...changes, metadata: { ...changes.metadata, resourceVersion } }
    const written = yield* write(patch(resources.nodes, live.object, { type: 'strategic', value }))
    if (written.ok) return undefined
    if (!isConflict(written.error) || attempt === TRIES) return written.error
    yield* wait(PAUSE_MS)
  }
}
