import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import type { Route } from '@gyropilot/cloud-provider'
import { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import type { InMemoryCloudOptions } from '@gyropilot/cloud-provider/in-memory'
import { drive, startLoop, statusError, testClock } from '@gyropilot/runtime/testing'
import {
  answers,
  cloudContext,
  internalIp,
  node,
  partsOnly,
  patchValue,
} from '../cloud-support/fixtures.ts'
import { refusal, refused } from '../workload-support/fixtures.ts'
import { hasItsRoutes, writeCondition } from './condition.ts'
import { defaultNodeRouteConfiguration } from './config.ts'
import { createRoute } from './create-route.ts'
import { nodeRouteController } from './index.ts'
import { concernsRoutes, nodeWatch, passLimiter } from './watches.ts'

const A = '10.120.0.0/24'
const B = '10.120.1.0/24'
const nodeRoute = { ...defaultNodeRouteConfiguration, clusterCidr: '10.120.0.0/16' }

async function started(
  nodes: readonly Node[],
  routes: readonly Partial<Route>[] = [],
  options: Partial<InMemoryCloudOptions> & { gates?: Record<string, boolean> } = {},
) {
  let cloud: InMemoryCloud | undefined
  const { gates = {}, ...cloudOptions } = options
  const context = cloudContext(
    (clock) => (cloud = new InMemoryCloud({ clock, ...cloudOptions })),
    nodes,
    { nodeRoute, featureGates: gates },
  )
  for (const each of nodes) context.client.put(resources.nodes, each)
  const complete = { name: '', targetNode: '', destinationCidr: A }
  cloud!.routeTable.push(...routes.map((route, at) => ({ ...complete, name: `r${at}`, ...route })))
  const loop = (await nodeRouteController.build(context))!
  const { stop: stopped } = startLoop(loop, context.clock)
  await context.clock.advance(0)
  return {
    context,
    cloud: cloud!,
    table: () =>
      cloud!.routeTable
        .map(({ targetNode, destinationCidr }) => `${targetNode} ${destinationCidr}`)
        .sort(),
    available: (name: string): string | undefined => {
      const live = context.client.get(resources.nodes, undefined, name) as Node
      return live.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')?.status
    },
    stopped,
  }
}

const two = [node('a', { podCidrs: [A] }), node('b', { podCidrs: [B] })]
const wanted = [`a ${A}`, `b ${B}`]

const tables: readonly (readonly [string, readonly Partial<Route>[]])[] = [
  ['no routes', []],
  ['all routes', [{ targetNode: 'a' }, { targetNode: 'b', destinationCidr: B }]],
  ['some', [{ targetNode: 'b', destinationCidr: B }]],
  ['wrong', [{ targetNode: 'a', destinationCidr: B }]],
  ['too many', [{ targetNode: 'a' }, { targetNode: 'c', destinationCidr: '10.120.2.0/24' }]],
]

test('Given two nodes with one or two CIDRs and no routes, all routes, some, wrong, too many, then exactly the wanted routes remain', async () => {
  for (const [what, routes] of tables) {
    const { table, available, cloud, context, stopped } = await started(two, routes)
    assert.deepEqual(table(), wanted, what)
    assert.deepEqual([available('a'), available('b')], ['False', 'False'], what)
    const creates = cloud.faults.calls.filter(({ name }) => name === 'createRoute')
    for (const {
      arguments: [clusterName, hint, route],
    } of creates) {
      assert.equal(clusterName, 'c')
      assert.equal(hint, `${(route as Route).targetNode}-uid`)
    }
    assert.equal(context.metrics.value('route_controller_route_sync_total'), 1)
    await stopped()
  }
})

test('Given routes whose target addresses are missing or changed, then they are replaced', async () => {
  const addresses = [internalIp('1.1.1.1')]
  const of = node('a', { podCidrs: [A], addresses })
  for (const targetNodeAddresses of [undefined, [internalIp('2.2.2.2')]]) {
    const stale = { targetNode: 'a', enableNodeAddresses: true, targetNodeAddresses }
    const { cloud, stopped } = await started([of], [stale], { tracksAddresses: true })
    assert.equal(cloud.routeTable.length, 1)
    assert.deepEqual(cloud.routeTable[0]?.targetNodeAddresses, addresses)
    assert.equal(cloud.routeTable[0]?.name, `a-uid-${A}`)
    await stopped()
  }
})

test('all deletions end before a creation begins where addresses are tracked, and only there', async () => {
  const of = node('a', { podCidrs: [A] })
  for (const enableNodeAddresses of [true, false]) {
    const { cloud, context, stopped } = await started(
      [],
      [{ targetNode: 'gone', enableNodeAddresses }],
    )
    cloud.faults.slow('deleteRoute', 1_000)
    cloud.routeTable.push({
      name: 'x',
      targetNode: 'gone',
      destinationCidr: B,
      enableNodeAddresses,
    })
    context.informers.fill(of)
    context.client.put(resources.nodes, of)
    await context.clock.advance(10_000)
    assert.equal(cloud.faults.countOf('createRoute'), enableNodeAddresses ? 0 : 1)
    await context.clock.advance(1_000)
    assert.equal(cloud.faults.countOf('createRoute'), 1)
    await stopped()
  }
})

test('Given a node without CIDR, then its routes go and it is unavailable', async () => {
  const { table, available, stopped } = await started(
    [two[0]!, node('b'), node('c')],
    [{ targetNode: 'b', destinationCidr: B }],
  )
  assert.deepEqual(table(), [`a ${A}`])
  assert.deepEqual([available('a'), available('b'), available('c')], ['False', 'True', undefined])
  await stopped()
})

test('Given a blackhole in or out of range, then it is deleted or kept', async () => {
  const { table, stopped } = await started(two, [
    { targetNode: 'a' },
    { blackhole: true, destinationCidr: '10.120.7.0/24' },
    { blackhole: true, destinationCidr: '10.1.0.0/24' },
  ])
  assert.deepEqual(table(), [' 10.1.0.0/24', ...wanted])
  await stopped()
})

test('a blackhole of a wanted CIDR counts as kept in this pass and is created anew in the next', async () => {
  const black = { targetNode: 'a', blackhole: true }
  const { table, available, context, stopped } = await started([two[0]!], [black])
  assert.deepEqual([table(), available('a')], [[], 'False'])
  await context.clock.advance(10_000)
  assert.deepEqual(table(), [`a ${A}`])
  await stopped()
})

test('Given a node that lists one CIDR twice, then at most one route exists and the second create fails with an event', async () => {
  const { table, available, context, stopped } = await started([node('a', { podCidrs: [A, A] })])
  assert.deepEqual([table(), available('a')], [[`a ${A}`], 'False'])
  assert.deepEqual(
    context.events.map(({ component, reason, message, regarding }) => [
      component,
      reason,
      message,
      regarding.metadata?.uid,
    ]),
    [
      [
        'route_controller',
        'FailedToCreateRoute',
        `Could not create route a-uid ${A} for node a after 0s: route a-uid-${A} exists already`,
        'a-uid',
      ],
    ],
  )
  await stopped()
})

test('how long a creation took is told by a clock that nobody sets', () => {
  const moments = [5_000, 6_500]
  const { events } = drive(createRoute(node('a', { podCidrs: [A] }), A, 'kubernetes'), {
    elapsedMs: () => moments.shift()!,
    onOutside: () => ({ ok: false, error: new Error('quota'), attempted: true }),
  })
  assert.deepEqual(
    events.map(({ message }) => message),
    [`Could not create route a-uid ${A} for node a after 1.5s: quota`],
  )
})

test('a route that cannot be created makes its node unavailable, and one that cannot be deleted does not', async () => {
  const failing = await started([], [])
  failing.cloud.faults.fail('createRoute', new Error('quota'))
  failing.cloud.faults.fail('deleteRoute', new Error('quota'))
  for (const of of two) {
    failing.context.informers.fill(of)
    failing.context.client.put(resources.nodes, of)
  }
  failing.cloud.routeTable.push(
    { name: 'x', targetNode: 'a', destinationCidr: A },
    { name: 'y', targetNode: 'a', destinationCidr: '10.120.9.0/24' },
  )
  await failing.context.clock.advance(10_000)
  assert.deepEqual([failing.available('a'), failing.available('b')], ['False', 'True'])
  failing.cloud.faults.clear()
  await failing.context.clock.advance(10_000)
  assert.deepEqual([failing.table(), failing.available('b')], [wanted, 'False'])
  await failing.stopped()
})

test('what could not be done for a node is said of it, and nothing where all is well', async () => {
  const { cloud, context, stopped } = await started([])
  const said = (): readonly unknown[] =>
    context.logger.lines
      .splice(0)
      .filter(({ severity }) => severity === 'error')
      .map(({ message, fields }) => [message, fields['node']])
  cloud.faults.fail('createRoute', new Error('quota'))
  context.informers.fill(two[0]!)
  context.client.put(resources.nodes, two[0]!)
  context.client.onRequest = () => {
    throw statusError(500, 'InternalError')
  }
  await context.clock.advance(10_000)
  assert.deepEqual(said(), [
    ['A route could not be created', 'a'],
    ['The condition could not be written', 'a'],
  ])
  cloud.faults.clear()
  context.client.onRequest = undefined
  await context.clock.advance(10_000)
  assert.deepEqual(said(), [])
  await stopped()
})

test('a list that fails touches nothing, and the next pass comes at its time', async () => {
  const { cloud, context, available, stopped } = await started([])
  context.informers.fill(two[0]!)
  context.client.put(resources.nodes, two[0]!)
  cloud.faults.fail('listRoutes', new Error('down'), 1)
  await context.clock.advance(10_000)
  assert.deepEqual([cloud.faults.countOf('createRoute'), available('a')], [0, undefined])
  const [failed] = context.logger.lines.filter(({ severity }) => severity === 'error')
  assert.equal(failed?.message, "Couldn't reconcile node routes")
  const { cause } = failed!.error as Error
  assert.equal((cause as Error).message, 'down')
  await context.clock.advance(10_000)
  assert.equal(available('a'), 'False')
  await stopped()
})

test('passes begin a period after each other, and at once after one that took longer; they never overlap', async () => {
  const { cloud, context, stopped } = await started([])
  const lists = () => cloud.faults.countOf('listRoutes')
  cloud.faults.slow('listRoutes', 4_000)
  await context.clock.advance(19_999)
  assert.equal(lists(), 2)
  cloud.faults.slow('listRoutes', 25_000)
  await context.clock.advance(1)
  assert.equal(lists(), 3)
  await context.clock.advance(24_999)
  assert.equal(lists(), 3)
  await context.clock.advance(1)
  assert.equal(lists(), 4)
  await stopped()
})

test('no more than 200 operations are under way', async () => {
  const nodes = Array.from({ length: 250 }, (_, at) =>
    node(`n${at}`, { podCidrs: [`10.120.${at}.0/24`] }),
  )
  const { cloud, context, stopped } = await started([])
  cloud.faults.slow('createRoute', 1_000)
  context.informers.fill(...nodes)
  await context.clock.advance(10_000)
  assert.equal(cloud.faults.countOf('createRoute'), 200)
  await stopped()
})

test('Given node updates with the gate on, then only address, CIDR and resync changes enqueue', () => {
  const of = (options = {}) =>
    node('a', {
      podCidrs: [A],
      addresses: [internalIp('1.1.1.1')],
      resourceVersion: '1',
      ...options,
    })
  assert.equal(concernsRoutes(of(), of()), true)
  assert.equal(concernsRoutes(of(), of({ resourceVersion: '2' })), false)
  assert.equal(concernsRoutes(of(), of({ resourceVersion: '2', podCidrs: [B] })), true)
  assert.equal(concernsRoutes(of(), of({ resourceVersion: '2', podCidrs: undefined })), true)
  assert.equal(
    concernsRoutes(of(), of({ resourceVersion: '2', addresses: [internalIp('2.2.2.2')] })),
    true,
  )
  assert.equal(concernsRoutes(of(), of({ resourceVersion: '2', labels: { a: 'b' } })), false)
  const bare = ['1', '2'].map((resourceVersion) => node('a', { resourceVersion }))
  assert.equal(concernsRoutes(bare[0]!, bare[1]!), false)
  const watch = nodeWatch(passLimiter(testClock()), 60_000)
  assert.deepEqual(watch.onUpdate!(bare[0]!, bare[1]!), [])
})

test('with the gate passes follow nodes, one in ten seconds, and a pass that fails is repeated', async () => {
  const { cloud, context, stopped } = await started([two[0]!], [], {
    gates: { CloudControllerManagerWatchBasedRoutesReconciliation: true },
  })
  const lists = () => cloud.faults.countOf('listRoutes')
  assert.equal(lists(), 1)
  const running = { name: 'route', manager: 'cloud-controller-manager' }
  assert.equal(context.metrics.value('running_managed_controllers', running), 1)
  await context.clock.advance(600_000)
  assert.equal(lists(), 1)
  for (const each of [two[1]!, node('c'), node('d')]) context.informers.apply(resources.nodes, each)
  await context.clock.advance(9_999)
  assert.equal(lists(), 2)
  await context.clock.advance(1)
  assert.equal(lists(), 3)
  cloud.faults.fail('listRoutes', new Error('down'), 1)
  context.informers.remove(resources.nodes, node('d'))
  await context.clock.advance(30_000)
  assert.equal(lists(), 5)
  await stopped()
})

const conditions = (status: string, reason: string) => [
  { type: 'NetworkUnavailable', status, reason, lastHeartbeatTime: 'then' },
]

test('Given no condition, equal, and foreign reasons, then the condition is written or skipped', () => {
  const written = (of: Node, isRouted: boolean): unknown => {
    const { writes, result } = drive(writeCondition(of, isRouted))
    assert.equal(result, undefined)
    for (const write of writes) assert.equal('subresource' in write && write.subresource, 'status')
    return patchValue<{ status: { conditions: unknown[] } }>(writes[0])?.status.conditions
  }
  const time = '2026-01-01T00:00:00Z'
  const good = {
    type: 'NetworkUnavailable',
    status: 'False',
    reason: 'RouteCreated',
    message: 'RouteController created a route',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  }
  const bad = {
    ...good,
    status: 'True',
    reason: 'NoRouteCreated',
    message: 'RouteController failed to create a route',
  }
  assert.deepEqual(written(node('n'), true), [good])
  assert.deepEqual(written(node('n'), false), [bad])
  assert.equal(
    written(node('n', { conditions: conditions('False', 'RouteCreated') as never }), true),
    undefined,
  )
  assert.equal(
    written(node('n', { conditions: conditions('True', 'NoRouteCreated') as never }), false),
    undefined,
  )
  assert.deepEqual(
    written(node('n', { conditions: conditions('False', 'CalicoIsUp') as never }), true),
    [good],
  )
  assert.deepEqual(
    written(node('n', { conditions: conditions('True', 'RouteCreated') as never }), true),
    [good],
  )
})

test('a conflict of the condition is tried five times', () => {
  const conflict = drive(writeCondition(node('n'), true), {
    onWrite: () => refused(409, 'Conflict'),
  })
  assert.equal(conflict.writes.length, 5)
  assert.ok(conflict.result !== undefined)
  const waits = conflict.effects.flatMap((e) => (e.effect === 'wait' ? [e.waitMs] : []))
  assert.deepEqual(waits, [100, 100, 100, 100])
  assert.equal(
    drive(writeCondition(node('n'), true), { onWrite: () => refused(404, 'NotFound') }).writes
      .length,
    1,
  )
})

test('the node is available only when every CIDR has its route', () => {
  assert.equal(hasItsRoutes(undefined, false), undefined)
  assert.equal(hasItsRoutes(undefined, true), false)
  assert.equal(hasItsRoutes(new Map([[A, 'keep']]), false), true)
  assert.equal(
    hasItsRoutes(
      new Map([
        [A, 'keep'],
        [B, 'add'],
      ]),
      true,
    ),
    false,
  )
  assert.equal(hasItsRoutes(new Map([[A, 'update']]), true), false)
})

test('only conflicts of a creation are tried again, five times, with an event for each attempt', () => {
  const run = (error: Error) =>
    drive(createRoute(node('a'), A, 'c'), { onOutside: answers({ 'routes.createRoute': error }) })
  const conflict = run(refusal(409, 'Conflict'))
  assert.deepEqual([conflict.events.length, conflict.result instanceof Error], [5, true])
  for (const { type, reason } of conflict.events)
    assert.deepEqual([type, reason], ['Warning', 'FailedToCreateRoute'])
  const waits = conflict.effects.flatMap((e) => (e.effect === 'wait' ? [e.waitMs] : []))
  assert.deepEqual(waits, [100, 100, 100, 100])
  assert.equal(run(new Error('quota')).events.length, 1)
})

test('it is skipped without routes or where routes are not to be configured, and without a cluster CIDR it fails', async () => {
  const off = cloudContext(partsOnly('routes'), [], {
    nodeRoute: { ...defaultNodeRouteConfiguration, configureCloudRoutes: false },
  })
  assert.equal(await nodeRouteController.build(off), undefined)
  assert.equal(await nodeRouteController.build(cloudContext(partsOnly())), undefined)
  assert.throws(() => nodeRouteController.build(cloudContext(partsOnly('routes'))), {
    code: 'CLUSTER_CIDR_INVALID',
  })
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = nodeRouteController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['node-route-controller', ['route'], 'route-controller', true],
  )
})
