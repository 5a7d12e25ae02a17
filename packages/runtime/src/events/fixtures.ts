import { TransportError } from '@gyropilot/client'
import type { Clock } from '@gyropilot/foundation'
import type { FakeServer } from '../testing/index.ts'

/** Nobody answers from now on. What is given back tells how far apart the tries have been. */
export function unreachable(server: FakeServer, clock: Clock): () => readonly number[] {
  const atMs: number[] = []
  server.onRequest = () => {
    atMs.push(clock.monotonicMs())
    throw new TransportError('ECONNREFUSED', 'refused')
  }
  return () => atMs.slice(1).map((ms, i) => ms - atMs[i]!)
}
