/** The reconciler alone: what it does with operations that fail or end late, and with what happens meanwhile. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { InterruptedByShutdown } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { testClock } from '@gyropilot/runtime/testing'
import { defaultAttachDetachConfiguration } from './config.ts'
import { node, pod, spec, uniqueName } from './fixtures.ts'
import { Reconciler } from './reconciler.ts'

const DATA = uniqueName('data')
const ATTACH_AT_A = `${DATA} a`
const ATTACH_AT_B = `${DATA} b`

/** A reconciler whose operations end as the test says: by their subject; those of statuses have none. */
function reconciling(
  perform: (subject: string) => unknown = () => undefined,
  nodeNamed: (name: string) => Node | undefined = () => undefined,
) {
  const clock = testClock()
  const logger = new RecordingLogger()
  const performed: string[] = []
  const told: string[] = []
  const ended: unknown[] = []
  const reconciler = new Reconciler({
    clock,
    logger,
    configuration: defaultAttachDetachConfiguration,
    nodeNamed,
    attachmentNamed: () => undefined,
    random: () => 0,
    async perform<R>(subject: string, _rules: Reconcile<R>): Promise<R> {
      performed.push(subject)
      return (await perform(subject)) as R
    },
    recordEvent: ({ message }) => told.push(message),
  })
  reconciler.countIn({
    operationEnded: ({ plugin, name, isMigrated }, ok, durationMs) =>
      ended.push([plugin, name, isMigrated, ok, durationMs]),
    forced() {},
  })
  const stop = new AbortController()
  const state = { isOver: false }
  const run = async (): Promise<void> => {
    void reconciler.run(stop.signal).then(() => (state.isOver = true))
    await clock.advance(0)
  }
  const failures = (): readonly string[] =>
    logger.lines.filter(({ severity }) => severity === 'error').map(({ message }) => message)
  return { reconciler, clock, performed, told, ended, stop, state, run, failures }
}

const later = () => Promise.withResolvers<string | undefined>()

test('an operation whose rules throw has failed, and is tried again', async () => {
  let tries = 0
  const world = reconciling(() => {
    if (tries++ === 0) throw new Error('a defect')
  })
  world.reconciler.desired.add(pod('p'), spec('data'))
  await world.run()
  await world.clock.advance(200)
  assert.deepEqual(world.failures(), ['The rules failed'])
  assert.match(world.told[0]!, /failed for volume "data" : Error: a defect$/)
  await world.clock.advance(1_000)
  assert.deepEqual(world.performed, [ATTACH_AT_A, ATTACH_AT_A])
  assert.equal(world.reconciler.actual.get(DATA, 'a')?.isConfirmed, true)
})

test('an operation that the stop interrupts has neither failed nor succeeded', async () => {
  const world = reconciling(() => Promise.reject(new InterruptedByShutdown()))
  world.reconciler.desired.add(pod('p'), spec('data'))
  await world.run()
  await world.clock.advance(200)
  assert.deepEqual([world.failures(), world.told, world.ended], [[], [], []])
  assert.equal(world.reconciler.actual.get(DATA, 'a'), undefined)
})

test('a pass that cannot be made is made again, one that the stop interrupts is not', async () => {
  for (const [error, logged] of [
    [new Error('a defect'), ['The volumes could not be looked at']],
    [new InterruptedByShutdown(), []],
  ] as const) {
    let looks = 0
    const world = reconciling(undefined, () => {
      if (looks++ === 0) throw error
      return undefined
    })
    world.reconciler.actual.attached(DATA, 'a', spec('data'))
    world.reconciler.actual.nodeUses('a', [])
    await world.run()
    await world.clock.advance(1_000)
    assert.deepEqual(world.failures(), logged)
    const isMadeAgain = logged.length > 0
    assert.deepEqual(world.performed.includes(ATTACH_AT_A), isMadeAgain)
  }
})

test('from one pass to the next are 100 ms', async () => {
  const world = reconciling()
  const { desired } = world.reconciler
  desired.add(pod('p'), spec('data'))
  await world.run()
  await world.clock.advance(60)
  assert.deepEqual(world.performed, [ATTACH_AT_A])
  desired.add(pod('q', { node: 'b' }), spec('more'))
  await world.clock.advance(89)
  assert.equal(world.performed.length, 1)
  await world.clock.advance(2)
  assert.deepEqual(world.performed.slice(1), [`${uniqueName('more')} b`])
})

test('a node under a former name is told that nothing is attached to it, though no volume says so', async () => {
  const found = { node: node('a', { attached: ['data'] }) }
  const world = reconciling(
    () => ({ ok: true, object: node('a') }),
    () => found.node,
  )
  const { actual } = world.reconciler
  actual.attached(DATA, 'a', spec('data'))
  actual.takeReport('a')
  actual.detached(DATA, 'a')
  actual.takeReport('a')
  await world.run()
  await world.clock.advance(1_000)
  assert.deepEqual(world.performed, [])
  world.reconciler.nodeStatusNeeded('a')
  await world.clock.advance(1_000)
  assert.deepEqual(world.performed, [''])
})

test('nothing begins once the stop has come, and the run ends with what was begun', async () => {
  const gathering = reconciling()
  gathering.reconciler.desired.add(pod('p'), spec('data'))
  await gathering.run()
  await gathering.clock.advance(10)
  gathering.stop.abort()
  await gathering.clock.advance(1_000)
  assert.deepEqual([gathering.performed, gathering.state.isOver], [[], true])

  const attached = later()
  const attaching = reconciling(() => attached.promise)
  attaching.reconciler.desired.add(pod('p'), spec('data'))
  await attaching.run()
  await attaching.clock.advance(100)
  attaching.stop.abort()
  await attaching.clock.advance(1_000)
  assert.deepEqual([attaching.performed, attaching.state.isOver], [[ATTACH_AT_A], false])
  attached.resolve(undefined)
  await attaching.clock.advance(0)
  assert.equal(attaching.state.isOver, true)
})

test('where the volume may be, but could not be attached again, the wait for its unmount does not begin anew', async () => {
  const world = reconciling(() => 'broken')
  const { actual, desired } = world.reconciler
  actual.uncertain(DATA, 'a', spec('data'))
  actual.requestDetach(DATA, 'a', 7)
  desired.add(pod('p'), spec('data'))
  await world.run()
  await world.clock.advance(200)
  assert.deepEqual(world.performed, [ATTACH_AT_A])
  assert.equal(actual.get(DATA, 'a')?.detachRequestedMs, 7)
})

test('what was attached can be attached again at once where it turns out to be gone', async () => {
  const world = reconciling()
  world.reconciler.desired.add(pod('p'), spec('data'))
  await world.run()
  await world.clock.advance(100)
  world.reconciler.actual.detached(DATA, 'a')
  await world.clock.advance(200)
  assert.deepEqual(world.performed, [ATTACH_AT_A, ATTACH_AT_A])
})

test('operations are counted with how they ended, how long they took and whether their plugin was migrated', async () => {
  const ends = [later(), later()]
  let begun = 0
  const world = reconciling(() => ends[begun++]!.promise)
  await world.clock.advance(30_000)
  world.reconciler.desired.add(pod('p'), { ...spec('data'), isMigrated: true })
  world.reconciler.desired.add(pod('q'), spec('other'))
  await world.run()
  await world.clock.advance(2_050)
  ends[0]!.resolve(undefined)
  await world.clock.advance(1_000)
  ends[1]!.resolve('broken')
  await world.clock.advance(0)
  const plugin = 'kubernetes.io/csi:example.com'
  assert.deepEqual(world.ended, [
    [plugin, 'volume_attach', true, true, 2_000],
    [plugin, 'volume_attach', false, false, 3_000],
  ])
})

test('who waits for a volume gets it, though it had left before the detach of it ended', async () => {
  const statusWritten = Promise.withResolvers<unknown>()
  const detached = later()
  const world = reconciling(
    (subject) => {
      if (subject === '') return statusWritten.promise
      return subject === ATTACH_AT_A ? detached.promise : undefined
    },
    (name) => (name === 'a' ? node('a', { attached: ['data'] }) : undefined),
  )
  const { actual, desired } = world.reconciler
  actual.attached(DATA, 'a', spec('data'))
  actual.takeReport('a')
  actual.nodeUses('a', [])
  desired.add(pod('p', { node: 'b' }), spec('data'))
  await world.run()
  await world.clock.advance(100)
  // The verification finds it gone while its node is told.
  actual.detached(DATA, 'a')
  statusWritten.resolve({ ok: true, object: node('a') })
  await world.clock.advance(1_000)
  assert.deepEqual(world.performed.at(-1), ATTACH_AT_A)
  detached.resolve(undefined)
  await world.clock.advance(1_000)
  assert.deepEqual(world.performed.at(-1), ATTACH_AT_B)
})

const verifying = { driverNamed: () => undefined }

test('a verification asks for what is attached for certain, and is counted where it asks', async () => {
  const answer = Promise.withResolvers<readonly []>()
  const world = reconciling(() => {
    world.clock.after(2_000, () => answer.resolve([]))
    return answer.promise
  })
  const { actual } = world.reconciler
  actual.uncertain(uniqueName('perhaps'), 'a', spec('perhaps'))
  await world.clock.advance(30_000)
  await world.reconciler.verify(verifying)
  assert.deepEqual([world.performed, world.ended], [[], []])
  actual.attached(DATA, 'b', spec('data'))
  const verified = world.reconciler.verify(verifying)
  await world.clock.advance(2_000)
  await verified
  assert.deepEqual(world.performed, ['b'])
  assert.deepEqual(world.ended, [
    ['<n/a>', 'verify_volumes_are_attached_per_node', false, true, 2_000],
  ])
})

test('what became uncertain while it was verified stays as it is', async () => {
  const world = reconciling(() => {
    world.reconciler.actual.uncertain(DATA, 'a')
    return [spec('data'), spec('other')]
  })
  const { actual } = world.reconciler
  for (const name of ['data', 'other']) actual.attached(uniqueName(name), 'a', spec(name))
  await world.reconciler.verify(verifying)
  assert.deepEqual([...actual.volumeNames()], [DATA])
})
