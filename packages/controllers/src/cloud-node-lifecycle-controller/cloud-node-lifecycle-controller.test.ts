import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Taint } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { InstanceNotFound, NotImplemented } from '@gyropilot/cloud-provider'
import { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { drive, fakeInformers, startLoop } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { answers, cloudContext, node, partsOnly, patchValue } from '../cloud-support/fixtures.ts'
import { providerIdOf } from '../cloud-support/provider-id.ts'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refused } from '../workload-support/fixtures.ts'
import { SHUTDOWN_TAINT } from './config.ts'
import { cloudNodeLifecycleController } from './index.ts'
import { pass } from './pass.ts'

const V2 = partsOnly('instancesV2', 'instances')
const OLD = partsOnly('instances')
const no = new Error('no')

const cached = (of: Node) => fakeInformers([of]).informer(resources.nodes).lister

type Table = Readonly<Record<string, unknown>>

/** `what became of it`: deleted, tainted, untainted, or kept. */
function judged(
  of: Node,
  table: Table,
  provider = V2,
  options: Omit<DriveOptions, 'onOutside'> = {},
) {
  const logger = new RecordingLogger()
  const driven = drive(pass(cached(of), provider, logger), {
    onRead: () => ({ ok: true, object: { ...of, metadata: { name: 'n', resourceVersion: '7' } } }),
    ...options,
    onOutside: answers(table),
  })
  const [write] = driven.writes
  const taints = patchValue<{ spec: { taints: Taint[] | null } }>(write)?.spec.taints
  const verdict =
    write === undefined
      ? 'kept'
      : write.verb === 'delete'
        ? 'deleted'
        : taints?.some(({ key }) => key === SHUTDOWN_TAINT.key)
          ? 'tainted'
          : 'untainted'
  return { ...driven, verdict, taints, errors: logger.lines.length }
}

const GONE: Table = {
  'instancesV2.instanceExists': false,
  'instances.instanceId': 'i',
  'instances.instanceExistsByProviderId': false,
}
const THERE: Table = {
  'instancesV2.instanceExists': true,
  'instancesV2.instanceShutdown': false,
  'instances.instanceId': 'i',
  'instances.instanceExistsByProviderId': true,
  'instances.instanceShutdownByProviderId': false,
}
const OFF: Table = {
  ...THERE,
  'instancesV2.instanceShutdown': true,
  'instances.instanceShutdownByProviderId': true,
}

for (const [style, provider] of [
  ['InstancesV2', V2],
  ['Instances', OLD],
] as const) {
  for (const ready of ['False', 'Unknown', undefined]) {
    const of = node('n', { ready })
    test(`Given a NotReady or Unknown node that does not exist, then it is deleted (${style}, ${ready})`, () => {
      const { verdict, events, writes } = judged(of, GONE, provider)
      assert.equal(verdict, 'deleted')
      assert.deepEqual(writes, [
        {
          verb: 'delete',
          type: resources.nodes,
          namespace: undefined,
          name: 'n',
          options: { preconditions: { uid: 'n-uid' } },
        },
      ])
      assert.deepEqual(events, [
        {
          type: 'Normal',
          reason: 'DeletingNode',
          message: 'Deleting node n because it does not exist in the cloud provider',
        },
      ])
    })
    test(`Given a NotReady or Unknown node that exists, then it is kept (${style}, ${ready})`, () => {
      const { verdict, events, errors } = judged(of, THERE, provider)
      assert.deepEqual([verdict, events, errors], ['kept', [], 0])
    })
  }
  test(`Given an error from the provider, then the node is kept (${style})`, () => {
    const failing = {
      ...THERE,
      'instancesV2.instanceExists': no,
      'instances.instanceExistsByProviderId': no,
    }
    const { verdict, errors } = judged(node('n', { ready: 'False' }), failing, provider)
    assert.deepEqual([verdict, errors], ['kept', 1])
  })
  test(`an existence question that is answered with "instance not found" is an error (${style})`, () => {
    const missing = {
      ...OFF,
      'instancesV2.instanceExists': new InstanceNotFound(),
      'instances.instanceExistsByProviderId': new InstanceNotFound(),
    }
    assert.equal(judged(node('n', { ready: 'False' }), missing, provider).verdict, 'kept')
  })
  test(`Given a Ready node that the provider reports as deleted, then it is kept (${style})`, () => {
    const { verdict, effects } = judged(node('n', { ready: 'True' }), {}, provider)
    assert.deepEqual([verdict, effects], ['kept', []])
  })
  test(`Given a NotReady node that is shut down, with or without provider ID, then it gets the taint (${style})`, () => {
    for (const providerId of [undefined, 'fake://i']) {
      const other = { key: 'other', effect: 'NoSchedule' as const }
      const of = node('n', { ready: 'False', providerId, taints: [other] })
      const { taints, writes, errors } = judged(of, OFF, provider)
      assert.equal(errors, 0)
      assert.deepEqual(taints, [other, SHUTDOWN_TAINT])
      const value = patchValue<Node>(writes[0])
      assert.equal(value?.metadata?.resourceVersion, '7')
    }
  })
  test(`Given a Ready node that the provider reports as shut down, then no taint (${style})`, () => {
    assert.equal(judged(node('n', { ready: 'True' }), OFF, provider).verdict, 'kept')
  })
  test(`Given a node both shut down and non-existing, then it is deleted (${style})`, () => {
    assert.equal(
      judged(node('n', { ready: 'False' }), { ...OFF, ...GONE }, provider).verdict,
      'deleted',
    )
  })
}

test('Given an unknown provider ID or InstanceID returning instance not found, then the node is deleted', () => {
  const byId = { 'instances.instanceExistsByProviderId': false }
  const unknown = node('n', { ready: 'False', providerId: 'fake://gone' })
  assert.equal(judged(unknown, byId, OLD).verdict, 'deleted')
  const notFound = new Error('asking', { cause: new InstanceNotFound() })
  const { verdict } = judged(
    node('n', { ready: 'False' }),
    { 'instances.instanceId': notFound },
    OLD,
  )
  assert.equal(verdict, 'deleted')
})

test('Given an error resolving the ID or checking shutdown, then no taint', () => {
  const of = node('n', { ready: 'False' })
  assert.equal(judged(of, { ...OFF, 'instances.instanceId': no }, OLD).verdict, 'kept')
  const failing = {
    'instancesV2.instanceShutdown': no,
    'instances.instanceShutdownByProviderId': no,
  }
  for (const provider of [V2, OLD]) {
    const { verdict, errors } = judged(of, { ...OFF, ...failing }, provider)
    assert.deepEqual([verdict, errors], ['kept', 1])
  }
  const unimplemented = { 'instances.instanceShutdownByProviderId': new NotImplemented() }
  const { verdict, errors } = judged(of, { ...OFF, ...unimplemented }, OLD)
  assert.deepEqual([verdict, errors], ['kept', 0])
})

test('a machine that goes between the two questions is not shut down', () => {
  let asked = 0
  const logger = new RecordingLogger()
  const { writes } = drive(pass(cached(node('n', { ready: 'False' })), OLD, logger), {
    onOutside: ({ name }) => {
      if (name !== 'instances.instanceId') return { ok: true, object: true }
      const missing = new InstanceNotFound()
      return asked++ === 0
        ? { ok: true, object: 'i' }
        : { ok: false, error: missing, attempted: true }
    },
  })
  assert.deepEqual([writes, logger.lines], [[], []])
})

test('a Ready node loses the shutdown taint; the same key with another effect stays', () => {
  const evicting = { key: SHUTDOWN_TAINT.key, effect: 'NoExecute' as const }
  const both = node('n', { ready: 'True', taints: [evicting, SHUTDOWN_TAINT] })
  assert.deepEqual(judged(both, {}).taints, [evicting])
  const only = node('n', { ready: 'True', taints: [SHUTDOWN_TAINT] })
  assert.deepEqual([judged(only, {}).taints, judged(only, {}).errors], [null, 0])
  const other = node('n', { ready: 'True', taints: [evicting] })
  assert.deepEqual(judged(other, {}).effects, [])
  // The cache was late.
  const late = judged(only, {}, V2, { onRead: () => ({ ok: true, object: other }) })
  assert.equal(late.verdict, 'kept')
})

test('a shutdown taint that is there is not written again, and one with a value is replaced in its place', () => {
  const other = { key: 'other', effect: 'NoSchedule' as const }
  const there = node('n', { ready: 'False', taints: [SHUTDOWN_TAINT, other] })
  assert.equal(judged(there, OFF).verdict, 'kept')
  const valued = node('n', { ready: 'False', taints: [{ ...SHUTDOWN_TAINT, value: 'x' }, other] })
  assert.deepEqual(judged(valued, OFF).taints, [SHUTDOWN_TAINT, other])
})

test('a failed write is logged, and a failed deletion yields two events', () => {
  const onWrite = () => refused(403, 'Forbidden')
  const deletion = judged(node('n', { ready: 'False' }), GONE, V2, { onWrite })
  assert.deepEqual(
    deletion.events.map(({ type, reason, message }) => [type, reason, message]).at(-1),
    ['Warning', 'DeletingNodeFailed', 'Failed deleting node n: Forbidden'],
  )
  assert.deepEqual([deletion.events.length, deletion.errors], [2, 1])
  assert.equal(judged(node('n', { ready: 'False' }), OFF, V2, { onWrite }).errors, 1)
  const untaint = node('n', { ready: 'True', taints: [SHUTDOWN_TAINT] })
  assert.equal(judged(untaint, OFF, V2, { onWrite }).errors, 1)
})

const ids: readonly (readonly [string, Node, Table, string | undefined])[] = [
  ["the node's own", node('n', { providerId: 'x://1' }), {}, 'x://1'],
  ['made of name and instance', node('n'), { 'instances.instanceId': 'i' }, 'fake://i'],
  ['an error', node('n'), { 'instances.instanceId': no }, undefined],
]

test('Given each provider style, then the provider ID is resolved as in the table', () => {
  for (const [what, of, table, expected] of ids) {
    const { result, effects } = drive(providerIdOf(of, OLD), { onOutside: answers(table) })
    for (const effect of effects)
      assert.ok(effect.effect === 'outside' && effect.call.arguments[0] === 'n', what)
    assert.equal(result.ok ? result.object : undefined, expected, what)
  }
  const found = judged(node('n', { ready: 'False' }), THERE, V2)
  const calls = found.effects.flatMap((e) => (e.effect === 'outside' ? [e.call] : []))
  assert.deepEqual(
    calls.map(({ name, arguments: [first] }) => [name, (first as Node).spec?.providerID]),
    [
      ['instancesV2.instanceExists', undefined],
      ['instancesV2.instanceShutdown', undefined],
    ],
  )
})

test('one node after the other by name, at once and a period after the end of a pass', async () => {
  let cloud: InMemoryCloud | undefined
  const nodes = [node('b', { ready: 'False' }), node('a', { ready: 'False' })]
  const context = cloudContext((clock) => {
    cloud = new InMemoryCloud({ clock, machineOf: () => ({}) })
    return cloud
  }, nodes)
  const loop = (await cloudNodeLifecycleController.build(context))!
  cloud!.faults.slow('instanceExists', 1_000)
  const { stop } = startLoop(loop, context.clock)
  const asked = () =>
    cloud!.faults.calls
      .filter(({ name }) => name === 'instanceExists')
      .map(({ arguments: [of] }) => (of as Node).metadata?.name)
  await context.clock.advance(0)
  assert.deepEqual(asked(), ['a'])
  await context.clock.advance(6_999)
  assert.deepEqual(asked(), ['a', 'b'])
  await context.clock.advance(1)
  assert.deepEqual(asked(), ['a', 'b', 'a'])
  const running = { name: 'cloud-node-lifecycle', manager: 'cloud-controller-manager' }
  assert.equal(context.metrics.value('running_managed_controllers', running), 1)
  await stop()
  assert.equal(context.metrics.value('running_managed_controllers', running), 0)
})

test('a node that has become Ready or is gone when its turn comes is left alone', async () => {
  let cloud: InMemoryCloud | undefined
  const nodes = ['a', 'b', 'c'].map((name) => node(name, { ready: 'False' }))
  const context = cloudContext((clock) => (cloud = new InMemoryCloud({ clock })), nodes)
  for (const each of nodes) context.client.put(resources.nodes, each)
  const loop = (await cloudNodeLifecycleController.build(context))!
  cloud!.faults.slow('instanceExists', 60_000)
  const { stop } = startLoop(loop, context.clock)
  await context.clock.advance(1_000)
  context.informers.apply(resources.nodes, node('b', { ready: 'True' }))
  context.informers.remove(resources.nodes, node('c'))
  await context.clock.advance(200_000)
  const deleted = context.client.requested('delete').map(({ path }) => path)
  assert.deepEqual([...new Set(deleted)], ['/api/v1/nodes/a'])
  await stop()
})

test('it is skipped where the cloud has no instances', async () => {
  assert.equal(await cloudNodeLifecycleController.build(cloudContext(partsOnly())), undefined)
  for (const provider of [V2, OLD, partsOnly('instancesV2')])
    assert.ok(await cloudNodeLifecycleController.build(cloudContext(provider)))
})

test('names, period and taint are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = cloudNodeLifecycleController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['cloud-node-lifecycle-controller', ['cloud-node-lifecycle'], 'node-controller', true],
  )
  assert.deepEqual(defaultControllersConfiguration.cloudNodeLifecycle, {
    nodeMonitorPeriodMs: 5_000,
  })
  assert.deepEqual(SHUTDOWN_TAINT, {
    key: 'node.cloudprovider.kubernetes.io/shutdown',
    effect: 'NoSchedule',
  })
})
