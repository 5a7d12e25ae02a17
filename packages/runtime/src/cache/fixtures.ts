/** An informer over a fake server, and a handler that notes what it is told. */
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { DeletedFinalStateUnknown } from '../informer.ts'
import type { EventHandler } from '../informer.ts'
import { FakeServer, testClock } from '../testing/index.ts'
import { SharedInformer } from './shared-informer.ts'
import type { SharedInformerOptions } from './shared-informer-options.ts'

export const pod = (name: string, extra: Partial<Pod> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  ...extra,
  metadata: { namespace: 'default', name, ...extra.metadata },
})

export function informing(extra: Partial<SharedInformerOptions<Pod>> = {}) {
  const server = new FakeServer()
  const clock = testClock()
  const logger = new RecordingLogger()
  const stop = new AbortController()
  const informer = new SharedInformer<Pod>({
    client: server,
    type: resources.pods,
    clock,
    logger,
    random: new SeededRandom('informer'),
    ...extra,
  })
  const running = { done: Promise.resolve() }
  return {
    server,
    clock,
    logger,
    informer,
    start: async () => {
      running.done = informer.run(stop.signal)
      await clock.advance(0)
    },
    end: async () => {
      stop.abort()
      await clock.advance(0)
      await running.done
    },
  }
}

/** Notes what a handler is told, with the versions. */
export function noting(): { handler: EventHandler<Pod>; seen: string[] } {
  const seen: string[] = []
  const text = (object: Pod) => `${object.metadata!.name}@${object.metadata!.resourceVersion}`
  const handler: EventHandler<Pod> = {
    onAdd: (object, initial) => void seen.push(`add ${text(object)}${initial ? ' initial' : ''}`),
    onUpdate: (previous, object) => void seen.push(`update ${text(previous)} ${text(object)}`),
    onDelete: (object) =>
      void seen.push(
        object instanceof DeletedFinalStateUnknown
          ? `tombstone ${object.key}`
          : `delete ${text(object)}`,
      ),
  }
  return { handler, seen }
}
