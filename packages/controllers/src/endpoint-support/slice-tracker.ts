/**
 * What this process last did to EndpointSlices, so that its own writes cause no sync and a cache
 * that is behind them no wrong one.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync 5 and Watches.
 */
import type { EndpointSlice } from '@gyropilot/api'
import { compareResourceVersions, isResourceVersion } from '@gyropilot/runtime'
import { serviceKeyOf } from './slice-labels.ts'

const DELETED = 'deleted'

interface Written {
  readonly generation: number
  readonly resourceVersion: string | undefined
}

/** Slices are known by their uid under the Service that they name. */
export class SliceTracker {
  readonly #byService = new Map<string, Map<string, Written | typeof DELETED>>()
  readonly #seenVersion: () => string

  /** `seenVersion`: the resourceVersion that the cache of slices has come to; empty when it is not known. */
  constructor(seenVersion: () => string) {
    this.#seenVersion = seenVersion
  }

  /** Was just written, with this generation. */
  written(slice: EndpointSlice): void {
    const { resourceVersion } = slice.metadata ?? {}
    this.#recordOf(slice).set(uidOf(slice), { generation: generationOf(slice), resourceVersion })
  }

  /** Was just deleted by this process. */
  deleted(slice: EndpointSlice): void {
    this.#recordOf(slice).set(uidOf(slice), DELETED)
  }

  /** Somebody else made the slice, or changed it since. */
  isForeignChange(slice: EndpointSlice): boolean {
    const known = this.#byService.get(serviceKeyOf(slice) ?? '')?.get(uidOf(slice))
    if (known === undefined) return true
    return known !== DELETED && generationOf(slice) > known.generation
  }

  /**
   * The slice is gone from the cache and is forgotten. True when it was known here and nobody here
   * deleted it.
   */
  isForeignDeletion(slice: EndpointSlice): boolean {
    const record = this.#byService.get(serviceKeyOf(slice) ?? '')
    const known = record?.get(uidOf(slice))
    record?.delete(uidOf(slice))
    return known !== undefined && known !== DELETED
  }

  /**
   * Whether the cache is behind the writes of this process. `listed` are the slices that a sync
   * would work with, `cached` those and the ones on their way out.
   */
  isStale(
    serviceKey: string,
    listed: readonly EndpointSlice[],
    cached: readonly EndpointSlice[] = listed,
  ): boolean {
    const record = this.#byService.get(serviceKey)
    if (record === undefined) return false
    for (const slice of listed) {
      const known = record.get(uidOf(slice))
      if (known === DELETED) return true
      if (known !== undefined && known.generation > generationOf(slice)) return true
    }
    const uids = new Set(cached.map(uidOf))
    for (const [uid, known] of record) {
      if (known === DELETED || uids.has(uid)) continue
      if (!this.#hasSeen(known)) return true
      // Deleted since, or taken from the Service, perhaps before its write was answered: it is awaited no more.
      record.delete(uid)
    }
    return false
  }

  forget(serviceKey: string): void {
    this.#byService.delete(serviceKey)
  }

  #hasSeen({ resourceVersion }: Written): boolean {
    const seen = this.#seenVersion()
    if (!isResourceVersion(resourceVersion) || !isResourceVersion(seen)) return false
    return compareResourceVersions(resourceVersion, seen) <= 0
  }

  #recordOf(slice: EndpointSlice): Map<string, Written | typeof DELETED> {
    const key = serviceKeyOf(slice) ?? ''
    let record = this.#byService.get(key)
    if (record === undefined) this.#byService.set(key, (record = new Map()))
    return record
  }
}

function uidOf({ metadata }: EndpointSlice): string {
  return metadata?.uid ?? ''
}

function generationOf({ metadata }: EndpointSlice): number {
  return metadata?.generation ?? 0
}
