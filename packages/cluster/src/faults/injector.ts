import type { RequestFacts } from '../simulated/request-facts.ts'

/** What goes wrong with one request. */
export type RequestFault =
  /** The process dies: `before` the request leaves it, or `after` the server did it and before the answer is read. */
  | { readonly kind: 'crash'; readonly when: 'before' | 'after' }
  | { readonly kind: 'reset'; readonly applied: boolean }
  /** No answer comes; the caller learns of it after `afterMs`. */
  | { readonly kind: 'timeout'; readonly applied: boolean; readonly afterMs: number }
  | { readonly kind: 'refusal'; readonly code: 409 | 429 | 500 | 503 }
  /** Reads only: answered from the state before the last `behind` changes of the collection. */
  | { readonly kind: 'stale'; readonly behind: number }
  /** As that, at a revision of the store. */
  | { readonly kind: 'stale'; readonly revision: number }
  | { readonly kind: 'delay'; readonly byMs: number }

/** What goes wrong with one event of a watch. No fault makes a history that a real server could not have sent. */
export type EventFault =
  /** The event and what follows it is lost; the watch ends with 410, and the next list waits for `forMs`. */
  | { readonly kind: 'gap'; readonly forMs: number }
  /** The watch ends cleanly before the event, which comes with the next watch. */
  | { readonly kind: 'break' }
  /** The event and all behind it come late. */
  | { readonly kind: 'delay'; readonly byMs: number }
  /** The watch ends with 410 behind the event and everything is listed again: every object is seen twice. */
  | { readonly kind: 'repeat' }

/** What a fault may be chosen by, of an event that is on its way to a watch. */
export interface EventFacts {
  readonly process: string
  readonly link: string
  readonly collection: string
  readonly type: string
  readonly key: string
  readonly resourceVersion: string
}

/** Asked for each request and each event of the parts of the cluster; the user's own requests are never disturbed. */
export interface FaultInjector {
  onRequest(request: RequestFacts): RequestFault | undefined
  onEvent(event: EventFacts): EventFault | undefined
}

/** Lets everything pass. */
export const noFaults: FaultInjector = {
  onRequest: () => undefined,
  onEvent: () => undefined,
}
