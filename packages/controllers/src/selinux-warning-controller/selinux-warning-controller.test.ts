import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  Container,
  CSIDriver,
  KubernetesObject,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  SELinuxOptions,
  Volume,
} from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { RecordingMetrics, drive, fakeInformers } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { selinuxWarningController, selinuxWarningLogic } from './index.ts'
import { fileLabel, labelsConflict } from './labels.ts'
import { collectConflicts } from './metrics.ts'
import { VolumeCache } from './volume-cache.ts'
import type { VolumeUse } from './volume-cache.ts'

const METRIC = 'selinux_warning_controller_selinux_volume_conflict'
const IF_BOTH = 'If both pods land on the same node, only one of them may access the volume.'

interface PodOptions {
  readonly namespace?: string
  readonly options?: SELinuxOptions
  readonly policy?: 'MountOption' | 'Recursive'
  readonly claims?: readonly string[]
  readonly volumes?: readonly Volume[]
  readonly containers?: readonly Partial<Container>[]
  readonly phase?: string
}

function pod(name: string, more: PodOptions = {}): Pod {
  const {
    namespace = 'ns',
    options,
    policy,
    claims = ['data'],
    volumes = [],
    phase = 'Running',
  } = more
  const all = [
    ...claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
    ...volumes,
  ]
  const volumeMounts = all.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }))
  const containers = more.containers ?? [{}]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, uid: `${name}-uid` },
    spec: {
      containers: containers.map((each) => ({ name: 'c', image: 'i', volumeMounts, ...each })),
      volumes: all,
      securityContext: {
        ...(options && { seLinuxOptions: options }),
        ...(policy && { seLinuxChangePolicy: policy }),
      },
    },
    status: { phase: phase as 'Running' },
  }
}

const level = (text: string): SELinuxOptions => ({ level: text })

function volume(name: string, namespace = 'ns', handle = name, driver = 'd'): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${namespace}-${name}` },
    spec: {
      csi: { driver, volumeHandle: handle },
      claimRef: { namespace, name, uid: `${namespace}-${name}` },
    },
  }
}

function claim(name: string, namespace = 'ns', isBound = true): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name, uid: `${namespace}-${name}` },
    spec: { ...(isBound && { volumeName: `${namespace}-${name}` }) },
    status: { phase: isBound ? 'Bound' : 'Pending' },
  }
}

function driver(...[seLinuxMount, name = 'd']: [seLinuxMount?: boolean, name?: string]): CSIDriver {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name },
    spec: { ...(seLinuxMount !== undefined && { seLinuxMount }) },
  }
}

const DATA = [volume('data'), claim('data')]

function warning(objects: readonly KubernetesObject[], featureGates = {}) {
  const informers = fakeInformers(objects)
  const metrics = new RecordingMetrics()
  const configuration = { ...defaultControllersConfiguration, featureGates }
  const logic = selinuxWarningLogic({ informers, configuration, metrics })
  return {
    informers,
    logic,
    metrics,
    conflicts: () =>
      metrics
        .expose()
        .split('\n')
        .filter((line) => line.startsWith(METRIC)),
    sync(name: string, namespace = 'ns') {
      const observed = logic.observe(`${namespace}/${name}`)
      if (observed === undefined) {
        logic.forget?.(`${namespace}/${name}`)
        return { told: [], error: undefined, uses: [] }
      }
      const { result, effects } = drive(logic.reconcile(observed))
      const told = effects.flatMap((effect) =>
        effect.effect === 'event'
          ? [
              [
                effect.event.type,
                effect.event.reason,
                effect.event.regarding.metadata?.name,
                effect.event.message,
              ].join(' '),
            ]
          : [],
      )
      const uses = (observed.pod.spec?.volumes ?? []).flatMap(({ name: volumeName }) => {
        const use = observed.cache
          .uses(`kubernetes.io/csi/d^${volumeName}`)
          .get(`${namespace}/${name}`)
        return use === undefined ? [] : [`${use.label}|${use.changePolicy}|${use.driver}`]
      })
      return { told, error: (result as { error?: Error } | undefined)?.error?.message, uses }
    },
  }
}

test('Given a pod without volumes or with an unbound PVC, then nothing, or an error', () => {
  const bare = warning([pod('p', { claims: [] })])
  assert.deepEqual(bare.sync('p'), { told: [], error: undefined, uses: [] })
  const unbound = warning([driver(true), claim('data', 'ns', false), pod('p')])
  assert.deepEqual(unbound.sync('p'), { told: [], error: 'PVC ns/data is not bound', uses: [] })
})

test('Given a bound PVC, inline volume, or both, then cache entries with label and policy', () => {
  const options = level('s0:c1,c2')
  const both = warning([driver(true), ...DATA, pod('p', { options })])
  assert.deepEqual(both.sync('p').uses, [':::s0:c1,c2|MountOption|d'])
  const iscsi = { targetPortal: 't', iqn: 'i', lun: 1 }
  const inline = warning([
    pod('p', { claims: [], volumes: [{ name: 'i', iscsi }], options }),
    pod('q', { claims: [], volumes: [{ name: 'i', iscsi }], options: level('s0:c3') }),
  ])
  inline.sync('p')
  assert.equal(inline.sync('q').told.length, 2)
})

test('one volume that waits does not hold up the others', () => {
  const world = warning([
    driver(true),
    ...DATA,
    pod('p', { claims: ['late', 'data'], options: level('s0') }),
  ])
  const { error, uses } = world.sync('p')
  assert.match(error!, /"late" not found/)
  assert.deepEqual(uses, [':::s0|MountOption|d'])
})

test('Given Recursive policy or no label, then an entry with empty label and Recursive', () => {
  const objects = [driver(true), ...DATA]
  const recursive = pod('p', { options: level('s0'), policy: 'Recursive' })
  assert.deepEqual(warning([...objects, recursive]).sync('p').uses, ['|Recursive|d'])
  assert.deepEqual(warning([...objects, pod('p')]).sync('p').uses, ['|Recursive|d'])
  const explicit = pod('p', { policy: 'MountOption' })
  assert.deepEqual(warning([...objects, explicit]).sync('p').uses, ['|Recursive|d'])
})

test('Given a driver with seLinuxMount false, then Recursive', () => {
  const user = pod('p', { options: level('s0') })
  for (const drivers of [[driver(false)], [driver(undefined)], []])
    assert.deepEqual(warning([...drivers, ...DATA, user]).sync('p').uses, ['|Recursive|d'])
})

test('no label is computed where the gate is off', () => {
  const world = warning([driver(true), ...DATA, pod('p', { options: level('s0') })], {
    SELinuxMountReadWriteOncePod: false,
  })
  assert.deepEqual(world.sync('p').uses, ['|Recursive|d'])
})

test('Given two pods with different levels, then two events; other pod missing: one', () => {
  const [one, two] = [
    pod('one', { options: level('s0:c1') }),
    pod('two', { options: level('s0:c2') }),
  ]
  const world = warning([driver(true), ...DATA, one, two])
  assert.deepEqual(world.sync('one').told, [])
  assert.deepEqual(world.sync('two').told, [
    `Normal SELinuxLabelConflict two SELinuxLabel ":::s0:c2" conflicts with pod one that uses the same volume as this pod with SELinuxLabel ":::s0:c1". ${IF_BOTH}`,
    `Normal SELinuxLabelConflict one SELinuxLabel ":::s0:c1" conflicts with pod two that uses the same volume as this pod with SELinuxLabel ":::s0:c2". ${IF_BOTH}`,
  ])
  assert.deepEqual(world.sync('two').told, [], 'not again')
  const label = { property: 'SELinuxLabel', pod1_namespace: 'ns', pod2_namespace: 'ns' }
  const [of1, of2] = [
    { pod1_name: 'one', pod1_value: ':::s0:c1', pod2_name: 'two', pod2_value: ':::s0:c2' },
    { pod1_name: 'two', pod1_value: ':::s0:c2', pod2_name: 'one', pod2_value: ':::s0:c1' },
  ]
  assert.equal(world.metrics.value(METRIC, { ...label, ...of1 }), 1)
  assert.equal(world.metrics.value(METRIC, { ...label, ...of2 }), 1)
  assert.equal(world.conflicts().length, 2)
  // The other is gone from the cache, and nobody has said so yet.
  const half = warning([driver(true), ...DATA, one, two])
  half.sync('one')
  half.informers.remove(resources.pods, one)
  assert.equal(half.sync('two').told.length, 1)
  half.sync('one')
  assert.deepEqual(half.conflicts(), [])
})

test('names of other namespaces are not told', () => {
  const far = pod('far', { namespace: 'other', options: level('s0:c2') })
  const world = warning([
    driver(true),
    ...DATA,
    volume('data', 'other'),
    claim('data', 'other'),
    pod('near', { options: level('s0:c1') }),
    far,
  ])
  world.sync('near')
  const { told } = world.sync('far', 'other')
  const text = (label: string) =>
    `SELinuxLabel"${label}" conflicts with another pod that uses the same volume as this pod with a different SELinuxLabel. ${IF_BOTH}`
  assert.deepEqual(told, [
    `Normal SELinuxLabelConflict far ${text(':::s0:c2')}`,
    `Normal SELinuxLabelConflict near ${text(':::s0:c1')}`,
  ])
})

test('Given Recursive pods, then no conflict; Recursive against MountOption: policy conflict', () => {
  const recursive = (name: string, text: string) =>
    pod(name, { options: level(text), policy: 'Recursive' })
  const world = warning([
    driver(true),
    ...DATA,
    recursive('one', 's0:c1'),
    recursive('two', 's0:c2'),
    pod('plain', { options: { type: 't' } }),
    pod('leveled', { options: level('s0:c1') }),
  ])
  assert.deepEqual([world.sync('one').told, world.sync('two').told], [[], []])
  const reasons = (name: string) =>
    world.sync(name).told.map((text) => text.split(' ').slice(1, 3).join(' '))
  assert.deepEqual(reasons('plain'), [
    'SELinuxChangePolicyConflict plain',
    'SELinuxChangePolicyConflict one',
    'SELinuxChangePolicyConflict plain',
    'SELinuxChangePolicyConflict two',
  ])
  // A level against none conflicts too.
  assert.deepEqual(
    new Set(reasons('leveled').filter((text) => text.endsWith('leveled'))),
    new Set(['SELinuxChangePolicyConflict leveled', 'SELinuxLabelConflict leveled']),
  )
})

test('Given pending, unknown, succeeded, failed, deleted pods, then processed, processed, removed, removed, removed', () => {
  for (const phase of ['Pending', 'Unknown', 'Succeeded', 'Failed']) {
    const isOver = phase === 'Succeeded' || phase === 'Failed'
    const world = warning([driver(true), ...DATA, pod('p', { options: level('s0') })])
    world.sync('p')
    world.informers.apply(resources.pods, pod('p', { options: level('s0'), phase }))
    assert.equal(world.sync('p').uses.length, isOver ? 0 : 1, phase)
  }
  const world = warning([
    driver(true),
    ...DATA,
    pod('p', { options: level('s0') }),
    pod('q', { options: level('s1') }),
  ])
  world.sync('p')
  world.informers.remove(resources.pods, pod('p'))
  world.sync('p')
  assert.deepEqual(world.sync('q').told, [])
})

test('a pod that takes the place of another of its name has none of its volumes', () => {
  const others = [volume('other'), claim('other')]
  const former = pod('p', { options: level('s0') })
  const world = warning([driver(true), ...DATA, ...others, former])
  world.sync('p')
  const current = pod('p', { options: level('s0'), claims: ['other'] })
  const metadata = { ...current.metadata, uid: 'another-uid' }
  world.informers.apply(resources.pods, { ...current, metadata })
  world.sync('p')
  world.informers.apply(resources.pods, pod('q', { options: level('s1') }))
  assert.deepEqual([world.sync('q').told, world.conflicts()], [[], []])
})

test('containers of one pod that ask for different labels are told, and tried again', () => {
  const asking = (text: string) => ({ securityContext: { seLinuxOptions: level(text) } })
  const scratch: Volume = { name: 'scratch', emptyDir: {} }
  const split = pod('p', { volumes: [scratch], containers: [asking('s0:c1'), asking('s0:c2')] })
  const world = warning([driver(true), ...DATA, split])
  const { told, error, uses } = world.sync('p')
  const text = (name: string) =>
    `Warning MultipleSELinuxLabels p Volume "${name}" is mounted twice with different SELinux labels inside this pod`
  assert.deepEqual(told, [text('data'), text('scratch')])
  assert.match(error!, /several SELinux labels/)
  assert.deepEqual(uses, [])
})

test('a container’s word counts before its pod’s, and a device is not mounted', () => {
  const own = { securityContext: { seLinuxOptions: level('s0:c9') } }
  const objects = [driver(true), ...DATA]
  const asks = pod('p', { options: level('s0:c1'), containers: [own] })
  assert.deepEqual(warning([...objects, asks]).sync('p').uses, [':::s0:c9|MountOption|d'])
  const block = pod('p', { options: level('s0:c1'), containers: [{ volumeMounts: [] }] })
  assert.deepEqual(warning([...objects, block]).sync('p').uses, [])
  const early = { ...pod('p', { containers: [{ volumeMounts: [] }] }) }
  for (const kind of ['initContainers', 'ephemeralContainers']) {
    const mounting = {
      name: 'i',
      image: 'i',
      volumeMounts: [{ name: 'data', mountPath: '/d' }],
      ...own,
    }
    const withMount = { ...early, spec: { ...early.spec!, [kind]: [mounting] } } as Pod
    assert.deepEqual(
      warning([...objects, withMount]).sync('p').uses,
      [':::s0:c9|MountOption|d'],
      kind,
    )
  }
})

const CONFLICTS: readonly (readonly [string, string, boolean])[] = [
  ['', '', false],
  ['u:r:t:s0', 'u:r:t:s0', false],
  [':::s0:c1,c2', ':::s0:c3,c4', true],
  [':::s0:c1', ':::s0:c1', false],
  ['', ':::s0', true],
  ['u:r:t:s0', ':::s0', false],
  ['u:::s0', 'other:::s0', true],
  [':r::s0', ':other::s0', true],
  ['::t:s0', '::other:s0', true],
  ['u:r:t:', '', false],
  [':::s0:c1', ':::s0', true],
]

test('Given pairs of labels, then the conflict rule', () => {
  for (const [one, other, expected] of CONFLICTS) {
    assert.equal(labelsConflict(one, other), expected, `${one} ${other}`)
    assert.equal(labelsConflict(other, one), expected, `${other} ${one}`)
  }
  assert.equal(fileLabel({}), '')
  assert.equal(fileLabel({ level: 's0:c1' }), ':::s0:c1')
  assert.equal(fileLabel({ user: 'u', role: 'r', type: 't', level: 's0' }), 'u:r:t:s0')
})

const use = (label: string, changePolicy = 'MountOption', of = 'd'): VolumeUse => ({
  label,
  changePolicy,
  driver: of,
})

test('Given adds, replacements, deletions, many volumes, then the recorded conflicts', () => {
  const cache = new VolumeCache()
  assert.deepEqual(cache.add('v', 'ns/a', use(':::s0')), [])
  assert.deepEqual(cache.add('v', 'ns/a', use(':::s0')), [])
  const [first, second, ...rest] = cache.add('v', 'ns/b', use(':::s1'))
  assert.deepEqual(first, {
    property: 'SELinuxLabel',
    pod: 'ns/b',
    value: ':::s1',
    otherPod: 'ns/a',
    otherValue: ':::s0',
  })
  assert.deepEqual([second?.pod, second?.otherPod, rest.length], ['ns/a', 'ns/b', 0])
  assert.deepEqual(cache.add('w', 'ns/b', use(':::s9')), [], 'another volume')
  assert.equal(cache.add('v', 'ns/c', use(':::s0', 'Recursive')).length, 6)
  assert.equal([...cache.conflicts()].length, 8)
  // Replaced, it agrees with a.
  assert.deepEqual(
    cache.add('v', 'ns/b', use(':::s0')).map(({ property }) => property),
    ['SELinuxChangePolicy', 'SELinuxChangePolicy'],
  )
  assert.equal([...cache.conflicts()].length, 4)
  cache.forget('ns/c')
  assert.deepEqual([...cache.conflicts()], [])
  cache.forget('ns/b')
  cache.forget('ns/a')
  assert.deepEqual([cache.uses('v').size, cache.uses('w').size], [0, 0])
  assert.deepEqual(cache.add('v', 'ns/a', use(':::s7')), [])
  cache.forget('ns/never')
  // The same label, mounted in another way.
  const again = (changePolicy: string): number =>
    cache.add('v', 'ns/b', use(':::s1', changePolicy)).length
  cache.add('v', 'ns/a', use(':::s1'))
  assert.deepEqual([again('MountOption'), again('Recursive')], [0, 2])
})

test('Given volumes of several drivers, then lookup by driver', () => {
  const cache = new VolumeCache()
  cache.add('v', 'ns/a', use('', 'Recursive', 'one'))
  cache.add('w', 'ns/a', use('', 'Recursive', 'one'))
  cache.add('w', 'ns/b', use('', 'Recursive', 'two'))
  assert.deepEqual(cache.podsOfDriver('one'), ['ns/a'])
  assert.deepEqual(cache.podsOfDriver('two'), ['ns/b'])
  assert.deepEqual(cache.podsOfDriver('three'), [])
})

test('watches: pods come, end and go; claims, volumes and drivers ask for the pods behind them', () => {
  const user = pod('p', { options: level('s0') })
  const world = warning([driver(true), ...DATA, user])
  world.sync('p')
  const [pods, claims, volumes, drivers] = world.logic.watches
  const keys = (found: Iterable<unknown> | undefined) => [...(found ?? [])]
  const P = ['ns/p']
  const over = pod('p', { phase: 'Failed' })
  assert.deepEqual(keys(pods?.onAdd?.(user)), P)
  assert.deepEqual(keys(pods?.onUpdate?.(user, over)), P)
  assert.deepEqual(keys(pods?.onUpdate?.(over, over)), [])
  assert.deepEqual(keys(pods?.onUpdate?.(user, pod('p', { phase: 'Pending' }))), [])
  const another = { ...user, metadata: { ...user.metadata, uid: 'another' } }
  assert.deepEqual(keys(pods?.onUpdate?.(user, another)), P)
  assert.deepEqual(keys(pods?.onDelete?.(user)), P)
  assert.deepEqual(keys(pods?.onDelete?.(new DeletedFinalStateUnknown('ns/p', user))), P)
  const waiting = claim('data', 'ns', false)
  assert.deepEqual(keys(claims?.onAdd?.(claim('data'))), P)
  assert.deepEqual(keys(claims?.onAdd?.(waiting)), [])
  assert.deepEqual(keys(claims?.onUpdate?.(waiting, claim('data'))), P)
  assert.deepEqual(keys(claims?.onUpdate?.(claim('data'), claim('data'))), [])
  const free: PersistentVolume = { ...volume('data'), spec: {} }
  assert.deepEqual(keys(volumes?.onAdd?.(volume('data'))), P)
  assert.deepEqual(keys(volumes?.onAdd?.(free)), [])
  assert.deepEqual(keys(volumes?.onUpdate?.(free, volume('data'))), P)
  assert.deepEqual(keys(volumes?.onUpdate?.(volume('data'), volume('data'))), [])
  assert.deepEqual(keys(volumes?.onUpdate?.(volume('data'), free)), [])
  assert.deepEqual(keys(drivers?.onAdd?.(driver(true))), P)
  assert.deepEqual(keys(drivers?.onAdd?.(driver(true, 'other'))), [])
  assert.deepEqual(keys(drivers?.onUpdate?.(driver(false), driver(true))), P)
  assert.deepEqual(keys(drivers?.onUpdate?.(driver(true), driver(true))), [])
  assert.deepEqual(keys(drivers?.onDelete?.(driver(true))), P)
  assert.deepEqual(keys(drivers?.onDelete?.(driver(false))), [])
  assert.deepEqual(keys(drivers?.onDelete?.(new DeletedFinalStateUnknown('d', driver(true)))), [])
})

test('it runs when it is asked for by name only', () => {
  assert.equal(selinuxWarningController.enabledByDefault, false)
  assert.deepEqual(selinuxWarningController.featureGates, ['SELinuxChangePolicy'])
})

test('volumes of other plugins are nobody’s matter', () => {
  const scratch: Volume = { name: 'scratch', emptyDir: {} }
  const user = pod('p', { claims: [], volumes: [scratch], options: level('s0') })
  assert.deepEqual(warning([user]).sync('p'), { told: [], error: undefined, uses: [] })
})

test('nothing more of a volume is told after a pod that is gone from the cache', () => {
  const pods = ['one', 'two', 'three'].map((name) => pod(name, { options: level(`s0:${name}`) }))
  const world = warning([driver(true), ...DATA, ...pods])
  world.sync('one')
  world.sync('two')
  world.informers.remove(resources.pods, pods[0]!)
  const { told } = world.sync('three')
  assert.deepEqual(
    told.map((text) => text.split(' ')[2]),
    ['three'],
  )
})

test('a conflict that is over is in no metric any more', () => {
  const metrics = new RecordingMetrics()
  const cache = new VolumeCache()
  collectConflicts(metrics, cache)
  cache.add('v', 'ns/a', use(':::s0'))
  cache.add('v', 'ns/b', use(':::s1'))
  const labels = {
    property: 'SELinuxLabel',
    pod1_namespace: 'ns',
    pod1_name: 'a',
    pod1_value: ':::s0',
    pod2_namespace: 'ns',
    pod2_name: 'b',
    pod2_value: ':::s1',
  }
  const value = () => metrics.value('selinux_warning_controller_selinux_volume_conflict', labels)
  assert.equal(value(), 1)
  cache.forget('ns/b')
  assert.equal(value(), undefined)
})
