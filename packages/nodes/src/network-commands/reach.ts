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
  /** Default: it asks the first address that the name has, as busybox does. */
  readonly triesAll?: boolean | undefined
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
export async function reach(task: Process, wanted: Wanted): Promise<Reached> {
  const { host, triesAll = false, mostMs, connectMs = mostMs } = wanted
  const { place } = task
  const found = await place.network!.lookup(host)
  if (found.kind !== 'found') {
    if (found.kind === 'elsewhere') place.onUnknown?.(host)
    return { kind: 'nameless' }
  }
  const addresses = triesAll ? found.addresses : found.addresses.slice(0, 1)
  // Who tries several has as long for all of them as others for one.
  const each = { ...wanted, connectMs: connectMs / addresses.length }
  let reached = await reachAt(task, addresses[0]!, each)
  for (const address of addresses.slice(1)) {
    if (reached.kind === 'answered' || reached.kind === 'late') break
    reached = await reachAt(task, address, each)
  }
  if (reached.kind === 'elsewhere') place.onUnknown?.(host)
  return reached
}

async function reachAt(
  { place }: Process,
  address: string,
  { host, port, bytes, mostMs, connectMs = mostMs, protocol, isEncrypted }: Wanted,
): Promise<Exclude<Reached, { readonly kind: 'nameless' }>> {
  const network = place.network!
  if (network.isOwn(address)) place.onUnknown?.(`${host}:${port}`)
  const sent = { bytes, mostMs, protocol, isEncrypted }
  const exchange = await network.exchange(address, port, sent)
  if (exchange.kind === 'lost') await place.sleep(connectMs)
  return { ...exchange, address }
}
