/** For tests of the shell and of the interpreter: a controller whose rules are given, and a world in which effects happen. */
import type { ConfigMap, Pod } from '@gyropilot/api'
import { keyOf, resources } from '@gyropilot/api'
import type { KeyedController } from './controller.ts'
import type { Reconcile } from './effects.ts'
import type { World } from './effects-interpreter.ts'
import { createExpectations } from './expectations.ts'
import { keyOfDeleted } from './informer.ts'
import { runKeyedController } from './keyed-controller.ts'
import { FakeServer, testClock, testContext } from './testing/index.ts'
import type { TestContext } from './testing/index.ts'

export const configMap = (name: string, extra: Partial<ConfigMap> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name, uid: `uid-${name}` },
  ...extra,
})
export const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name },
})

/** A controller of config maps whose rules are given. */
export function controllerOf(
  rules: (object: ConfigMap) => Reconcile,
  options: {
    cached?: readonly ConfigMap[]
    trace?: boolean
    also?: (context: TestContext<undefined>) => Partial<KeyedController<ConfigMap>>
  } & Partial<KeyedController<ConfigMap>> = {},
) {
  const { cached = [configMap('a')], trace, also, ...logic } = options
  const traced: unknown[] = []
  const context = testContext({
    configuration: undefined,
    cached,
    trace: trace
      ? {
          started: (_, key, reasons) => traced.push({ key, reasons }),
          effect: (_, key, effect, outcome) => traced.push({ key, effect, outcome }),
          finished: (_, key, verdict) => traced.push({ key, verdict }),
        }
      : undefined,
  })
  const lister = context.informers.informer(resources.configmaps).lister
  const runnable = runKeyedController<ConfigMap>(
    {
      queueName: 'test',
      workers: 2,
      watches: [
        {
          type: resources.configmaps,
          onAdd: (object) => [keyOf(object)],
          onUpdate: (_, object) => [keyOf(object)],
          onDelete: (object) => [keyOfDeleted(object)],
        },
      ],
      observe: (key) => lister.getByKey(key),
      reconcile: rules,
      ...logic,
      ...also?.(context),
    },
    context,
  )
  const stop = new AbortController()
  const start = async () => {
    const running = runnable.run(stop.signal)
    await context.clock.advance(0)
    return running
  }
  return {
    context,
    runnable,
    stop,
    start: () => void start(),
    run: () => runnable.run(stop.signal),
    traced,
  }
}

export const pods = (count: number): Pod[] => Array.from({ length: count }, (_, i) => pod(`p${i}`))

export function world(extra: Partial<World> = {}) {
  const server = new FakeServer()
  const clock = testClock()
  const expectations = createExpectations(clock)
  const stop = new AbortController()
  const of: World = {
    client: server,
    clock,
    recordEvent() {},
    signal: stop.signal,
    expectations,
    ...extra,
  }
  return { of, server, clock, expectations, stop }
}
