import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type {
  KubernetesObject,
  PoolStatus,
  ResourceClaim,
  ResourcePoolStatusRequest,
  ResourceSlice,
} from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { RecordingMetrics, drive, startLoop, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { cleanUp, isExpired } from './clean-up.ts'
import {
  cleanUpLogic,
  poolStatusRequestLogic,
  resourcePoolStatusRequestController,
} from './index.ts'
import { answerMetrics } from './metrics.ts'
import { calculatePools } from './pool-status.ts'
import { POOL_STATUS_REQUESTS } from './pool-status-request.ts'
import { requestWatch } from './watches.ts'

const DRIVER = 'gpu.example'

interface SliceGiven {
  readonly driver?: string
  readonly generation?: number
  readonly expected?: number
  readonly devices?: number
  readonly node?: string
}

let made = 0
function slice(pool: string, given: SliceGiven = {}): ResourceSlice {
  const { driver = DRIVER, generation = 1, expected = 1, devices = 2, node } = given
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: `slice-${made++}` },
    spec: {
      driver,
      pool: { name: pool, generation, resourceSliceCount: expected },
      ...(node === undefined ? {} : { nodeName: node }),
      devices: Array.from({ length: devices }, (_, index) => ({ name: `d${index}` })),
    },
  }
}

function claim(...pools: readonly string[]): ResourceClaim {
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: `claim-${made++}`, namespace: 'ns' },
    spec: {},
    status: {
      allocation: {
        devices: {
          results: pools.map((pool) => ({ request: 'r', driver: DRIVER, pool, device: 'd' })),
        },
      },
    },
  }
}

function request(
  spec: Partial<ResourcePoolStatusRequest['spec']> = {},
  status?: Partial<ResourcePoolStatusRequest['status']>,
  metadata: KubernetesObject['metadata'] = {},
): ResourcePoolStatusRequest {
  return {
    apiVersion: 'resource.k8s.io/v1alpha3',
    kind: 'ResourcePoolStatusRequest',
    metadata: { name: 'r', uid: 'r-uid', resourceVersion: '5', ...metadata },
    spec: { driver: DRIVER, ...spec },
    ...(status === undefined ? {} : { status: { poolCount: 0, ...status } }),
  }
}

const pools = (
  slices: readonly ResourceSlice[],
  claims: readonly ResourceClaim[] = [],
  spec: Partial<ResourcePoolStatusRequest['spec']> = {},
) => calculatePools(request(spec), slices, claims)

function counted(name: string, total: number, allocated: number, more: Partial<PoolStatus> = {}) {
  return {
    driver: DRIVER,
    poolName: name,
    generation: 1,
    resourceSliceCount: 1,
    totalDevices: total,
    allocatedDevices: allocated,
    availableDevices: Math.max(0, total - allocated),
    unavailableDevices: 0,
    ...more,
  }
}

test('Given one pool without and with allocations, then totals match.', () => {
  assert.deepEqual(pools([slice('a')]), { poolCount: 1, pools: [counted('a', 2, 0)] })
  const claims = [claim('a', 'b'), { ...claim(), status: undefined }]
  assert.deepEqual(pools([slice('a')], claims).pools, [counted('a', 2, 1)])
})

test('more allocations than devices leave none available; allocations of other pools and drivers are theirs', () => {
  assert.deepEqual(pools([slice('a', { devices: 1 })], [claim('a', 'a', 'a')]).pools, [
    counted('a', 1, 3),
  ])
  assert.deepEqual(pools([slice('b')], [claim('a')]).pools, [counted('b', 2, 0)])
  const elsewhere = slice('a', { driver: 'other.example' })
  assert.equal(
    pools([elsewhere], [claim('a')], { driver: 'other.example' }).pools[0]?.allocatedDevices,
    0,
  )
})

test('Given several pools, drivers, a pool filter, then only matching ones in order.', () => {
  const slices = [slice('b'), slice('c', { driver: 'other.example' }), slice('a')]
  const names = (spec: Partial<ResourcePoolStatusRequest['spec']>) =>
    pools(slices, [], spec).pools.map(({ driver, poolName }) => `${driver} ${poolName}`)
  assert.deepEqual(names({}), [`${DRIVER} a`, `${DRIVER} b`])
  assert.deepEqual(names({ driver: 'other.example' }), ['other.example c'])
  assert.deepEqual(names({ poolName: 'b' }), [`${DRIVER} b`])
  assert.deepEqual(names({ poolName: 'c' }), [])
})

test('Given several slices of one pool, then they are summed.', () => {
  const slices = [slice('a', { expected: 2 }), slice('a', { expected: 2, devices: 3 })]
  assert.deepEqual(pools(slices).pools, [counted('a', 5, 0, { resourceSliceCount: 2 })])
})

test('more slices than expected count as complete; a slice may have no devices', () => {
  const { devices: _, ...spec } = slice('a').spec
  const slices = [slice('a'), { ...slice('a'), spec }]
  assert.deepEqual(pools(slices).pools, [counted('a', 2, 0, { resourceSliceCount: 2 })])
})

test('Given a limit, then the list is cut and poolCount is the full number.', () => {
  const slices = ['c', 'a', 'b'].map((name) => slice(name))
  const { poolCount, pools: kept } = pools(slices, [], { limit: 2 })
  assert.deepEqual([poolCount, kept.map(({ poolName }) => poolName)], [3, ['a', 'b']])
  const many = Array.from({ length: 101 }, (_, index) => slice(`p${index}`))
  assert.deepEqual([pools(many).poolCount, pools(many).pools.length], [101, 100])
})

test('Given older generations, then they are ignored.', () => {
  const slices = [slice('a', { generation: 3 }), slice('a', { generation: 2, devices: 7 })]
  assert.deepEqual(pools(slices).pools, [counted('a', 2, 0, { generation: 3 })])
  const newest = pools([slice('a', { generation: 3, expected: 2 }), slice('a'), slice('a')])
  assert.match(newest.pools[0]?.validationError ?? '', /observed 1\/2 slices at generation 3/)
})

test('generations beyond 2^53, which are read as bigints, are told apart', () => {
  const long = (text: string): number => BigInt(text) as unknown as number
  const newest = long('9007199254740993')
  const slices = [
    slice('a', { generation: newest }),
    slice('a', { generation: long('9007199254740992'), devices: 7 }),
    slice('a', { generation: 3, devices: 7 }),
  ]
  assert.deepEqual(pools(slices).pools, [counted('a', 2, 0, { generation: newest })])
})

test('Given missing slices, then validationError for that pool.', () => {
  const mixed = [slice('a', { expected: 2, node: 'n' }), slice('b')]
  assert.deepEqual(pools(mixed).pools, [
    {
      driver: DRIVER,
      poolName: 'a',
      generation: 1,
      nodeName: 'n',
      validationError: `pool ${DRIVER}/a is incomplete: observed 1/2 slices at generation 1`,
    },
    counted('b', 2, 0),
  ])
  const long = pools([slice('x'.repeat(300), { expected: 2 })]).pools[0]?.validationError
  assert.equal(long?.length, 256)
})

test('Given equal, mixed, unset node names, then nodeName is set or unset.', () => {
  const nodeOf = (...nodes: readonly (string | undefined)[]) =>
    pools(nodes.map((node) => slice('a', { expected: nodes.length, node }))).pools[0]?.nodeName
  assert.equal(nodeOf('n', 'n'), 'n')
  assert.equal(nodeOf('n', 'm'), undefined)
  assert.equal(nodeOf('n', undefined), undefined)
  assert.equal(nodeOf(undefined, 'n'), undefined)
  assert.equal(nodeOf(undefined, undefined), undefined)
  assert.equal(nodeOf(''), undefined)
})

/** One sync of the request `r` from these caches. */
function sync(objects: readonly KubernetesObject[], code?: number) {
  const context = testContext({ configuration: defaultControllersConfiguration, cached: objects })
  const observed = poolStatusRequestLogic(context).observe('r')
  if (observed === undefined) return { written: [], error: undefined, context }
  const { writes, result } = drive(poolStatusRequestLogic(context).reconcile(observed), {
    nowMs: NOW_MS,
    onWrite: () => (code === undefined ? undefined : refused(code, 'x', 'no')),
  })
  const written = writes.map((write) => {
    assert.ok(write.verb === 'update' && write.subresource === 'status')
    assert.equal(write.type, POOL_STATUS_REQUESTS)
    return write.object as ResourcePoolStatusRequest
  })
  return { written, error: (result as { error?: Error } | undefined)?.error?.message, context }
}

const complete = (count: number) => ({
  type: 'Complete',
  status: 'True',
  lastTransitionTime: formatTime(NOW_MS),
  reason: 'CalculationComplete',
  message: `Calculated status for ${count} pools`,
})

test('Given a pending request, then status is written; given an incomplete pool, then an error and no write; given a processed one, then nothing.', () => {
  const status = { poolCount: 1, pools: [counted('a', 2, 1)], conditions: [complete(1)] }
  assert.deepEqual(sync([request(), slice('a'), claim('a')]).written, [request({}, status)])
  const incomplete = sync([request(), slice('a', { expected: 2 }), slice('b')])
  assert.deepEqual(
    [incomplete.written, incomplete.error],
    [[], 'incomplete pools detected, requeueing'],
  )
  const processed = sync([request({}, { conditions: [] }), slice('a')])
  assert.deepEqual([processed.written, processed.error], [[], undefined])
  assert.deepEqual(sync([slice('a')]).written, [])
})

test('No matching pools is a success; an incomplete pool beyond the limit does not block the request', () => {
  assert.deepEqual(sync([request()]).written[0]?.status, {
    poolCount: 0,
    conditions: [complete(0)],
  })
  const beyond = [request({ limit: 1 }), slice('a'), slice('b', { expected: 2 })]
  const { poolCount, conditions } = sync(beyond).written[0]?.status ?? {}
  assert.deepEqual([poolCount, conditions], [2, [complete(1)]])
})

const COUNTED = 'resourcepoolstatusrequest_controller_requests_processed_total'
const ERRORS = 'resourcepoolstatusrequest_controller_request_processing_errors_total'
const DURATION = 'resourcepoolstatusrequest_controller_request_processing_duration_seconds'
test('metrics count the writes that were tried and those that failed; incomplete-pool retries count none', () => {
  const labels = { driver_name: DRIVER }
  const figures = (objects: readonly KubernetesObject[], code?: number) => {
    const { error, context } = sync(objects, code)
    const { metrics } = context
    return [
      error,
      metrics.value(COUNTED, labels),
      metrics.value(ERRORS, labels),
      metrics.observed(DURATION, labels),
    ]
  }
  assert.deepEqual(figures([request(), slice('a')]), [undefined, 1, undefined, [0]])
  assert.deepEqual(figures([request(), slice('a')], 409), ['no', 1, 1, [0]])
  assert.deepEqual(figures([request(), slice('a', { expected: 2 })]), [
    'incomplete pools detected, requeueing',
    undefined,
    undefined,
    [],
  ])
  const metrics = new RecordingMetrics()
  answerMetrics(metrics)(DRIVER, false, 2_000)
  assert.deepEqual(metrics.observed(DURATION, labels), [2])
  const options = sync([]).context.metrics.families.get(DURATION)
  assert.ok(options !== undefined && 'buckets' in options)
  assert.deepEqual(
    [options.buckets?.length, options.buckets?.[0], options.buckets?.at(-1)],
    [15, 0.001, 16.384],
  )
})

const HOUR_MS = 3_600_000
const ago = (ms: number): string => formatTime(NOW_MS - ms)
/** Without a time: as JSON of old may have it. */
const finished = (type: string, sinceMs: number | undefined) => {
  const lastTransitionTime = (sinceMs === undefined ? undefined : ago(sinceMs)) as string
  return { conditions: [{ ...complete(1), type, lastTransitionTime }] }
}
const AGES: readonly (readonly [string, ResourcePoolStatusRequest, boolean])[] = [
  [
    'pending, exactly a day old',
    request({}, undefined, { creationTimestamp: ago(24 * HOUR_MS) }),
    false,
  ],
  [
    'pending, older than a day',
    request({}, undefined, { creationTimestamp: ago(24 * HOUR_MS + 1000) }),
    true,
  ],
  ['pending, without a time', request(), false],
  ['complete for exactly an hour', request({}, finished('Complete', HOUR_MS)), false],
  ['complete for more than an hour', request({}, finished('Complete', HOUR_MS + 1000)), true],
  ['failed for more than an hour', request({}, finished('Failed', HOUR_MS + 1000)), true],
  ['failed for an hour', request({}, finished('Failed', HOUR_MS)), false],
  [
    'complete, without a time, and old',
    request({}, finished('Complete', undefined), { creationTimestamp: ago(99 * HOUR_MS) }),
    false,
  ],
  [
    'old, complete for a moment',
    request({}, finished('Complete', 0), { creationTimestamp: ago(99 * HOUR_MS) }),
    false,
  ],
  [
    'a status without conditions, an hour old',
    request({}, {}, { creationTimestamp: ago(HOUR_MS) }),
    false,
  ],
  [
    'a status without conditions, older',
    request({}, {}, { creationTimestamp: ago(HOUR_MS + 1000) }),
    true,
  ],
]
test('Given ages around the limits, then only expired requests are deleted.', () => {
  for (const [title, each, expired] of AGES) {
    assert.equal(isExpired(each, NOW_MS), expired, title)
    const { writes } = drive(
      cleanUp(
        () => [each],
        () => assert.fail(title),
      ),
      { nowMs: NOW_MS },
    )
    assert.equal(writes.length, expired ? 1 : 0, title)
  }
})

test('the deletion carries the uid; 404 is ignored, other errors are logged and the rest goes on', () => {
  const old = (name: string) =>
    request({}, undefined, { name, uid: `${name}-uid`, creationTimestamp: ago(25 * HOUR_MS) })
  const context = testContext({
    configuration: defaultControllersConfiguration,
    cached: [old('a'), old('b'), old('c')],
  })
  const codes = [404, 500, undefined]
  const { writes } = drive(cleanUpLogic(context).round(), {
    nowMs: NOW_MS,
    onWrite: (_, index) => (codes[index] === undefined ? undefined : refused(codes[index], 'x')),
  })
  assert.deepEqual(
    writes.map((write) => (write.verb === 'delete' ? [write.name, write.options] : write)),
    ['a', 'b', 'c'].map((name) => [name, { preconditions: { uid: `${name}-uid` } }]),
  )
  const logged = context.logger.lines.filter(({ message }) => /expired request/.test(message))
  assert.deepEqual(
    logged.map(({ fields }) => fields['request']),
    ['b'],
  )
})

test('only requests without a status are queued; slices and claims are no events', () => {
  assert.deepEqual([...requestWatch.onAdd!(request())], ['r'])
  assert.deepEqual([...requestWatch.onUpdate!(request(), request())], ['r'])
  assert.deepEqual([...requestWatch.onAdd!(request({}, {}))], [])
  assert.deepEqual([...requestWatch.onUpdate!(request(), request({}, {}))], [])
  const context = testContext({ configuration: defaultControllersConfiguration })
  const logic = poolStatusRequestLogic(context)
  assert.deepEqual(
    [logic.queueName, logic.workers, logic.maxRetries, logic.watches.map(({ type }) => type)],
    [undefined, 1, 5, [POOL_STATUS_REQUESTS]],
  )
  const { periodMs, caches } = cleanUpLogic(context)
  assert.deepEqual([periodMs, caches.length], [600_000, 1])
})

test('it runs only with its gate, which is off unless somebody turned it on', async () => {
  const { name, aliases, serviceAccount, featureGates } = resourcePoolStatusRequestController
  assert.deepEqual(
    [name, aliases, serviceAccount, featureGates],
    [
      'resourcepoolstatusrequest-controller',
      [],
      'resourcepoolstatusrequest-controller',
      ['DRAResourcePoolStatus'],
    ],
  )
  assert.ok(resourcePoolStatusRequestController.enabledByDefault)
  const built = async (gates: Readonly<Record<string, boolean>>) => {
    const configuration = { ...defaultControllersConfiguration, featureGates: gates }
    return await resourcePoolStatusRequestController.build(testContext({ configuration }))
  }
  assert.equal(await built({}), undefined)
  assert.equal(await built({ DRAResourcePoolStatus: false }), undefined)
  assert.ok(await built({ DRAResourcePoolStatus: true }))
})

test('Given a live cluster, then a request is answered once, filtered and limited.', async () => {
  const configuration = {
    ...defaultControllersConfiguration,
    featureGates: { DRAResourcePoolStatus: true },
  }
  const context = testContext({ configuration, cached: [slice('a'), slice('b')] })
  const asked = request({ poolName: 'a', limit: 1 }, undefined, { creationTimestamp: ago(0) })
  context.informers.fill(context.client.put(POOL_STATUS_REQUESTS, asked))
  const loop = await resourcePoolStatusRequestController.build(context)
  const { stop } = startLoop(loop, context.clock)
  await context.clock.advance(1_000)
  const [sent, ...more] = context.client.requested('update')
  assert.deepEqual(more, [])
  const answered = sent?.body as ResourcePoolStatusRequest
  assert.deepEqual(answered.status?.pools, [counted('a', 2, 0)])
  context.informers.apply(POOL_STATUS_REQUESTS, answered)
  context.informers.apply(resources.resourceslices, slice('a'))
  await context.clock.advance(1_000)
  assert.equal(context.client.requested('update').length, 1)
  await stop()
})
