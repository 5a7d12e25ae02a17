/**
 * Endpoints by identity: addresses, hostname and pod.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync A.
 */
import { semanticEqual } from '@gyropilot/api'
import type { Endpoint } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'

/** Keeps the order in which endpoints came in. */
export class EndpointSet {
  readonly #byIdentity = new Map<string, Endpoint>()

  constructor(endpoints: Iterable<Endpoint> = []) {
    for (const endpoint of endpoints) this.add(endpoint)
  }

  get size(): number {
    return this.#byIdentity.size
  }

  add(endpoint: Endpoint): void {
    this.#byIdentity.set(identityOf(endpoint), endpoint)
  }

  /** Takes out the member that is the same endpoint, whatever its state. */
  take(endpoint: Endpoint): Endpoint | undefined {
    const identity = identityOf(endpoint)
    const member = this.#byIdentity.get(identity)
    this.#byIdentity.delete(identity)
    return member
  }

  /** Takes out the first `count` members. */
  takeFirst(count: number): readonly Endpoint[] {
    const taken = [...this.#byIdentity].slice(0, Math.max(0, count))
    for (const [identity] of taken) this.#byIdentity.delete(identity)
    return taken.map(([, endpoint]) => endpoint)
  }

  copy(): EndpointSet {
    return new EndpointSet(this.#byIdentity.values())
  }
}

function identityOf({ addresses, hostname, targetRef }: Endpoint): string {
  return JSON.stringify([
    addresses.toSorted(compareStrings),
    hostname ?? '',
    targetRef?.namespace ?? '',
    targetRef?.name ?? '',
  ])
}

/** Of two with one identity: nothing to write but, perhaps, hints. */
export function sameState(a: Endpoint, b: Endpoint): boolean {
  return (
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    a.conditions?.ready === b.conditions?.ready &&
    a.conditions?.serving === b.conditions?.serving &&
    a.conditions?.terminating === b.conditions?.terminating &&
    semanticEqual(
      { ...a.targetRef, resourceVersion: undefined },
      { ...b.targetRef, resourceVersion: undefined },
    )
  )
}
