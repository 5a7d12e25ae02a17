/** Labels that stand twice, under an old key and a new one: the old is the source. */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import { getLive, patch, wait, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import {
  BETA_REGION_LABEL,
  BETA_TYPE_LABEL,
  BETA_ZONE_LABEL,
  REGION_LABEL,
  TYPE_LABEL,
  ZONE_LABEL,
} from './config.ts'

const TRIES = 5
const PAUSE_MS = 100

const MIRRORED: readonly (readonly [source: string, target: string])[] = [
  [BETA_ZONE_LABEL, ZONE_LABEL],
  [BETA_REGION_LABEL, REGION_LABEL],
  [BETA_TYPE_LABEL, TYPE_LABEL],
]

/** What is missing or differs; undefined: nothing. */
export function labelsToMirror({ metadata }: Node): Readonly<Record<string, string>> | undefined {
  const { labels } = metadata ?? {}
  if (!labels) return undefined
  const wanted = MIRRORED.flatMap(([source, target]) => {
    const value = labels[source]
    return value === undefined || labels[target] === value ? [] : [[target, value] as const]
  })
  return wanted.length === 0 ? undefined : Object.fromEntries(wanted)
}

/** From the cached node; a patch that somebody crossed is sent again. Answers the error, if there was one. */
export function* mirrorLabels(node: Node): Reconcile<unknown> {
  // 1. and 2.
  const labels = labelsToMirror(node)
  if (labels === undefined) return undefined
  // 3.
  const type = resources.nodes
  const value = { metadata: { labels } }
  for (let attempt = 1; ; attempt++) {
    const live = yield* getLive(type, undefined, node.metadata?.name ?? '')
    if (!live.ok) return live.error
    const written = yield* write(patch(type, live.object, { type: 'strategic', value }))
    if (written.ok) return undefined
    if (!isConflict(written.error) || attempt === TRIES) return written.error
    yield* wait(PAUSE_MS)
  }
}
