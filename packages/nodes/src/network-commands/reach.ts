/** From a command to who answers it: the name first, then the address. */
import type { Protocol } from '../shell/network.ts'
import type { Process } from '../shell/process.ts'

interface Wanted {
  readonly host: string
  readonly port: number
  readonly bytes: Uint8Array
  readonly mostMs: number
  /** How long it may take until somebody takes the connection. Default: all of the time. */
  readonly connectMs?: number | undefined
  /** Default: TCP. */
  readonly protocol?: Protocol | undefined
  readonly isEncrypted?: boolean | undefined
}

export type Reached =
  | {
      readonly kind: 'answered'
      readonly address: string
      readonly bytes: Uint8Array
      readonly isReal: boolean
    }
  | { readonly kind: 'nameless' }
  | { readonly kind: 'refused' | 'lost' | 'late' | 'elsewhere'; readonly address: string }

/**
 * Sends and waits for the answer. What nothing is known of here is told to the place first: what is elsewhere, and what the
 * container's own programs answer, which of a simulated container are guesses.
 */
export async function reach({ place }: Process, wanted: Wanted): Promise<Reached> {
  const { host, port, bytes, mostMs, connectMs = mostMs, protocol, isEncrypted } = wanted
  const network = place.network!
  const found = await network.lookup(host)
  if (found.kind !== 'found') {
    if (found.kind === 'elsewhere') place.onUnknown?.(host)
    return { kind: 'nameless' }
  }
  const address = found.addresses[0]!
  if (network.isOwn(address)) place.onUnknown?.(`${host}:${port}`)
  const exchange = await network.exchange(address, port, {
    bytes,
    mostMs,
    protocol,
    isEncrypted,
  })
  if (exchange.kind === 'elsewhere') place.onUnknown?.(host)
  if (exchange.kind === 'lost') await place.sleep(connectMs)
  return { ...exchange, address }
}
