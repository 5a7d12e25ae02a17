import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { IPAddress, KubernetesObject, ServiceCIDR } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { canGo } from './can-go.ts'
import { serviceCidrController, serviceCidrLogic } from './index.ts'

const OURS = 'networking.k8s.io/service-cidr-finalizer'
const READY = {
  type: 'Ready',
  status: 'True',
  reason: '',
  message: 'Kubernetes Service CIDR is ready',
}
const STILL_USED = {
  type: 'Ready',
  status: 'False',
  reason: 'Terminating',
  message:
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
}

interface RangeOptions {
  readonly finalizers?: readonly string[]
  readonly deletedMsAgo?: number
  readonly conditions?: readonly object[]
}

function range(name: string, cidrs: readonly string[], given: RangeOptions = {}): ServiceCIDR {
  const { finalizers, deletedMsAgo, conditions } = given
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: {
      name,
      resourceVersion: '3',
      ...(finalizers && { finalizers }),
      ...(deletedMsAgo !== undefined && {
        deletionTimestamp: new Date(NOW_MS - deletedMsAgo).toISOString(),
      }),
    },
    spec: { cidrs },
    ...(conditions && { status: { conditions: conditions as [] } }),
  }
}

function address(name: string, labels: Record<string, string> = {}): IPAddress {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: {
      name,
      labels: {
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        'ipaddress.kubernetes.io/ip-family': name.includes(':') ? 'IPv6' : 'IPv4',
        ...labels,
      },
    },
    spec: { parentRef: { resource: 'services', name: 's' } },
  }
}

function sync(objects: readonly KubernetesObject[], options: DriveOptions = {}, key = 'extra') {
  const logic = serviceCidrLogic({ informers: fakeInformers(objects) })
  const observed = logic.observe(key)
  return observed && drive(logic.reconcile(observed), { nowMs: NOW_MS, ...options })
}

const GONE = 10_000
const deleting = (cidrs: readonly string[], given: RangeOptions = {}): ServiceCIDR =>
  range('extra', cidrs, { deletedMsAgo: GONE, finalizers: [OURS], ...given })

/** Of patches the metadata, of applied objects the conditions. */
function sent(driven: ReturnType<typeof sync>): readonly unknown[] {
  return (driven?.writes ?? []).map((write) => {
    if (write.verb === 'patch') {
      assert.deepEqual([write.patch.type, write.name], ['strategic', 'extra'])
      return write.patch.type === 'strategic' && write.patch.value
    }
    assert.ok(write.verb === 'apply' && write.force && write.subresource === 'status')
    assert.equal(write.fieldManager, 'service-cidr-controller')
    assert.deepEqual(Object.keys(write.object.metadata ?? {}), ['name'])
    const { apiVersion, kind } = write.object
    assert.deepEqual([apiVersion, kind], ['networking.k8s.io/v1', 'ServiceCIDR'])
    return (write.object as ServiceCIDR).status?.conditions
  })
}

const ADD = { metadata: { finalizers: [OURS] } }
const REMOVE = { metadata: { '$deleteFromPrimitiveList/finalizers': [OURS] } }
const at = (condition: object) => [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }]

test('Given the default or any ServiceCIDR without finalizer, then the finalizer patch and the Ready=True status are written.', () => {
  const synced = sync([range('extra', ['10.1.0.0/16'])])
  assert.deepEqual([sent(synced), synced?.events], [[ADD, at(READY)], []])
  const other = range('extra', ['10.1.0.0/16'], { finalizers: ['a/x'] })
  assert.deepEqual(sent(sync([other])), [ADD, at(READY)])
})

test('nothing is written that is there already; a condition that differs in any part is', () => {
  const known = (condition: object) =>
    range('extra', ['10.1.0.0/16'], { finalizers: [OURS], conditions: [condition] })
  assert.deepEqual(sync([known(READY)])?.writes, [])
  const { reason: _, ...withoutReason } = READY
  assert.deepEqual(sync([known(withoutReason)])?.writes, [])
  for (const change of [{ status: 'False' }, { reason: 'x' }, { message: 'x' }, { type: 'Other' }])
    assert.deepEqual(sent(sync([known({ ...READY, ...change })])), [at(READY)])
})

test('Given a deleting ServiceCIDR past the grace period without addresses, then the finalizer is removed.', () => {
  assert.deepEqual(sent(sync([deleting(['10.1.0.0/16'])])), [REMOVE])
  assert.deepEqual(sync([deleting(['10.1.0.0/16'], { finalizers: ['a/x'] })])?.effects, [])
})

test('Given a deleting ServiceCIDR within the grace period, then it is requeued with no write.', () => {
  const driven = sync([deleting(['10.1.0.0/16'], { deletedMsAgo: GONE - 1 })])
  assert.deepEqual([driven?.writes, driven?.result], [[], { requeueAfterMs: 1 }])
})

for (const [cidr, used] of [
  ['10.1.0.0/16', '10.1.2.3'],
  ['fd00::/64', 'fd00::12'],
] as const) {
  test(`Given a deleting ServiceCIDR with IPv4 or IPv6 addresses in use, then Ready=False/Terminating and the finalizer stays: ${used}`, () => {
    for (const deletedMsAgo of [0, GONE])
      assert.deepEqual(sent(sync([deleting([cidr], { deletedMsAgo }), address(used)])), [
        at(STILL_USED),
      ])
    const told = deleting([cidr], { conditions: [STILL_USED] })
    assert.deepEqual(sync([told, address(used)])?.writes, [])
  })
}

test('Given addresses in use but another ServiceCIDR with the same or a covering range, then the finalizer is removed.', () => {
  for (const cidr of ['10.1.0.0/16', '10.0.0.0/8']) {
    const others = [range('other', [cidr], { deletedMsAgo: 0 }), address('10.1.2.3')]
    assert.deepEqual(sent(sync([deleting(['10.1.0.0/16']), ...others])), [REMOVE])
  }
})

test('a status that cannot be written is told by an event and retried, once the finalizer is there', () => {
  const failed = refused(500, 'InternalError')
  assert.ok(!failed.ok)
  const driven = sync([range('extra', ['10.1.0.0/16'])], {
    onWrite: (write) => (write.verb === 'apply' ? failed : undefined),
  })
  assert.deepEqual(driven?.result, { error: failed.error })
  assert.deepEqual(driven?.events, [
    {
      type: 'Warning',
      reason: 'KubernetesServiceCIDRError',
      message: 'The ServiceCIDR Status can not be set to Ready=True',
    },
  ])
  const blocked = sync([deleting(['10.1.0.0/16']), address('10.1.2.3')], { onWrite: () => failed })
  assert.deepEqual([blocked?.result, blocked?.events], [{ error: failed.error }, []])
})

test('a finalizer patch that fails is retried and nothing else is written; of one that is gone it is fine', () => {
  for (const object of [range('extra', ['10.1.0.0/16']), deleting(['10.1.0.0/16'])]) {
    const failed = refused(409, 'Conflict')
    assert.ok(!failed.ok)
    const driven = sync([object], { onWrite: () => failed })
    assert.deepEqual([driven?.writes.length, driven?.result], [1, { error: failed.error }])
  }
  const gone = sync([deleting(['10.1.0.0/16'])], { onWrite: () => refused(404, 'NotFound') })
  assert.equal(gone?.result, undefined)
})

test('one that is gone is nothing', () => assert.equal(sync([]), undefined))

interface GoCase {
  readonly what: string
  readonly cidrs: readonly string[]
  readonly others?: readonly (readonly string[])[]
  readonly addresses?: readonly IPAddress[]
  readonly goes: boolean
}
const V4 = '10.1.0.0/16'
const V6 = 'fd00::/64'
const goCases: readonly GoCase[] = [
  { what: 'nothing uses it', cidrs: [V4], goes: true },
  { what: 'an address is in it', cidrs: [V4], addresses: [address('10.1.0.9')], goes: false },
  {
    what: 'a parent',
    cidrs: [V4],
    others: [['10.0.0.0/8']],
    addresses: [address('10.1.0.9')],
    goes: true,
  },
  {
    what: 'a part of it',
    cidrs: [V4],
    others: [['10.1.0.0/24']],
    addresses: [address('10.1.9.9')],
    goes: false,
  },
  {
    what: 'a part of it with all addresses',
    cidrs: [V4],
    others: [['10.1.0.0/24']],
    addresses: [address('10.1.0.9')],
    goes: true,
  },
  { what: 'dual, nothing uses it', cidrs: [V4, V6], goes: true },
  {
    what: 'dual, one family in use',
    cidrs: [V4, V6],
    addresses: [address('fd00::9')],
    goes: false,
  },
  {
    what: 'dual, one parent of two',
    cidrs: [V4, V6],
    others: [['10.0.0.0/8']],
    addresses: [address('fd00::9')],
    goes: false,
  },
  {
    what: 'dual, the family with a parent in use',
    cidrs: [V4, V6],
    others: [['10.0.0.0/8']],
    addresses: [address('10.1.0.9')],
    goes: true,
  },
  {
    what: 'dual, two parents',
    cidrs: [V4, V6],
    others: [['10.0.0.0/8'], ['fd00::/32']],
    addresses: [address('fd00::9'), address('10.1.0.9')],
    goes: true,
  },
  { what: 'an address elsewhere', cidrs: [V4], addresses: [address('10.2.0.9')], goes: true },
  { what: 'the address of the network', cidrs: [V4], addresses: [address('10.1.0.0')], goes: true },
  { what: 'the broadcast address', cidrs: [V4], addresses: [address('10.1.255.255')], goes: true },
  {
    what: 'the last address of IPv6',
    cidrs: [V6],
    addresses: [address('fd00::ffff:ffff:ffff:ffff')],
    goes: false,
  },
  { what: 'the first address of IPv6', cidrs: [V6], addresses: [address('fd00::')], goes: true },
  {
    what: 'an address of another manager',
    cidrs: [V4],
    addresses: [address('10.1.0.9', { 'ipaddress.kubernetes.io/managed-by': 'me' })],
    goes: true,
  },
  {
    what: 'an address with the label of the other family',
    cidrs: [V4],
    addresses: [address('10.1.0.9', { 'ipaddress.kubernetes.io/ip-family': 'IPv6' })],
    goes: true,
  },
  {
    what: 'ranges that cannot be read',
    cidrs: ['x'],
    addresses: [address('10.1.0.9')],
    goes: true,
  },
]
test('Given single and dual ranges with and without parents and addresses, then "can it go" matches.', () => {
  for (const { what, cidrs, others = [], addresses = [], goes } of goCases) {
    const own = range('extra', cidrs)
    const serviceCidrs = [own, ...others.map((texts, index) => range(`other-${index}`, texts))]
    assert.equal(canGo(own, { serviceCidrs, addresses: () => addresses }), goes, what)
  }
})

test('its own older form under the name does not count as another', () => {
  const own = range('extra', [V4])
  assert.equal(
    canGo(own, { serviceCidrs: [{ ...own }], addresses: () => [address('10.1.0.9')] }),
    false,
  )
})

function watchesOf(objects: readonly KubernetesObject[]) {
  const [ranges, addresses] = serviceCidrLogic({ informers: fakeInformers(objects) }).watches
  return { ranges: ranges as Watch<ServiceCIDR>, addresses: addresses as Watch<IPAddress> }
}

test('Given an address and several ranges, then all containing ones are enqueued.', () => {
  const objects = [
    range('wide', ['10.0.0.0/8', V6]),
    range('narrow', ['10.1.0.0/24']),
    range('other', ['192.168.0.0/24']),
    range('going', ['10.1.0.0/16'], { deletedMsAgo: 0 }),
  ]
  const { addresses } = watchesOf(objects)
  const keys = (name: string) => [...addresses.onAdd!(address(name))].sort()
  assert.deepEqual(keys('10.1.0.9'), ['going', 'narrow', 'wide'])
  assert.deepEqual(keys('10.1.0.255'), ['going', 'wide'])
  assert.deepEqual(keys('10.1.0.0'), ['wide'])
  assert.deepEqual(keys('fd00::1'), ['wide'])
  assert.deepEqual(keys('172.16.0.1'), [])
  assert.deepEqual(keys('no-address'), [])
  const foreign = address('10.1.0.9', { 'ipaddress.kubernetes.io/managed-by': 'me' })
  assert.deepEqual([...addresses.onAdd!(foreign), ...addresses.onDelete!(foreign)], [])
  assert.deepEqual([...addresses.onDelete!(address('192.168.0.7'))], ['other'])
  const tombstone = new DeletedFinalStateUnknown<IPAddress>('192.168.0.7', undefined)
  assert.deepEqual([...addresses.onDelete!(tombstone)], ['other'])
  assert.equal(addresses.onUpdate, undefined)
})

test('Given an added range, then all overlapping ones are enqueued.', () => {
  const objects = [
    range('wide', ['10.0.0.0/8']),
    range('narrow', ['10.1.0.0/24', V6]),
    range('other', ['192.168.0.0/24']),
  ]
  const { ranges } = watchesOf(objects)
  assert.equal(ranges.type, resources.servicecidrs)
  assert.deepEqual([...ranges.onAdd!(range('new', [V4]))].sort(), ['narrow', 'new', 'wide'])
  for (const cidrs of [['fd00::/32'], ['172.16.0.0/12', 'fd00::/32']])
    assert.deepEqual([...ranges.onAdd!(range('new', cidrs))].sort(), ['narrow', 'new'])
  assert.deepEqual([...ranges.onUpdate!(objects[0]!, objects[0]!)], ['wide'])
  assert.deepEqual([...ranges.onDelete!(objects[0]!)], ['wide'])
  const tombstone = new DeletedFinalStateUnknown<ServiceCIDR>('wide', undefined)
  assert.deepEqual([...ranges.onDelete!(tombstone)], ['wide'])
})

test('names, queue, component, workers and retries are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault, featureGates } = serviceCidrController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault, featureGates],
    [
      'service-cidr-controller',
      [],
      'service-cidrs-controller',
      true,
      ['MultiCIDRServiceAllocator'],
    ],
  )
  const logic = serviceCidrLogic({ informers: fakeInformers([]) })
  assert.deepEqual(
    [logic.queueName, logic.eventComponent, logic.workers, logic.maxRetries, logic.rateLimiter],
    ['ipaddresses', 'service-cidr-controller', 5, 15, undefined],
  )
})
