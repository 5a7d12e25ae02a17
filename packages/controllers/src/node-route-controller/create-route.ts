/** One route of one node. Contract: docs/behaviour/controllers/node-route-controller.md, Sync 7. */
import type { Node } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import { errorText, formatGoDuration } from '@gyropilot/foundation'
import { elapsedTimeMs, recordEvent, wait } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { askCloud } from '../cloud-support/cloud-calls.ts'

const TRIES = 5
const PAUSE_MS = 100

/** Only conflicts are tried again. Answers the error, if there was one. */
export function* createRoute(
  node: Node,
  destinationCidr: string,
  clusterName: string,
): Reconcile<unknown> {
  const { name = '', uid = '' } = node.metadata ?? {}
  const route = {
    name: '',
    targetNode: name,
    targetNodeAddresses: node.status?.addresses ?? [],
    destinationCidr,
  }
  for (let attempt = 1; ; attempt++) {
    const startMs = yield* elapsedTimeMs()
    const created = yield* askCloud('routes', 'createRoute', clusterName, uid, route)
    if (created.ok) return undefined
    const took = formatGoDuration((yield* elapsedTimeMs()) - startMs)
    const what = `Could not create route ${uid} ${destinationCidr} for node ${name}`
    const message = `${what} after ${took}: ${errorText(created.error)}`
    yield* recordEvent(node, 'Warning', 'FailedToCreateRoute', message)
    if (!isConflict(created.error) || attempt === TRIES) return created.error
    yield* wait(PAUSE_MS)
  }
}
