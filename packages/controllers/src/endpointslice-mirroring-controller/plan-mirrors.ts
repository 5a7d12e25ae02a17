/**
 * What becomes of the slices that exist.
 * Contract: docs/behaviour/controllers/endpointslice-mirroring-controller.md, Sync 8 to 13.
 */
import type { EndpointSlice, Endpoints } from '@gyropilot/api'
import { sameState } from '../endpoint-support/endpoint-set.ts'
import type { EndpointSet } from '../endpoint-support/endpoint-set.ts'
import { portsKey } from '../endpoint-support/slice-ports.ts'
import { recycled } from '../endpoint-support/write-slices.ts'
import type { SliceWrites } from '../endpoint-support/write-slices.ts'
import type { DesiredMirror } from './desired-mirrors.ts'
import { isCurrentMirror, newMirror } from './mirror-object.ts'

/** Endpoints, by what happens to them. */
interface EndpointChanges {
  readonly added: number
  readonly updated: number
  readonly removed: number
}

export interface MirrorPlan {
  readonly writes: SliceWrites
  readonly unchanged: readonly EndpointSlice[]
  readonly changes: EndpointChanges
  /** Slices that should exist. */
  readonly desiredSlices: number
  readonly endpoints: number
}

export function planMirrors(
  endpoints: Endpoints,
  mirrors: readonly DesiredMirror[],
  existing: readonly EndpointSlice[],
): MirrorPlan {
  const left = Map.groupBy(existing, ({ addressType, ports }) => groupKey(addressType, ports))
  const create: EndpointSlice[] = []
  const update: EndpointSlice[] = []
  const remove: EndpointSlice[] = []
  const unchanged: EndpointSlice[] = []
  const changes = { added: 0, updated: 0, removed: 0 }
  const wanted = mirrors.filter((mirror) => mirror.endpoints.size > 0)
  for (const mirror of wanted) {
    const key = groupKey(mirror.family, mirror.ports)
    const [kept, ...others] = left.get(key) ?? []
    left.delete(key)
    remove.push(...others)
    const own = changesOf(kept, mirror.endpoints)
    changes.added += own.added
    changes.updated += own.updated
    changes.removed += own.removed
    if (kept === undefined) {
      create.push(newMirror(endpoints, mirror))
    } else if (own.added + own.updated + own.removed === 0 && isCurrentMirror(kept, endpoints)) {
      unchanged.push(kept)
    } else {
      update.push(inPlaceOf(kept, newMirror(endpoints, mirror)))
    }
  }
  // 9, 12. No placeholders: without endpoints there is no slice.
  for (const slices of left.values()) {
    remove.push(...slices)
    for (const { endpoints: members } of slices) changes.removed += members?.length ?? 0
  }
  return {
    writes: recycled({ create, update, remove }),
    unchanged,
    changes,
    desiredSlices: wanted.length,
    endpoints: wanted.reduce((sum, mirror) => sum + mirror.endpoints.size, 0),
  }
}

/** By its name alone: that it was generated once is no longer said. */
function inPlaceOf(kept: EndpointSlice, next: EndpointSlice): EndpointSlice {
  const { generateName: _, ...metadata } = next.metadata ?? {}
  return { ...next, metadata: { ...metadata, name: kept.metadata?.name } }
}

function groupKey(family: EndpointSlice['addressType'], ports: EndpointSlice['ports']): string {
  return `${family} ${portsKey(ports)}`
}

function changesOf(kept: EndpointSlice | undefined, desired: EndpointSet): EndpointChanges {
  const missing = desired.copy()
  let [updated, removed] = [0, 0]
  for (const present of kept?.endpoints ?? []) {
    const wanted = missing.take(present)
    if (wanted === undefined) removed++
    else if (!sameState(wanted, present)) updated++
  }
  return { added: missing.size, updated, removed }
}
