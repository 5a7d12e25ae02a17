import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSubset, Endpoints, Pod, Service } from '@gyropilot/api'
import type { Outcome } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { CREATED, pod, pods, service } from '../endpoint-support/fixtures.ts'
import { TriggerTimes } from '../endpoint-support/trigger-times.ts'
import { refused } from '../workload-support/fixtures.ts'
import { desiredSubsets } from './desired-subsets.ts'
import { endpoints } from './fixtures.ts'
import { reconcile } from './reconcile.ts'
import type { EndpointsMemory } from './reconcile.ts'
import { ReplacedVersions } from './replaced-versions.ts'

const TRIGGER = 'endpoints.kubernetes.io/last-change-trigger-time'
const CAPACITY = 'endpoints.kubernetes.io/over-capacity'
const MANAGED = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' }

interface Given {
  readonly service?: Service | undefined
  readonly pods?: readonly Pod[]
  readonly endpoints?: Endpoints | undefined
  readonly memory?: EndpointsMemory
  readonly drive?: DriveOptions
}

const newMemory = (): EndpointsMemory => ({
  triggerTimes: new TriggerTimes(),
  replaced: new ReplacedVersions(),
  created: new Set(),
})

function sync(given: Given = {}) {
  const observed = {
    key: 'ns/svc',
    namespace: 'ns',
    name: 'svc',
    service: 'service' in given ? given.service : service(),
    endpoints: given.endpoints,
    pods: () => given.pods ?? [],
  }
  const driven = drive(reconcile(observed, given.memory ?? newMemory()), given.drive)
  const [write] = driven.writes
  const written =
    write?.verb === 'create' || write?.verb === 'update' ? (write.object as Endpoints) : undefined
  const error = (driven.result ?? {}).error as Error | undefined
  return { ...driven, verbs: driven.writes.map(({ verb }) => verb), written, error }
}

test('Endpoints are created with the labels of the Service, the manager and the addresses of the pods', () => {
  const driven = sync({ service: service({ labels: { team: 'x' } }), pods: [pod()] })
  const { verbs, written } = driven
  assert.deepEqual([verbs, driven.events, driven.error], [['create'], [], undefined])
  assert.deepEqual(written, {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: 'svc',
      namespace: 'ns',
      labels: { team: 'x', ...MANAGED },
      annotations: { [TRIGGER]: CREATED },
    },
    subsets: desiredSubsets(service(), [pod()]),
  })
})

test('Given a Service without selector, then no API call', () => {
  for (const spec of [
    { selector: undefined },
    { selector: null },
  ] as unknown as Service['spec'][]) {
    const without = sync({ service: service({ spec }), endpoints: endpoints(), pods: [pod()] })
    assert.deepEqual([without.verbs, without.error], [[], undefined])
  }
})

test('Changing a Service to ExternalName or removing its selector does not delete its Endpoints.', () => {
  const external = service({ spec: { type: 'ExternalName', externalName: 'example.com' } })
  assert.deepEqual(sync({ service: external, endpoints: endpoints() }).effects, [])
})

test('the Endpoints of a Service that is gone are deleted by their uid, and by name where they were created here and the cache has none', () => {
  const shown = newMemory()
  const created = newMemory()
  sync({ memory: created })
  const lost: Outcome = { ok: false, error: new Error('connection lost'), attempted: true }
  const [unanswered, timedOut] = [lost, refused(504, 'Timeout')].map((outcome) => {
    const memory = newMemory()
    sync({ memory, drive: { onWrite: () => outcome } })
    return memory
  })
  for (const [known, memory, options] of [
    [endpoints(), shown, { preconditions: { uid: 'svc-endpoints-uid' } }],
    [undefined, created, undefined],
    [undefined, unanswered!, undefined],
    [undefined, timedOut!, undefined],
  ] as const) {
    memory.triggerTimes.next(service(), [])
    memory.replaced.written(endpoints(), endpoints({ resourceVersion: '6' }))
    const { writes } = sync({ service: undefined, endpoints: known, memory })
    assert.deepEqual(
      writes.map(
        (write) => write.verb === 'delete' && [write.namespace, write.name, write.options],
      ),
      [['ns', 'svc', options]],
    )
    assert.ok(!memory.replaced.isStale(endpoints()))
    assert.equal(memory.triggerTimes.next(service(), []), CREATED)
    assert.deepEqual(sync({ service: undefined, memory }).effects, [])
  }
})

test('Endpoints that neither the cache shows nor this process created are not left over', () => {
  const memory = newMemory()
  assert.deepEqual(sync({ service: undefined, memory }).effects, [])
  sync({ memory, drive: { onWrite: () => refused(403, 'Forbidden') } })
  assert.deepEqual(sync({ service: undefined, memory }).effects, [])
})

test('that they are gone already is no error, anything else is, as that they were made anew', () => {
  const answered = (code: number, reason: string) =>
    sync({
      service: undefined,
      endpoints: endpoints(),
      drive: { onWrite: () => refused(code, reason) },
    }).error
  assert.equal(answered(404, 'NotFound'), undefined)
  assert.equal(answered(409, 'Conflict')?.message, 'Conflict')
  assert.equal(answered(500, 'InternalError')?.message, 'InternalError')
})

test('Given existing Endpoints with null or empty subsets and no pods, then no write loop', () => {
  for (const subsets of [null, [], undefined]) {
    assert.deepEqual(sync({ endpoints: endpoints({ subsets }) }).effects, [])
  }
})

test('Given only the pod resourceVersion changed, then no write', () => {
  const [subset] = desiredSubsets(service(), [pod()])
  const [address] = subset!.addresses!
  const targetRef = { ...address!.targetRef, resourceVersion: '1' }
  const stored = [{ ...subset, addresses: [{ ...address!, targetRef }] }]
  const changed = pod({ resourceVersion: '99' })
  const now = sync({ endpoints: endpoints({ subsets: stored }), pods: [changed] })
  assert.deepEqual(now.effects, [])
})

test('Given a headless Service, then label `service.kubernetes.io/headless` is set', () => {
  const headless = { ...MANAGED, 'service.kubernetes.io/headless': '' }
  for (const clusterIP of ['None', '']) {
    const { written } = sync({ service: service({ spec: { clusterIP } }) })
    assert.deepEqual(written?.metadata?.labels, headless)
  }
  const { written } = sync({ endpoints: endpoints({ labels: headless }), pods: [pod()] })
  assert.deepEqual(written?.metadata?.labels, MANAGED)
})

test('Adding or removing only the `service.kubernetes.io/headless` label on the object is not detected as a difference.', () => {
  const headless = { ...MANAGED, 'service.kubernetes.io/headless': '' }
  assert.deepEqual(sync({ endpoints: endpoints({ labels: headless }) }).effects, [])
  const of = service({ spec: { clusterIP: 'None' } })
  assert.deepEqual(sync({ service: of, endpoints: endpoints() }).effects, [])
})

test('Given identical but unsorted stored subsets, then no write', () => {
  const two = pods(2)
  const [subset] = desiredSubsets(service(), two)
  const unsorted: readonly EndpointSubset[] = subset!.addresses!.toReversed().map((address) => ({
    ...subset,
    addresses: [address],
  }))
  assert.deepEqual(sync({ endpoints: endpoints({ subsets: unsorted }), pods: two }).effects, [])
})

test('Given Service labels changed, then Endpoints labels follow', () => {
  const before = endpoints({ labels: { old: 'x', ...MANAGED } })
  const driven = sync({ service: service({ labels: { new: 'y' } }), endpoints: before })
  const { verbs, written } = driven
  assert.deepEqual([driven.events, driven.error], [[], undefined])
  assert.deepEqual([verbs, written?.metadata?.labels], [['update'], { new: 'y', ...MANAGED }])
  assert.equal(written?.metadata?.resourceVersion, '5')
})

test('The label check treats any extra label on Endpoints (not on the Service) as a difference and rewrites.', () => {
  const extra = endpoints({ labels: { extra: 'x', ...MANAGED } })
  assert.deepEqual(sync({ endpoints: extra }).written?.metadata?.labels, MANAGED)
})

test('`endpoints.kubernetes.io/managed-by` is always present on objects of this controller and never copied from the Service.', () => {
  const of = service({ labels: { 'endpoints.kubernetes.io/managed-by': 'me', a: 'b' } })
  const labels = { a: 'b', ...MANAGED }
  assert.deepEqual(sync({ service: of }).written?.metadata?.labels, labels)
  assert.deepEqual(
    sync({ endpoints: endpoints({ labels: {} }) }).written?.metadata?.labels,
    MANAGED,
  )
  // As the Service's labels can never be followed, the object is written at every sync.
  assert.deepEqual(sync({ service: of, endpoints: endpoints({ labels }) }).verbs, ['update'])
})

const TRIGGERS: readonly (readonly [string, string | undefined])[] = [
  ['older', '2020-01-01T00:00:00Z'],
  ['newer', '2030-01-01T00:00:00Z'],
  ['absent', undefined],
]
for (const [title, stored] of TRIGGERS) {
  test(`Given trigger annotations older, newer or absent, then they are overridden or cleared: ${title}`, () => {
    const annotations = { kept: 'x', ...(stored === undefined ? {} : { [TRIGGER]: stored }) }
    const memory = newMemory()
    const first = sync({ endpoints: endpoints({ annotations }), pods: [pod()], memory })
    assert.deepEqual(first.written?.metadata?.annotations, { kept: 'x', [TRIGGER]: CREATED })
    // Nothing new happened to the Service or to its pods.
    const second = sync({ endpoints: endpoints({ annotations }), pods: [], memory })
    assert.deepEqual(second.verbs, [])
    const third = sync({ endpoints: endpoints({ annotations }), pods: [pod()], memory })
    assert.deepEqual(third.written?.metadata?.annotations, { kept: 'x' })
  })
}

test('the time of a change counts as passed on also when nothing is written', () => {
  const memory = newMemory()
  const since = pod({ readySince: '2026-01-01T00:05:00Z' })
  const stored = endpoints({ subsets: desiredSubsets(service(), [since]) })
  assert.deepEqual(sync({ endpoints: stored, pods: [since], memory }).verbs, [])
  const { written } = sync({ endpoints: endpoints(), pods: [since], memory })
  assert.deepEqual(written?.metadata?.annotations, {})
})

const CAPACITIES: readonly (readonly [
  ready: number,
  unready: number,
  kept: string,
  cut: boolean,
])[] = [
  [997, 4, '997 + 3', true],
  [1000, 10, '1000 + 0', true],
  [1001, 0, '1000 + 0', true],
  [1000, 0, '1000 + 0', false],
]
for (const [ready, unready, kept, cut] of CAPACITIES) {
  test(`Given 997 ready + 4 not ready, then 997 + 3 are kept and annotated; 1000 ready + 10 not ready -> 1000 + 0; 1001 ready -> 1000; exactly 1000 -> no annotation: ${ready} + ${unready}`, () => {
    const all = pods(ready + unready, (index) => ({ ready: index < ready }))
    const { written } = sync({ pods: all })
    const [subset] = written?.subsets ?? []
    const counts = [subset?.addresses?.length ?? 0, subset?.notReadyAddresses?.length ?? 0]
    assert.equal(counts.join(' + '), kept)
    assert.equal(written?.metadata?.annotations?.[CAPACITY], cut ? 'truncated' : undefined)
  })
}

test('a Service still over capacity is re-PUT on every sync, one back at 1000 or fewer drops the annotation', () => {
  const all = pods(1001)
  const memory = newMemory()
  const stored = sync({ pods: all, memory }).written!
  const cut = { ...stored, metadata: { ...stored.metadata, resourceVersion: '7' } }
  const again = sync({ endpoints: cut, pods: all, memory })
  assert.deepEqual(again.verbs, ['update'])
  // The answer had the same version: nothing was replaced.
  assert.deepEqual(sync({ endpoints: cut, pods: all, memory }).verbs, ['update'])
  const few = sync({ endpoints: cut, pods: all.slice(0, 1000), memory })
  assert.equal(few.written?.metadata?.annotations?.[CAPACITY], undefined)
  assert.deepEqual(few.verbs, ['update'])
})

const DIFFERENCES: readonly (readonly [string, Pod])[] = [
  ['another address', pod({ ips: ['10.9.0.2'] })],
  ['another pod at the address', pod({ uid: 'other' })],
  ['another node', pod({ node: 'node-b' })],
  ['a pod that is not ready', pod({ ready: false })],
]
for (const [title, now] of DIFFERENCES) {
  test(`a difference in the addresses alone is written: ${title}`, () => {
    const stored = endpoints({ subsets: desiredSubsets(service(), [pod()]) })
    const { verbs, written } = sync({ endpoints: stored, pods: [now] })
    assert.deepEqual([verbs, written?.subsets], [['update'], desiredSubsets(service(), [now])])
  })
}

test('a difference in unready addresses alone is written', () => {
  const stored = endpoints({ subsets: desiredSubsets(service(), [pod({ ready: false })]) })
  const now = pod({ ready: false, ips: ['10.9.0.2'] })
  assert.deepEqual(sync({ endpoints: stored, pods: [now] }).verbs, ['update'])
})

test('exactly 1000 stored addresses that are as they should be stay', () => {
  const all = pods(1000)
  const stored = endpoints({ subsets: desiredSubsets(service(), all) })
  assert.deepEqual(sync({ endpoints: stored, pods: all }).effects, [])
})

test('more than 1000 stored addresses are written anew', () => {
  const all = pods(1001)
  const stored = endpoints({ subsets: desiredSubsets(service(), all) })
  assert.equal(
    sync({ endpoints: stored, pods: all }).written?.metadata?.annotations?.[CAPACITY],
    'truncated',
  )
})

test('Given a stale informer object, then the sync errors and retries instead of writing', () => {
  const memory = newMemory()
  const answer = endpoints({ resourceVersion: '6' })
  const first = sync({
    endpoints: endpoints(),
    pods: [pod()],
    memory,
    drive: { onWrite: () => ({ ok: true, object: answer }) },
  })
  assert.deepEqual(first.verbs, ['update'])
  const stale = sync({ endpoints: endpoints(), pods: [], memory })
  assert.deepEqual(stale.verbs, [])
  assert.match(stale.error?.message ?? '', /^endpoints informer cache is out of date/)
  assert.deepEqual(sync({ endpoints: answer, pods: [pod()], memory }).verbs, ['update'])
})

test('Given a Service port removed, then its port vanishes from the subset', () => {
  const ports = [
    { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' },
    { name: 'https', port: 443, targetPort: 8443, protocol: 'TCP' },
  ] as const
  const stored = endpoints({ subsets: desiredSubsets(service({ spec: { ports } }), [pod()]) })
  assert.equal(stored.subsets?.[0]?.ports?.length, 2)
  const { written } = sync({ endpoints: stored, pods: [pod()] })
  assert.deepEqual(written?.subsets?.[0]?.ports, [{ name: 'http', port: 8080, protocol: 'TCP' }])
})

test('a refused create is an event on the Endpoints and is retried', () => {
  const { events, error } = sync({ drive: { onWrite: () => refused(403, 'Forbidden', 'no') } })
  assert.equal(error?.message, 'no')
  assert.deepEqual(events, [
    {
      type: 'Warning',
      reason: 'FailedToCreateEndpoint',
      message: 'Failed to create endpoint for service ns/svc: no',
    },
  ])
})

test('a create that the cache does not show yet is tried again without a word', () => {
  const memory = newMemory()
  sync({ memory })
  const again = (): Outcome => refused(409, 'AlreadyExists', 'endpoints "svc" already exists')
  const second = sync({ memory, drive: { onWrite: again } })
  assert.equal(second.error?.message, 'endpoints "svc" already exists')
  assert.deepEqual(second.events, [])
  sync({ memory, endpoints: endpoints() })
  const other = sync({ memory, drive: { onWrite: again } })
  assert.deepEqual(
    other.events.map(({ reason }) => reason),
    ['FailedToCreateEndpoint'],
  )
})

test('Create answered with 403 caused by namespace termination is dropped silently without event and retry.', () => {
  const onWrite = () => refused(403, 'Forbidden', 'going', 'NamespaceTerminating')
  const { events, error } = sync({ drive: { onWrite } })
  assert.deepEqual([events, error], [[], undefined])
})

test('a refused update is an event on the Endpoints and is retried', () => {
  const onWrite = () => refused(409, 'Conflict', 'changed')
  const { events, error } = sync({ endpoints: endpoints(), pods: [pod()], drive: { onWrite } })
  assert.equal(error?.message, 'changed')
  assert.deepEqual(events, [
    {
      type: 'Warning',
      reason: 'FailedToUpdateEndpoint',
      message: 'Failed to update endpoint ns/svc: changed',
    },
  ])
})
