/**
 * Leader election alone is no fence: a process that was stopped for longer than its lease wakes up in the middle of its work,
 * and sends the next write before it looks at the time. Here each write looks at the time first.
 */
import { TransportError } from '@gyropilot/client'
import type { Transport } from '@gyropilot/client'

/**
 * Refuses writes unless `holdsLease` answers true; reads pass. What was sent before the lease ran out and is still on its
 * way can arrive later: that, only the server could refuse.
 */
export function fencedTransport(transport: Transport, holdsLease: () => boolean): Transport {
  return {
    async send(request) {
      const { method, path } = request
      if (method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS' && !holdsLease()) {
        throw new TransportError('CLOSED', `${method} ${path}: the leader lease has run out`, {
          notProcessed: true,
        })
      }
      return transport.send(request)
    },
    close: () => transport.close(),
  }
}
