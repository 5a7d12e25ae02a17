import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { controllers } from '@gyropilot/controllers'
import { statusError } from '@gyropilot/runtime/testing'
import { descriptor, managerWorld, obedientLoop, stubbornLoop } from './fixtures.ts'
import { knownControllers } from './controller-names.ts'
import { withinShutdownTimeout } from './shutdown.ts'

test('Given `*`, when built, then no cloud loop is constructed', async () => {
  const built: string[] = []
  const descriptors = knownControllers.map(({ name }) =>
    descriptor(name, () => {
      built.push(name)
      return undefined
    }),
  )
  const { run, clock, stop, logger } = managerWorld(descriptors)
  const running = run()
  await clock.advance(0)
  stop.abort()
  await running
  const cloud = [
    'service-lb-controller',
    'node-route-controller',
    'cloud-node-lifecycle-controller',
  ]
  for (const name of cloud) assert.ok(!built.includes(name), name)
  assert.equal(built[0], 'serviceaccount-token-controller', 'it comes before all others')
  const offByDefault = knownControllers.filter((c) => !c.enabledByDefault).length
  assert.equal(built.length, knownControllers.length - cloud.length - offByDefault)
  assert.equal(
    logger.messages().filter((text) => text === 'Warning: skipping controller').length,
    built.length + cloud.length,
  )
})

test('which resources serve which kinds is asked once for all controllers, as the manager itself', async () => {
  const mappers = new Set<unknown>()
  const names = ['ttl-controller', 'job-controller']
  const { run, clock, stop, state } = managerWorld(
    names.map((name) =>
      descriptor(name, ({ mapper }) => {
        mappers.add(mapper)
        return obedientLoop
      }),
    ),
  )
  const running = run()
  await clock.advance(0)
  stop.abort()
  await running
  assert.equal(mappers.size, 1)
  assert.ok(state.clients.includes('root controller-discovery'))
})

test('credentials of what namespaces wait for are asked for while caches fill', async () => {
  const { run, clock, stop, state } = managerWorld(controllers)
  const running = run()
  await clock.advance(0)
  stop.abort()
  await running
  assert.deepEqual(
    state.clients.filter((name) => name.endsWith('at once')),
    [
      'own namespace-controller, at once',
      'own service-account-controller, at once',
      'own root-ca-cert-publisher, at once',
    ],
  )
})

test('Given a loop that ignores cancellation and a 50 ms timeout, when cancelled, then the runner reports an unclean stop', async () => {
  const { run, clock, stop, logger } = managerWorld([
    descriptor('ttl-controller', () => stubbornLoop),
    descriptor('job-controller'),
  ])
  const bounded = withinShutdownTimeout(run(), stop.signal, { timeoutMs: 50, clock, logger })
  const ended = assert.rejects(bounded, {
    code: 'SHUTDOWN_TIMEOUT',
    exitCode: 1,
    message: 'controller shutdown timeout reached',
  })
  await clock.advance(1000)
  stop.abort()
  await clock.advance(49)
  const waiting = 'Still waiting for some controllers to terminate...'
  assert.equal(logger.messages().filter((text) => text === waiting).length, 2)
  await clock.advance(1)
  await ended
})

test('a timeout of 0 waits for ever, and loops that stop end it at once', async () => {
  const { run, clock, stop, logger } = managerWorld([
    descriptor('ttl-controller', () => stubbornLoop),
  ])
  let ended = false
  void withinShutdownTimeout(run(), stop.signal, { timeoutMs: 0, clock, logger }).finally(
    () => (ended = true),
  )
  await clock.advance(0)
  stop.abort()
  await clock.advance(3_600_000)
  assert.equal(ended, false)

  const other = managerWorld([descriptor('ttl-controller')])
  const orderly = withinShutdownTimeout(other.run(), other.stop.signal, {
    timeoutMs: 50,
    clock: other.clock,
    logger: other.logger,
  })
  await other.clock.advance(0)
  other.stop.abort()
  await orderly
})

test('Given a running manager, when /metrics is read, then informer_queued_items has name="kube-controller-manager"', async () => {
  const { run, clock, stop, metrics } = managerWorld([
    descriptor('ttl-controller', ({ informers }) => {
      informers.informer(resources.pods)
      return obedientLoop
    }),
  ])
  const running = run()
  await clock.advance(0)
  assert.match(
    metrics.expose(),
    /^informer_queued_items\{group="",name="kube-controller-manager",resource="pods",version="v1"\} 0$/m,
  )
  stop.abort()
  await clock.advance(0)
  await running
})

test('a leader lists the latest where lists are not streamed: any older list lacks what the one before it wrote', async () => {
  const { run, clock, stop, server } = managerWorld([
    descriptor('ttl-controller', ({ informers, metadataInformers }) => {
      informers.informer(resources.pods)
      metadataInformers.informer(resources.nodes)
      return obedientLoop
    }),
  ])
  server.onRequest = ({ verb, options }) => {
    if (verb === 'watch' && options.sendInitialEvents) throw statusError(500, 'InternalError')
    return undefined
  }
  const running = run()
  await clock.advance(1_000)
  const lists = server.requested('list')
  assert.deepEqual(
    lists.map(({ path, options }) => [path, options.resourceVersion]),
    [
      ['/api/v1/pods', undefined],
      ['/api/v1/nodes', undefined],
    ],
  )
  stop.abort()
  await clock.advance(0)
  await running
})

test('informers of metadata count too where upstream has a type for the kind', async () => {
  const widgets = { ...resources.pods, group: 'example.com', resource: 'widgets', kind: 'Widget' }
  const watched: readonly ResourceType[] = [
    resources.limitranges,
    resources.customresourcedefinitions,
    widgets,
    // Served by a server with the gate only, so not in the table of types.
    { ...resources.pods, group: 'scheduling.k8s.io', version: 'v1alpha2', kind: 'PodGroup' },
  ]
  const { run, clock, stop, metrics } = managerWorld([
    descriptor('ttl-controller', ({ metadataInformers }) => {
      for (const type of watched) metadataInformers.informer(type)
      return obedientLoop
    }),
  ])
  const running = run()
  await clock.advance(0)
  const counted = metrics.expose().match(/^informer_queued_items.*$/gm)
  assert.deepEqual(counted, [
    'informer_queued_items{group="",name="kube-controller-manager",resource="limitranges",version="v1"} 0',
    'informer_queued_items{group="scheduling.k8s.io",name="kube-controller-manager",resource="podgroups",version="v1alpha2"} 0',
  ])
  stop.abort()
  await clock.advance(0)
  await running
})

test('controllers wait for a healthy server: at once, then every second, at most ten', async () => {
  const { run, clock, state, stop } = managerWorld([descriptor('ttl-controller')])
  state.healthy = false
  const running = run()
  await clock.advance(3_500)
  assert.equal(state.healthRequests, 4)
  assert.deepEqual(state.clients, ['root shared-informers'], 'nothing is built yet')
  state.healthy = true
  await clock.advance(500)
  assert.ok(state.clients.includes('own ttl-controller'))
  stop.abort()
  await clock.advance(0)
  await running
})

test('a server that stays unhealthy ends the run, and a signal meanwhile ends it in order', async () => {
  const unhealthy = managerWorld()
  unhealthy.state.healthy = false
  const failing = assert.rejects(unhealthy.run(), {
    code: 'API_SERVER_UNHEALTHY',
    message: /^failed to wait for apiserver being healthy: .*connection refused$/,
  })
  await unhealthy.clock.advance(10_000)
  await failing
  assert.equal(unhealthy.state.healthRequests, 11)

  const stopped = managerWorld()
  stopped.state.healthy = false
  const running = stopped.run()
  await stopped.clock.advance(2_000)
  stopped.stop.abort()
  await running
})

test('one constructor error aborts the whole run before any loop starts', async () => {
  let started = false
  const { run, clock, health, logger } = managerWorld([
    descriptor('deployment-controller', () => ({
      run: async () => void (started = true),
    })),
    descriptor('ttl-controller', () => {
      throw new Error('no such file')
    }),
  ])
  const failing = assert.rejects(run(), { message: 'no such file' })
  await clock.advance(0)
  await failing
  assert.equal(started, false)
  assert.equal(
    health.answer(new URLSearchParams('verbose')).body,
    '[+]ping ok\nhealthz check passed\n',
  )
  assert.ok(logger.messages().includes('Error initializing a controller'))
})

test('a loop that fails ends the run with its error, after all others were stopped', async () => {
  let stoppedOther = false
  const { run, clock } = managerWorld([
    descriptor('deployment-controller', () => ({
      async run(signal) {
        await obedientLoop.run(signal)
        stoppedOther = true
      },
    })),
    descriptor('ttl-controller', () => ({ run: () => Promise.reject(new Error('broken')) })),
  ])
  const failing = assert.rejects(run(), { message: 'broken' })
  await clock.advance(0)
  await failing
  assert.equal(stoppedOther, true)
})

test('informers start after all controllers are built, then the signal, then loops', async () => {
  const order: string[] = []
  const { run, clock, stop, server } = managerWorld([
    descriptor('deployment-controller', ({ informers, informersStarted }) => {
      informers.informer(resources.pods)
      void informersStarted.then(() => order.push('informers started'))
      order.push(`built with ${server.requests.length} requests`)
      return { run: async () => void order.push('loop') }
    }),
    descriptor('ttl-controller', () => {
      order.push(`built with ${server.requests.length} requests`)
      return obedientLoop
    }),
  ])
  const running = run()
  await clock.advance(0)
  assert.deepEqual(order.toSorted(), [
    'built with 0 requests',
    'built with 0 requests',
    'informers started',
    'loop',
  ])
  stop.abort()
  await clock.advance(0)
  await running
})

test('caches that others wait for are filled before the rest is asked for', async () => {
  const { run, clock, stop, server } = managerWorld([
    descriptor('serviceaccount-token-controller', ({ informers }) => {
      informers.informer(resources.secrets)
      return obedientLoop
    }),
    descriptor('deployment-controller', ({ informers }) => {
      informers.informer(resources.pods)
      requestsWhenBuilt = server.requests.length
      return obedientLoop
    }),
    descriptor(
      'serviceaccount-controller',
      ({ informers }) => {
        informers.informer(resources.namespaces)
        return obedientLoop
      },
      { isWaitedFor: true },
    ),
  ])
  let requestsWhenBuilt: number | undefined
  let answerNamespaces = (): void => {}
  server.onRequest = ({ path }) =>
    path.endsWith('/namespaces')
      ? new Promise((resolve) => (answerNamespaces = () => resolve(undefined)))
      : undefined
  const asked = (): readonly string[] => server.requests.map(({ path }) => path)
  const running = run()
  await clock.advance(50)
  assert.deepEqual(asked(), ['/api/v1/secrets', '/api/v1/namespaces'])
  assert.equal(requestsWhenBuilt, 2, 'others are built meanwhile')
  answerNamespaces()
  await clock.advance(0)
  assert.deepEqual(asked(), ['/api/v1/secrets', '/api/v1/namespaces', '/api/v1/pods'])
  stop.abort()
  await clock.advance(0)
  await running
})

test('a server that does not fill the first caches keeps the others waiting for 100 ms', async () => {
  const { run, clock, stop, server } = managerWorld([
    descriptor(
      'serviceaccount-controller',
      ({ informers }) => {
        informers.informer(resources.namespaces)
        return obedientLoop
      },
      { isWaitedFor: true },
    ),
    descriptor('deployment-controller', ({ informers }) => {
      informers.informer(resources.pods)
      return obedientLoop
    }),
  ])
  let answerNamespaces = (): void => {}
  server.onRequest = ({ path }) =>
    path.endsWith('/namespaces')
      ? new Promise((resolve) => (answerNamespaces = () => resolve(undefined)))
      : undefined
  const running = run()
  await clock.advance(99)
  assert.equal(server.requests.length, 1)
  await clock.advance(1)
  assert.deepEqual(
    server.requests.map(({ path }) => path),
    ['/api/v1/namespaces', '/api/v1/pods'],
  )
  stop.abort()
  answerNamespaces()
  await clock.advance(0)
  await running
})

test('initial lists are streamed unless the gate WatchListClient is off', async () => {
  const firstRequests: string[] = []
  const settings: readonly Record<string, boolean>[] = [
    {},
    { WatchListClient: true },
    { WatchListClient: false },
  ]
  for (const featureGates of settings) {
    const { run, clock, stop, server, options } = managerWorld([
      descriptor('deployment-controller', ({ informers }) => {
        informers.informer(resources.pods)
        return obedientLoop
      }),
    ])
    const running = run({ configuration: { ...options.configuration, featureGates } })
    await clock.advance(0)
    firstRequests.push(server.requests[0]!.verb)
    stop.abort()
    await clock.advance(0)
    await running
  }
  assert.deepEqual(firstRequests, ['watch', 'watch', 'list'])
})

test('with a start interval each loop starts after a time of its own, between once and twice the interval', async () => {
  const startedMs: number[] = []
  const names = ['deployment-controller', 'ttl-controller', 'job-controller', 'cronjob-controller']
  const world = managerWorld(
    names.map((name) =>
      descriptor(name, ({ clock }) => ({
        async run(signal) {
          startedMs.push(clock.monotonicMs())
          await obedientLoop.run(signal)
        },
      })),
    ),
  )
  const beginMs = world.clock.monotonicMs()
  const running = world.run({ startIntervalMs: 1_000 })
  await world.clock.advance(2_000)
  assert.equal(startedMs.length, names.length)
  for (const ms of startedMs) assert.ok(ms - beginMs >= 1_000 && ms - beginMs < 2_000)
  assert.equal(new Set(startedMs).size, names.length, 'not all at once')
  world.stop.abort()
  await world.clock.advance(0)
  await running
})

test('each built controller has a health check by its canonical name, and its debug pages are found', async () => {
  const { run, clock, stop, health, debugHandlers } = managerWorld([
    descriptor('garbage-collector-controller', () => ({
      ...obedientLoop,
      debug: (path) =>
        path === '/graph' ? { contentType: 'text/vnd.graphviz', body: 'digraph' } : undefined,
    })),
    descriptor('ttl-controller'),
    descriptor('job-controller', () => undefined),
  ])
  const running = run({ items: ['*', '-ttl'] })
  await clock.advance(0)
  assert.equal(
    health.answer(new URLSearchParams('verbose')).body,
    '[+]garbage-collector-controller ok\nhealthz check passed\n',
  )
  assert.deepEqual([...debugHandlers.keys()], ['garbage-collector-controller'])
  const page = debugHandlers.get('garbage-collector-controller')!('/graph', new URLSearchParams())
  assert.equal(page?.body, 'digraph')
  stop.abort()
  await clock.advance(0)
  await running
})

test('a controller whose gate is off is skipped, and so is one without a descriptor', async () => {
  const built: string[] = []
  const gated = descriptor(
    'storage-version-migrator-controller',
    () => void built.push('svm') as undefined,
    {
      featureGates: ['StorageVersionMigrator'],
    },
  )
  const { run, clock, stop, options } = managerWorld([gated])
  const configuration = {
    ...options.configuration,
    featureGates: { StorageVersionMigrator: false },
  }
  const running = run({ configuration, items: ['svm', 'job'] })
  await clock.advance(0)
  assert.deepEqual(built, [])
  stop.abort()
  await running
})

const noted = (notes: string[]) => (name: string) =>
  descriptor(name, () => ({
    run: (signal) => {
      notes.push(name)
      return obedientLoop.run(signal)
    },
  }))

test('one by one, loops are started with the interval between them, and informers after the last', async () => {
  const notes: string[] = []
  const names = ['ttl-controller', 'job-controller', 'deployment-controller']
  const { run, clock, stop, health } = managerWorld(names.map(noted(notes)))
  const known = names.map((name) => ({ name, enabledByDefault: true }))
  let informersStarted = false
  const running = run({
    startsOneByOne: true,
    startIntervalMs: 1_000,
    knownControllers: known,
    beforeControllers: async ({ informers, client, signal }) => {
      assert.deepEqual([notes, signal.aborted], [[], false])
      assert.ok(client('x') !== undefined)
      const { start } = informers
      informers.start = (...all) => {
        informersStarted = true
        start.apply(informers, all)
      }
    },
  })
  await clock.advance(0)
  assert.deepEqual([notes, informersStarted], [names.slice(0, 1), false])
  await clock.advance(999)
  assert.equal(notes.length, 1)
  // Each interval is 1 to 2 s.
  await clock.advance(5_001)
  assert.deepEqual([notes, informersStarted], [names, true])
  const { body } = health.answer(new URLSearchParams('verbose'))
  assert.match(body, /deployment-controller/)
  stop.abort()
  await running
})

test('a constructor that fails one by one stops the loops before it', async () => {
  const notes: string[] = []
  const failing = descriptor('job-controller', () => {
    throw new Error('no CIDR')
  })
  const { run } = managerWorld([noted(notes)('ttl-controller'), failing])
  const known = ['ttl-controller', 'job-controller'].map((name) => ({
    name,
    enabledByDefault: true,
  }))
  const running = run({ startsOneByOne: true, knownControllers: known })
  await assert.rejects(running, /no CIDR/)
  assert.deepEqual(notes, ['ttl-controller'])
})

test('what a program does before its controllers ends the run when it fails, and no controller is built', async () => {
  const { run } = managerWorld([descriptor('ttl-controller', () => assert.fail())])
  const running = run({ beforeControllers: () => Promise.reject(new Error('no cloud')) })
  await assert.rejects(running, /no cloud/)
})

test('an API server that fails while loops are started one by one ends the run', async () => {
  const { run, clock, state } = managerWorld([
    descriptor('ttl-controller', () => {
      state.healthy = false
      return obedientLoop
    }),
  ])
  const ended = assert.rejects(run({ startsOneByOne: true }), { code: 'API_SERVER_UNHEALTHY' })
  await clock.advance(10_000)
  await ended
})
