/** Contract: docs/behaviour/runtime/leader-election.md, Fence. */
import type { KubernetesObject } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import type { Client, ResourceClient } from '@gyropilot/client'

/**
 * The same client for the work of a leader: writes are refused unless `holdsLease` answers true, reads pass. A process that was
 * stopped for longer than its lease wakes up in the middle of its work, and would send its next write before it looks at the time.
 */
export function fencedClient(client: Client, holdsLease: () => boolean): Client {
  const write = async <R>(what: string, send: () => Promise<R>): Promise<R> => {
    if (holdsLease()) return send()
    throw new TransportError('CLOSED', `${what}: the leader lease has run out`, {
      notProcessed: true,
    })
  }
  return {
    resource<T extends KubernetesObject>(
      ...address: Parameters<typeof client.resource<T>>
    ): ResourceClient<T> {
      const resource = client.resource<T>(...address)
      const [{ resource: plural }] = address
      return {
        get: (...args) => resource.get(...args),
        list: (...args) => resource.list(...args),
        pages: (...args) => resource.pages(...args),
        watch: (...args) => resource.watch(...args),
        create: (...args) => write(`create ${plural}`, () => resource.create(...args)),
        update: (...args) => write(`update ${plural}`, () => resource.update(...args)),
        patch: (...args) => write(`patch ${plural}`, () => resource.patch(...args)),
        apply: (...args) => write(`apply ${plural}`, () => resource.apply(...args)),
        delete: (...args) => write(`delete ${plural}`, () => resource.delete(...args)),
        deleteCollection: (...args) =>
          write(`delete ${plural}`, () => resource.deleteCollection(...args)),
        createSubresource: (...args) =>
          write(`create ${plural}`, () => resource.createSubresource(...args)),
      }
    },
    raw: (request) => {
      const { method, path } = request
      return method === 'GET'
        ? client.raw(request)
        : write(`${method} ${path}`, () => client.raw(request))
    },
  }
}
