import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import type { Write } from '@gyropilot/runtime'
import { RecordingMetrics, drive } from '@gyropilot/runtime/testing'
import type { DriveOptions, Driven } from '@gyropilot/runtime/testing'
import {
  answers,
  hostName,
  internalIp,
  node,
  partsOnly,
  patchValue,
} from '../cloud-support/fixtures.ts'
import { refused } from '../workload-support/fixtures.ts'
import { UNINITIALIZED_TAINT } from './config.ts'
import { cloudNodeMetrics } from './metrics.ts'
import { reconcile } from './reconcile.ts'

const taints = [{ key: UNINITIALIZED_TAINT, effect: 'NoSchedule' as const, value: 'true' }]
const tainted = (options = {}): Node =>
  node('n', { taints, addresses: [hostName('n')], resourceVersion: '1', ...options })
const metadata = {
  providerId: 'fake://i',
  instanceType: 't',
  zone: 'z',
  region: 'r',
  nodeAddresses: [internalIp('10.0.0.1')],
}

interface Ran extends Driven<unknown> {
  readonly metrics: RecordingMetrics
  readonly logger: RecordingLogger
}

function run(
  of: Node,
  found: unknown,
  options: Omit<DriveOptions, 'onOutside'> & { again?: () => Node | undefined } = {},
): Ran {
  const metrics = new RecordingMetrics()
  const logger = new RecordingLogger()
  const observed = {
    node: of,
    again: options.again ?? (() => of),
    provider: partsOnly('instancesV2'),
    metrics: cloudNodeMetrics(metrics),
    logger,
  }
  const onOutside = answers({ 'instancesV2.instanceMetadata': found })
  return { ...drive(reconcile(observed), { ...options, onOutside }), metrics, logger }
}

function kinds(writes: readonly Write[]): readonly string[] {
  return writes.map((write) => {
    const { subresource } = write as { subresource?: string }
    return `${write.verb} ${subresource ?? ''}`.trim()
  })
}

test('Given a tainted node and Instances, then hostname, provider ID, type, zone, region are set and the taint is gone', () => {
  const { writes, events, result, metrics } = run(tainted(), metadata)
  assert.deepEqual(kinds(writes), ['update', 'patch status'])
  const [update, patch] = writes
  assert.ok(update?.verb === 'update')
  const written = update.object as Node
  assert.equal(written.spec?.providerID, 'fake://i')
  assert.equal(written.spec?.taints, undefined)
  assert.equal(written.metadata?.labels?.['topology.kubernetes.io/zone'], 'z')
  assert.equal(written.metadata?.resourceVersion, '1')
  assert.deepEqual(patchValue(patch), {
    status: { addresses: [internalIp('10.0.0.1'), hostName('n'), { $patch: 'replace' }] },
  })
  const synced = { type: 'Normal', reason: 'Synced', message: 'Node synced successfully' }
  assert.deepEqual(events, [synced])
  assert.equal(result, undefined)
  const removed = 'node_controller_cloud_provider_taint_removal_delay_seconds'
  assert.deepEqual(metrics.observed(removed), [60])
  assert.deepEqual(metrics.observed('node_controller_initial_node_sync_delay_seconds'), [60])
})

test('Given a node without the taint, then it is not initialised', () => {
  const { writes, result } = run(node('n'), metadata)
  assert.deepEqual([writes, result], [[], undefined])
})

test('of a node that does not say when it was made no delay is measured', () => {
  const { metadata: known, ...rest } = tainted()
  const ageless = { ...rest, metadata: { ...known, creationTimestamp: undefined } }
  const { metrics } = run(ageless, metadata)
  const removed = 'node_controller_cloud_provider_taint_removal_delay_seconds'
  assert.deepEqual(metrics.observed(removed), [])
})

test('Given null metadata, then the node is unchanged', () => {
  const { writes, events, result } = run(tainted(), undefined)
  assert.deepEqual([writes, events, result], [[], [], undefined])
})

test('Given an InstanceMetadata error, then the sync errors and the taint stays', () => {
  const down = new Error('cloud is down')
  const { writes, result } = run(tainted(), down)
  assert.deepEqual(writes, [])
  const { error } = result as { error: Error }
  assert.equal(error.cause, down)
  assert.equal(error.message, 'failed to get instance metadata for node n: cloud is down')
})

test('a provided IP that the cloud does not report blocks the initialisation', () => {
  const annotations = { 'alpha.kubernetes.io/provided-node-ip': '10.0.0.9' }
  const { writes, result } = run(tainted({ annotations }), metadata)
  assert.deepEqual(writes, [])
  const { error } = result as { error: Error }
  assert.equal(
    error.message,
    'failed to get node modifiers from cloud provider: provided node ip for node "n" is not valid: failed to get node address from cloud provider that matches ip: 10.0.0.9',
  )
  const none = run(tainted({ annotations }), { providerId: 'fake://i' })
  assert.match(String((none.result as { error: Error }).error), /matches ip/)
})

test('a conflict is tried again from the cache, twenty times', () => {
  const newer = tainted({ labels: { newer: 'yes' }, resourceVersion: '2' })
  const once = run(tainted(), metadata, {
    again: () => newer,
    onWrite: (_write, index) => (index === 0 ? refused(409, 'Conflict') : undefined),
  })
  assert.deepEqual(kinds(once.writes), ['update', 'update', 'patch status'])
  const [, second] = once.writes
  assert.ok(second?.verb === 'update')
  assert.equal(second.object.metadata?.labels?.['newer'], 'yes')
  assert.equal(second.object.metadata?.resourceVersion, '2')
  assert.deepEqual(
    once.effects.flatMap((effect) => (effect.effect === 'wait' ? [effect.waitMs] : [])),
    [50],
  )
  const always = run(tainted(), metadata, { onWrite: () => refused(409, 'Conflict') })
  assert.equal(always.writes.length, 20)
  assert.ok((always.result as { error: unknown }).error !== undefined)
  assert.deepEqual(always.events, [])
})

test('a node that is deleted between lookup and write is an error once, and gives its namesake nothing', () => {
  const former = tainted()
  const namesake: Node = { ...former, metadata: { ...former.metadata, uid: 'another' } }
  for (const again of [() => undefined, () => namesake]) {
    const { result, writes } = run(former, metadata, {
      again,
      onWrite: (_write, index) => (index === 0 ? refused(409, 'Conflict') : undefined),
    })
    assert.equal(writes.length, 1)
    assert.match(String((result as { error: Error }).error), /nodes "n" not found/)
  }
  const gone = run(tainted(), metadata, { onWrite: () => refused(404, 'NotFound') })
  assert.deepEqual([gone.writes.length, gone.events], [1, []])
})

test('a failed write of addresses is only logged: the taint is gone already', () => {
  const { result, events, logger } = run(tainted(), metadata, {
    onWrite: (write) => (write.verb === 'patch' ? refused(500, 'InternalError') : undefined),
  })
  assert.equal(result, undefined)
  assert.equal(events.length, 1)
  assert.match(JSON.stringify(logger.lines), /Addresses could not be written/)
})

test('an error of mirrored labels is retried', () => {
  const labels = { 'beta.kubernetes.io/instance-type': 't' }
  const refusal = refused(403, 'Forbidden')
  const { result } = run(node('n', { labels }), metadata, { onRead: () => refusal })
  assert.deepEqual(result, { error: !refusal.ok && refusal.error })
})
