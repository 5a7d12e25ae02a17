/** What the commands of a container reach by names and addresses. Contract: docs/behaviour/simulation/kubelet.md, Network. */

export type Lookup =
  | {
      readonly kind: 'found'
      /** With all its parts, as a resolver answers it. */
      readonly name: string
      readonly addresses: readonly string[]
    }
  /** The cluster would know it, and nobody is called so. */
  | { readonly kind: 'unknown' }
  /** Not of the cluster: nothing is known of it here. */
  | { readonly kind: 'elsewhere' }

export type RecordType = 'A' | 'AAAA' | 'CNAME' | 'SRV' | 'PTR'

export interface NameRecord {
  /** In full, without a dot at the end. */
  readonly name: string
  readonly type: RecordType
  /** As zone files have it. */
  readonly data: string
}

export interface Records {
  /** As of a lookup. */
  readonly kind: Lookup['kind']
  readonly records: readonly NameRecord[]
}

export type Exchange =
  | {
      readonly kind: 'answered'
      readonly bytes: Uint8Array
      /** By a program of the user's, not by the page of a simulated pod. */
      readonly isReal: boolean
    }
  | { readonly kind: 'refused' }
  /** No answer comes, ever: who asked waits for as long as it likes. */
  | { readonly kind: 'lost' }
  /** The answer was not whole in time. */
  | { readonly kind: 'late' }
  | { readonly kind: 'elsewhere' }

export type Protocol = 'TCP' | 'UDP' | 'SCTP'

export interface Sent {
  /** None: only whether somebody listens. By SCTP that is all that is known. */
  readonly bytes: Uint8Array
  readonly mostMs: number
  /** Default: TCP. */
  readonly protocol?: Protocol | undefined
  /** It is HTTPS in truth: programs of the user's cannot be asked so. */
  readonly isEncrypted?: boolean | undefined
}

/** A connection that somebody opened to a program. */
export interface Incoming {
  readonly input: AsyncIterable<Uint8Array>
  output(bytes: Uint8Array): Promise<void>
  /** Whoever opened it has gone. */
  readonly signal: AbortSignal
  close(): void
}

export interface Network {
  /** The server that names are asked of. */
  readonly resolver: string
  lookup(name: string): Promise<Lookup>
  /** What DNS has of that type; the search list of the resolver is gone through only where that is asked for. */
  records(name: string, type: RecordType, searches: boolean): Promise<Records>
  /** Connects, sends, and takes what comes until the other side ends; by UDP the one datagram that comes back. */
  exchange(address: string, port: number, sent: Sent): Promise<Exchange>
  /** The container's own pod, by whatever address. */
  isOwn(address: string): boolean
}
