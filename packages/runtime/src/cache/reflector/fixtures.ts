/** A reflector over a fake server, and what it says. */
import type { KubernetesObject, Pod, WatchEvent } from '@gyropilot/api'
import { keyOf, resources } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import { SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeServer, keysOf, statusError, testClock } from '../../testing/index.ts'
import { Reflector } from './reflector.ts'
import type { ReflectorOptions } from './reflector.ts'

export const pod = (name: string, resourceVersion?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name, ...(resourceVersion ? { resourceVersion } : {}) },
})
export const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Pod): WatchEvent => ({
  type,
  object,
})

export const tooLarge = () =>
  statusError(504, 'Timeout', 'Too large resource version: 10, current: 5', {
    causes: [{ reason: 'ResourceVersionTooLarge' }],
  })
export const expired = () => statusError(410, 'Expired', 'too old resource version')
export const refused = () => new TransportError('ECONNREFUSED', 'connect ECONNREFUSED')

export function reflecting(extra: Partial<ReflectorOptions<Pod>> = {}) {
  const server = new FakeServer()
  const clock = testClock()
  const logger = new RecordingLogger()
  const stop = new AbortController()
  const seen: string[] = []
  const cached = new Map<string, KubernetesObject>()
  const watchErrors: unknown[] = []
  const reflector = new Reflector<Pod>({
    client: server,
    type: resources.pods,
    clock,
    logger,
    random: new SeededRandom('reflector'),
    watchList: false,
    onWatchError: (error) => watchErrors.push(error),
    sink: {
      async replaced(objects, resourceVersion) {
        cached.clear()
        for (const object of objects) cached.set(keyOf(object), object)
        seen.push(`list@${resourceVersion}`)
      },
      changed(type, object) {
        if (type === 'Deleted') cached.delete(keyOf(object))
        else cached.set(keyOf(object), object)
        seen.push(`${type} ${object.metadata?.name}`)
      },
      bookmarked: (resourceVersion) => void seen.push(`bookmark@${resourceVersion}`),
      temporary() {
        const objects = new Map<string, Pod>()
        return {
          changed(type, object) {
            if (type === 'Deleted') objects.delete(keyOf(object))
            else objects.set(keyOf(object), object)
          },
          differenceTo: () => undefined,
          complete(resourceVersion) {
            cached.clear()
            for (const [key, object] of objects) cached.set(key, object)
            seen.push(`stream@${resourceVersion}`)
          },
        }
      },
    },
    ...extra,
  })
  const running = { done: Promise.resolve() }
  const start = async () => {
    running.done = reflector.run(stop.signal)
    await clock.advance(0)
  }
  const end = async () => {
    stop.abort()
    await clock.advance(0)
    await running.done
  }
  return {
    server,
    clock,
    logger,
    reflector,
    seen,
    cached,
    watchErrors,
    start,
    end,
    keys: () => keysOf(cached.values()),
  }
}

export const pages = (server: FakeServer) =>
  server.requested('list').map(({ options: { resourceVersion, limit, continue: token } }) => ({
    resourceVersion,
    limit,
    continue: token,
  }))
export const page = (resourceVersion: string, token?: string, items: Pod[] = []) => ({
  metadata: { resourceVersion, continue: token },
  items,
})
