/**
 * Endpoints by identity: addresses, hostname and pod.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync A.
 */
import type { Endpoint, ObjectReference } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'

/** Keeps the order in which endpoints came in. */
export class EndpointSet {
  readonly #byIdentity: Map<string, Endpoint>

  constructor(endpoints: Iterable<Endpoint> | EndpointSet = []) {
    if (endpoints instanceof EndpointSet) {
      this.#byIdentity = new Map(endpoints.#byIdentity)
      return
    }
    this.#byIdentity = new Map()
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
    const taken: Endpoint[] = []
    for (const [identity, endpoint] of this.#byIdentity) {
      if (taken.length >= count) break
      taken.push(endpoint)
      this.#byIdentity.delete(identity)
    }
    return taken
  }

  list(): readonly Endpoint[] {
    return [...this.#byIdentity.values()]
  }

  copy(): EndpointSet {
    return new EndpointSet(this)
  }
}

/** Runs twice for every endpoint of a Service in every sync. No part of it can contain a slash. */
function identityOf({ addresses, hostname, targetRef }: Endpoint): string {
  const sorted = addresses.length === 1 ? addresses[0] : addresses.toSorted(compareStrings).join()
  return `${sorted}/${hostname ?? ''}/${targetRef?.namespace ?? ''}/${targetRef?.name ?? ''}`
}

/** Of two with one identity: nothing to write but, perhaps, hints. */
export function sameState(a: Endpoint, b: Endpoint): boolean {
  return (
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    a.conditions?.ready === b.conditions?.ready &&
    a.conditions?.serving === b.conditions?.serving &&
    a.conditions?.terminating === b.conditions?.terminating &&
    sameReference(a.targetRef ?? {}, b.targetRef ?? {})
  )
}

/** The version of the pod does not count: it changes with every write of a status. */
function sameReference(a: ObjectReference, b: ObjectReference): boolean {
  return (
    (a.uid ?? '') === (b.uid ?? '') &&
    (a.name ?? '') === (b.name ?? '') &&
    (a.namespace ?? '') === (b.namespace ?? '') &&
    (a.kind ?? '') === (b.kind ?? '') &&
    (a.apiVersion ?? '') === (b.apiVersion ?? '') &&
    (a.fieldPath ?? '') === (b.fieldPath ?? '')
  )
}
