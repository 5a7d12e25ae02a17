/**
 * Which version of each Endpoints object this process replaced last: where the cache still shows
 * it, a sync would work with the past.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Sync 10 and 15.
 */
import { keyOf } from '@gyropilot/api'
import type { Endpoints } from '@gyropilot/api'

export class ReplacedVersions {
  readonly #versions = new Map<string, string>()

  /** A write that changed nothing replaced nothing. */
  written(previous: Endpoints, answer: Endpoints): void {
    const version = previous.metadata?.resourceVersion
    if (version === undefined || version === answer.metadata?.resourceVersion) return
    this.#versions.set(keyOf(previous), version)
  }

  isStale(endpoints: Endpoints): boolean {
    const version = endpoints.metadata?.resourceVersion
    return version !== undefined && this.#versions.get(keyOf(endpoints)) === version
  }

  forget(key: string): void {
    this.#versions.delete(key)
  }
}
