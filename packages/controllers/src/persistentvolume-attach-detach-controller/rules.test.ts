import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VolumeAttachment } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { ActualWorld } from './actual-world.ts'
import type { Attachment } from './actual-world.ts'
import { OUT_OF_SERVICE_TAINT } from './config.ts'
import { attachProgress, attachmentName, detachProgress, detachableOf } from './csi-attachment.ts'
import { DesiredWorld } from './desired-world.ts'
import { attachedEvents, refusedEvents } from './events.ts'
import { attachment, node, pod, spec, uniqueName } from './fixtures.ts'
import { attachStep, detachStep } from './next-step.ts'
import { attachVolume, detachVolume, missingAttachments } from './operations.ts'
import { PendingOperations } from './pending-operations.ts'
import { Populator } from './populator.ts'

const SIX_MINUTES_MS = 360_000
const ERROR = { time: '2026-01-01T00:00:00Z', message: 'broken' }

const at = (nodeName: string, more: Partial<Attachment> = {}): Attachment => ({
  volumeName: uniqueName('data'),
  nodeName,
  isConfirmed: true,
  isMounted: true,
  detachRequestedMs: undefined,
  ...more,
})

const well = node('a')
const sick = node('a', { ready: 'False' })
const out = node('a', { taints: [OUT_OF_SERVICE_TAINT] })

const DETACH: readonly (readonly [
  string,
  boolean,
  number,
  typeof well | undefined,
  boolean,
  string,
])[] = [
  // what, mounted, waited, node, flag allows force, step
  ['unmounted', false, 0, well, true, 'detach'],
  ['unmounted after the wait', false, SIX_MINUTES_MS + 1, well, true, 'detach timeout'],
  ['unmounted after the wait, with the flag', false, SIX_MINUTES_MS + 1, well, false, 'detach'],
  ['mounted', true, 0, sick, true, 'wait 360001'],
  ['mounted, a while later', true, 1_000, sick, true, 'wait 360001'],
  ['mounted, at the end of the wait', true, SIX_MINUTES_MS, sick, true, 'wait 360001'],
  ['mounted, with the flag', true, SIX_MINUTES_MS + 1, sick, false, 'wait'],
  ['mounted after the wait, node sick', true, SIX_MINUTES_MS + 1, sick, true, 'detach timeout'],
  [
    'mounted after the wait, node gone',
    true,
    SIX_MINUTES_MS + 1,
    undefined,
    true,
    'detach timeout',
  ],
  ['mounted after the wait, node well', true, SIX_MINUTES_MS + 1, well, true, 'wait'],
  ['mounted, node out of service', true, 0, out, true, 'detach out-of-service'],
  ['mounted, node out of service, with the flag', true, 0, out, false, 'detach out-of-service'],
  ['unmounted, node out of service', false, 0, out, true, 'detach out-of-service'],
  ['node out of service, after the wait', true, SIX_MINUTES_MS + 1, out, true, 'detach timeout'],
]

for (const [what, isMounted, nowMs, found, isTimeoutForced, expected] of DETACH) {
  test(`detach, ${what}: ${expected}`, () => {
    const circumstances = { nowMs, requestedMs: 0, node: found, isTimeoutForced }
    const step = detachStep(at('a', { isMounted }), circumstances)
    const more = step.kind === 'wait' ? step.untilMs : step.force
    assert.equal([step.kind, more].filter((part) => part !== undefined).join(' '), expected)
  })
}

const wanted = {
  nodeName: 'a',
  spec: spec('data'),
  pods: new Map(),
  isRefusalTold: false,
  failedMs: 0,
}
const unsure = { isConfirmed: false }

const ATTACH: readonly (readonly [string, readonly Attachment[], boolean, string])[] = [
  ['nothing is attached', [], false, 'attach'],
  ['here', [at('a')], false, 'attached'],
  ['here, perhaps', [at('a', unsure)], false, 'attach'],
  ['elsewhere', [at('b')], false, 'refused'],
  ['elsewhere, perhaps', [at('b', unsure)], false, 'attach'],
  ['elsewhere, and may be in several places', [at('b')], true, 'attach'],
  ['here and elsewhere', [at('a'), at('b')], false, 'attached'],
]

for (const [what, attachments, mayHaveSeveral, expected] of ATTACH) {
  test(`attach, ${what}: ${expected}`, () => {
    assert.equal(attachStep(wanted, attachments, mayHaveSeveral), expected)
  })
}

const state = (status: VolumeAttachment['status'], isDeleted = false): VolumeAttachment => {
  const made = attachment('data', 'a', status)
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  return isDeleted ? { ...made, metadata: { ...made.metadata, deletionTimestamp } } : made
}

test('what a VolumeAttachment says of an attach and a detach', () => {
  const texts = (attachment?: VolumeAttachment): readonly string[] =>
    [attachProgress(attachment), detachProgress(attachment)].map((found) =>
      found.kind === 'failed' ? found.reason : found.kind,
    )
  assert.deepEqual(texts(undefined), ['waits', 'done'])
  assert.deepEqual(texts(state({ attached: false })), ['waits', 'waits'])
  assert.deepEqual(texts(state({ attached: true })), ['done', 'waits'])
  assert.deepEqual(texts(state({ attached: true, attachError: ERROR })), ['done', 'waits'])
  assert.deepEqual(texts(state({ attached: false, attachError: ERROR })), ['broken', 'waits'])
  assert.deepEqual(texts(state({ attached: true, detachError: ERROR })), ['done', 'broken'])
  const deleted = 'volume attachment is being deleted'
  assert.deepEqual(texts(state({ attached: true }, true)), [deleted, 'waits'])
})

test('a VolumeAttachment is named by its volume, its driver and its node', () => {
  // As kube-controller-manager named one.
  const csi = { driver: 'ex.com', handle: 'h-d' }
  const name = attachmentName(csi, 'p1mwrvmc51-a')
  assert.equal(name, 'csi-3ce956683673563ee56cd2c40ae630785cd4eafc6fb0ae61b992f057ff1526d5')
})

test('what is detached is read off the unique name', () => {
  const csi = { driver: 'example.com', handle: 'a/b' }
  assert.deepEqual(detachableOf('kubernetes.io/csi/example.com^a/b'), { kind: 'csi', csi })
  for (const name of ['kubernetes.io/iscsi/x:y:1', 'kubernetes.io/fc/[w]:1'])
    assert.deepEqual(detachableOf(name), { kind: 'nothing' })
  for (const name of ['kubernetes.io/csi/d^a^b', 'kubernetes.io/csi/d'])
    assert.equal(detachableOf(name)?.kind, 'unreadable')
  assert.equal(detachableOf('example.com/plugin/v'), undefined)
})

test('one operation runs at a time, of a volume or of a volume at a node', () => {
  const pending = new PendingOperations()
  pending.start({ volumeName: 'v', nodeName: 'a' }, 'volume_attach')
  const running = (nodeName?: string) => pending.isRunning({ volumeName: 'v', nodeName })
  assert.deepEqual([running('a'), running('b'), running()], [true, false, true])
  pending.start({ volumeName: 'v', nodeName: 'b' }, 'volume_detach')
  assert.throws(() => pending.start({ volumeName: 'v' }, 'volume_attach'), /is running/)
  pending.succeeded({ volumeName: 'v', nodeName: 'a' })
  assert.deepEqual([running('a'), running('b'), running()], [false, true, true])
  pending.succeeded({ volumeName: 'v', nodeName: 'b' })
  pending.start({ volumeName: 'v' }, 'volume_attach')
  assert.deepEqual([running('a'), running()], [true, true])
  assert.equal(pending.isRunning({ volumeName: 'other' }), false)
})

test('what runs at one node holds up the whole volume, though another operation failed there before', () => {
  const pending = new PendingOperations()
  pending.start({ volumeName: 'v', nodeName: 'a' }, 'volume_attach')
  pending.failed({ volumeName: 'v', nodeName: 'a' }, 1_000)
  pending.start({ volumeName: 'v', nodeName: 'b' }, 'volume_attach')
  assert.equal(pending.isRunning({ volumeName: 'v' }), true)
})

test('what failed waits twice as long each time, at most two minutes and two seconds', () => {
  const pending = new PendingOperations()
  const key = { volumeName: 'v' }
  const waits: (number | undefined)[] = []
  for (let times = 0; times < 10; times++) {
    pending.start(key, 'volume_attach')
    pending.failed(key, 1_000)
    waits.push(pending.retryAtMs(key, 'volume_attach', 1_000)! - 1_001)
  }
  assert.deepEqual(
    waits,
    [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 122_000, 122_000],
  )
  assert.equal(pending.isRunning(key), false)
  assert.equal(pending.retryAtMs(key, 'volume_attach', 123_000), 123_001)
  assert.equal(pending.retryAtMs(key, 'volume_attach', 123_001), undefined)
  pending.start(key, 'volume_attach')
  assert.equal(pending.isRunning(key), true)
  pending.failed(key, 1_000)
  // A detach does not wait for it, and begins anew.
  assert.equal(pending.retryAtMs(key, 'volume_detach', 1_000), undefined)
  pending.start(key, 'volume_detach')
  pending.failed(key, 2_000)
  assert.equal(pending.retryAtMs(key, 'volume_detach', 2_000), 2_501)
  pending.start(key, 'volume_detach')
  pending.succeeded(key)
  assert.equal(pending.retryAtMs(key, 'volume_detach', 2_000), undefined)
})

test('Given users in same and other namespaces, then the event texts', () => {
  const near = [pod('b'), pod('a')]
  const far = [pod('x', { namespace: 'other' }), pod('y', { namespace: 'third' })]
  const told = (users: Parameters<typeof refusedEvents>[1]) =>
    refusedEvents({ spec: spec('data'), pods: new Map([['u', pod('p')]]) }, users)[0]
  const text = (users: Parameters<typeof refusedEvents>[1]) => told(users)?.message
  const start = 'Multi-Attach error for volume "data" Volume is already'
  assert.equal(
    text([]),
    `${start} exclusively attached to one node and can't be attached to another`,
  )
  assert.equal(text(near), `${start} used by pod(s) a, b`)
  assert.equal(
    text([...near, ...far]),
    `${start} used by pod(s) a, b and 2 pod(s) in different namespaces`,
  )
  assert.equal(text(far), `${start} used by 2 pod(s) in different namespaces`)
  assert.deepEqual([told([])?.type, told([])?.reason], ['Warning', 'FailedAttachVolume'])
  const [attached] = attachedEvents({ spec: spec('data'), pods: new Map([['u', pod('p')]]) })
  assert.deepEqual([attached?.type, attached?.reason], ['Normal', 'SuccessfulAttachVolume'])
})

/** A driver that takes its time: `states` are what the cache shows, poll by poll. */
function surroundings(states: readonly (VolumeAttachment | undefined)[]) {
  let asked = 0
  const attachmentNamed = () => states[Math.min(asked++, states.length - 1)]
  return { attachmentNamed, random: () => 0 }
}

test('an attach waits for its driver, from half a second to seven, for two minutes', () => {
  const rules = attachVolume(spec('data'), 'a', surroundings([undefined]))
  const { result, effects, writes } = drive(rules)
  assert.equal(
    result,
    'timed out waiting for external-attacher of example.com CSI driver to attach volume data-handle',
  )
  const waits = effects.flatMap((effect) => (effect.effect === 'wait' ? [effect.waitMs] : []))
  assert.deepEqual(waits.slice(0, 3), [500, 525, 551])
  assert.equal(Math.max(...waits.slice(0, -1)) <= 7_000, true)
  assert.equal(
    waits.reduce((sum, waitMs) => sum + waitMs, 0),
    120_000,
  )
  assert.equal(writes.length, 1)
  // Many wait at a time: up to a tenth more keeps them apart.
  const late = { ...surroundings([undefined]), random: () => 1 }
  const [first] = drive(attachVolume(spec('data'), 'a', late)).effects.flatMap((effect) =>
    effect.effect === 'wait' ? [effect.waitMs] : [],
  )
  assert.equal(first, 550)
})

test('an attach takes what is there, and what somebody made meanwhile', () => {
  const attached = state({ attached: true })
  const known = drive(attachVolume(spec('data'), 'a', surroundings([attached])))
  assert.deepEqual([known.result, known.writes.length], [undefined, 0])
  const made = drive(attachVolume(spec('data'), 'a', surroundings([undefined, attached])), {
    onWrite: () => refused(409, 'AlreadyExists', 'it is there'),
  })
  assert.equal(made.result, undefined)
  const denied = drive(attachVolume(spec('data'), 'a', surroundings([undefined, attached])), {
    onWrite: () => refused(403, 'Forbidden', 'you may not'),
  })
  assert.equal(denied.result, 'kubernetes.io/csi: attacher.Attach failed: you may not')
})

test('a detach asks the node first, deletes, and waits until nothing is left', () => {
  const detach = (
    states: readonly (VolumeAttachment | undefined)[],
    live = node('a'),
    isSafe = false,
  ) =>
    drive(detachVolume(uniqueName('data'), 'a', isSafe, surroundings(states)), {
      onRead: () => ({ ok: true, object: live }),
    })
  const gone = detach([state({ attached: true }), undefined])
  assert.deepEqual(
    gone.effects.map(({ effect }) => effect),
    ['read', 'write', 'wait', 'wait'],
  )
  assert.equal(gone.result, undefined)
  const used = detach([undefined], node('a', { inUse: ['data'] }))
  assert.equal(used.result, 'the node says that it still uses the volume')
  assert.equal(used.writes.length, 0)
  const forced = detach([undefined], node('a', { inUse: ['data'] }), true)
  assert.deepEqual([forced.result, forced.writes.length], [undefined, 1])
  const failed = detach([state({ attached: true, detachError: ERROR })])
  assert.equal(failed.result, 'broken')
  const late = detach([state({ attached: true })])
  assert.match(late.result!, /^timed out .* to detach volume data-handle$/)
})

test('a volume of a plugin without a driver leaves its node without a VolumeAttachment', () => {
  const name = 'kubernetes.io/iscsi/10.0.0.1:3260:iqn:0'
  const { result, writes } = drive(detachVolume(name, 'a', true, surroundings([undefined])))
  assert.deepEqual([result, writes.length], [undefined, 0])
})

test('a detach at a node that is gone, or of an attachment that is gone, is done', () => {
  const rules = () => detachVolume(uniqueName('data'), 'a', false, surroundings([undefined]))
  const missing = refused(404, 'NotFound', 'not found')
  assert.equal(drive(rules(), { onRead: () => missing }).result, undefined)
  const unknown = drive(rules(), { onRead: () => refused(500, 'InternalError', 'no') })
  assert.deepEqual([unknown.result, unknown.writes.length], ['no', 0])
  const read = () => ({ ok: true, object: node('a') }) as const
  const deleted = drive(rules(), { onRead: read, onWrite: () => missing })
  assert.deepEqual([deleted.result, deleted.effects.length], [undefined, 2])
  const denied = drive(rules(), {
    onRead: read,
    onWrite: () => refused(403, 'Forbidden', 'you may not'),
  })
  assert.equal(denied.result, 'you may not')
})

test('verification believes the cache, then the server, and no error', () => {
  const one = spec('data')
  const verify = (
    cached: VolumeAttachment | undefined,
    live: ReturnType<typeof refused> | { ok: true; object: VolumeAttachment },
    isRequired = true,
  ) =>
    drive(
      missingAttachments('a', [one], () => isRequired, surroundings([cached])),
      {
        onRead: ({ type, name }: { type?: unknown; name?: string } & object) => {
          assert.deepEqual(
            [type, name],
            [resources.volumeattachments, attachmentName(one.csi!, 'a')],
          )
          return live
        },
      },
    ).result.length
  const missing = refused(404, 'NotFound', 'not found')
  assert.equal(verify(state({ attached: true }), missing), 0)
  assert.equal(verify(state({ attached: false }), missing), 1)
  assert.equal(verify(undefined, missing), 1)
  assert.equal(verify(undefined, missing, false), 0)
  assert.equal(verify(undefined, refused(500, 'InternalError', 'no')), 0)
  assert.equal(verify(undefined, { ok: true, object: state({ attached: true }) }), 0)
  assert.equal(verify(undefined, { ok: true, object: state({ attached: false }) }), 1)
})

test('worlds touch a volume when something of it changes, and forget what is over', () => {
  const touched: string[] = []
  const desired = new DesiredWorld((name) => touched.push(name))
  desired.manage('a')
  desired.add(pod('p'), spec('data'))
  desired.add(pod('q'), spec('data'))
  desired.add(pod('q'), spec('other'))
  assert.deepEqual(touched, [uniqueName('data'), uniqueName('other')])
  desired.forget('a')
  assert.equal(desired.isManaged('a'), true)
  desired.removePod('p-uid')
  assert.equal(touched.length, 2)
  desired.removeVolume(uniqueName('data'))
  desired.removePod('q-uid')
  assert.deepEqual(touched.slice(2), [uniqueName('data'), uniqueName('other')])
  assert.deepEqual(desired.volumeNames(), [])
  desired.forget('a')
  assert.equal(desired.isManaged('a'), false)
  const actual = new ActualWorld((name) => touched.push(name))
  actual.uncertain('v', 'a')
  assert.deepEqual([actual.changedNodes(), actual.nodesHolding('v')], [[], []])
  actual.attached('v', 'a', spec('data'))
  assert.deepEqual([actual.takeReport('a'), actual.changedNodes()], [['v'], []])
  actual.attached('v', 'a')
  assert.deepEqual([actual.changedNodes(), actual.specOf('v')?.name], [[], 'data'])
  actual.uncertain('v', 'a')
  assert.deepEqual([actual.nodesHolding('v'), actual.changedNodes()], [[], []])
  actual.detached('v', 'a')
  assert.deepEqual(
    [actual.takeReport('a'), actual.specOf('v'), [...actual.volumeNames()]],
    [[], undefined, []],
  )
  actual.detached('v', 'a')
  assert.deepEqual([...actual.volumesOf('a')], [])
})

test('a node is managed for as long as it has volumes, be they of one pod or of several', () => {
  const desired = new DesiredWorld(() => {})
  desired.manage('a')
  for (const name of ['one', 'two', 'three']) desired.add(pod(name), spec(name))
  for (const name of ['one', 'two', 'three']) {
    desired.forget('a')
    assert.equal(desired.isManaged('a'), true, name)
    desired.removePod(`${name}-uid`)
  }
  desired.forget('a')
  assert.equal(desired.isManaged('a'), false)
})

test('a pod that comes again after its volume was dropped holds it as before', () => {
  const desired = new DesiredWorld(() => {})
  desired.manage('a')
  for (const name of ['data', 'other']) desired.add(pod('p'), spec(name))
  desired.removeVolume(uniqueName('data'))
  desired.removePod('p-uid')
  assert.deepEqual(desired.volumeNames(), [])
  // Of another pod of the name of a former one nothing is taken away when the former is heard of again.
  desired.add(pod('p', { uid: 'later' }), spec('data'))
  desired.removePod('p-uid')
  assert.deepEqual(desired.volumeNames(), [uniqueName('data')])
})

test('a volume is attached as it was when a pod first wanted it at the node', () => {
  const desired = new DesiredWorld(() => {})
  const first = spec('data')
  desired.add(pod('p'), first)
  // Named once more by the pod, or its volume has changed.
  desired.add(pod('p'), { ...first, source: {}, accessModes: ['ReadWriteMany'] })
  assert.equal(desired.get(uniqueName('data'), 'a')?.spec, first)
})

test('nodes, and what they are told, come in the order of their names', () => {
  const actual = new ActualWorld(() => {})
  for (const volumeName of ['w', 'v'])
    for (const nodeName of ['b', 'a']) actual.attached(volumeName, nodeName)
  assert.deepEqual(actual.changedNodes(), ['a', 'b'])
  assert.deepEqual(actual.nodeNames(), ['a', 'b'])
  assert.deepEqual(actual.nodesHolding('v'), ['a', 'b'])
  assert.deepEqual(actual.takeReport('b'), ['v', 'w'])
  actual.detached('v', 'a')
  assert.deepEqual([actual.nodeNames(), actual.nodesHolding('v')], [['a', 'b'], ['b']])
  actual.detached('w', 'a')
  assert.deepEqual(actual.nodeNames(), ['b'])
  assert.deepEqual(actual.takeReport('never'), [])
})

test('a node that was told can be untold once, and told again', () => {
  const actual = new ActualWorld(() => {})
  actual.uncertain('v', 'a')
  assert.equal(actual.unreport('v', 'a'), false)
  assert.deepEqual(actual.changedNodes(), [])
  actual.attached('v', 'a')
  actual.takeReport('a')
  assert.equal(actual.unreport('v', 'a'), true)
  assert.deepEqual(actual.changedNodes(), ['a'])
  assert.equal(actual.unreport('v', 'a'), false)
  actual.report('v', 'a')
  assert.deepEqual(actual.takeReport('a'), ['v'])
  actual.statusNeeded('never')
  assert.deepEqual(actual.changedNodes(), [])
})

test('pods that are gone, are others now, or have let go are found, whatever events said', () => {
  const desired = new DesiredWorld(() => {})
  desired.manage('a')
  const current = new Map<string, ReturnType<typeof pod>>()
  const populator = new Populator({
    desired,
    claimNamed: () => undefined,
    volumeNamed: () => undefined,
    driverNamed: () => undefined,
    podNamed: (_, name) => current.get(name),
  })
  for (const name of ['stays', 'gone', 'another', 'over']) {
    desired.add(pod(name), spec(name))
    current.set(name, pod(name))
  }
  current.delete('gone')
  current.set('another', pod('another', { uid: 'other-uid' }))
  current.set('over', pod('over', { phase: 'Failed' }))
  populator.removeStale()
  assert.deepEqual(desired.volumeNames(), [uniqueName('stays')])
})
