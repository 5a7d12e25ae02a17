import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition, PodGroup } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { silentLogger } from '@gyropilot/foundation'
import { statusError, testClock } from '@gyropilot/runtime/testing'
import { GroupStatus } from './group-status.ts'

const UNSCHEDULABLE = {
  status: 'False',
  reason: 'Unschedulable',
  message: 'pod group is unschedulable',
}
const SCHEDULED = { status: 'True', reason: 'Scheduled', message: '' }

function group(conditions: readonly Condition[] = []): PodGroup {
  return {
    metadata: { namespace: 'ns', name: 'g', uid: 'uid-g' },
    spec: { schedulingPolicy: { gang: { minCount: 2 } } },
    status: { conditions },
  }
}

interface Patch {
  readonly value: {
    readonly metadata: { readonly uid: string }
    readonly status: { readonly conditions: Condition[] }
  }
}

/** `fails`: before each write is answered, what it fails with. */
function world(fails: () => Error | undefined | Promise<undefined> = () => undefined) {
  const clock = testClock()
  const written: Condition[] = []
  const client = {
    resource: () => ({
      patch: async (name: string, { value }: Patch, { subresource }: { subresource: string }) => {
        // Of this group, not of a namesake.
        assert.deepEqual([name, value.metadata.uid, subresource], ['g', 'uid-g', 'status'])
        const error = await fails()
        if (error !== undefined) throw error
        written.push(...value.status.conditions)
      },
    }),
  } as unknown as Client
  return { clock, written, status: new GroupStatus({ client, clock, logger: silentLogger }) }
}

test('what is said already is not written again, whatever caches show', async () => {
  const { clock, written, status } = world()
  for (let tries = 0; tries < 3; tries++) status.say(group(), UNSCHEDULABLE)
  await clock.advance(0)
  assert.deepEqual(
    written.map(({ type, status: is, reason }) => [type, is, reason]),
    [['PodGroupScheduled', 'False', 'Unschedulable']],
  )
})

test('a group that was scheduled stays so: by the cache, and before the cache shows it', async () => {
  const { clock, written, status } = world()
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const before = [{ type: 'PodGroupScheduled', ...SCHEDULED, lastTransitionTime }]
  status.say(group(before), UNSCHEDULABLE)
  await clock.advance(0)
  assert.deepEqual(written, [])
  const other = world()
  other.status.say(group(), SCHEDULED)
  other.status.say(group(), UNSCHEDULABLE)
  await other.clock.advance(0)
  assert.deepEqual(
    other.written.map(({ status: is }) => is),
    ['True'],
  )
})

test('the time of the transition is that of the status, not of the message', async () => {
  const { clock, written, status } = world()
  status.say(group(), UNSCHEDULABLE)
  await clock.advance(60_000)
  status.say(group(), { ...UNSCHEDULABLE, message: 'another' })
  await clock.advance(60_000)
  status.say(group(), SCHEDULED)
  await clock.advance(0)
  const [first, second, third] = written.map((one) => one.lastTransitionTime)
  assert.equal(second, first)
  assert.notEqual(third, first)
})

test('a write that fails is tried again, with what is to be said then', async () => {
  let failures = 2
  const { clock, written, status } = world(() =>
    failures-- > 0 ? new Error('no connection') : undefined,
  )
  status.say(group(), UNSCHEDULABLE)
  await clock.advance(1_000)
  status.say(group(), SCHEDULED)
  await clock.advance(20_000)
  assert.deepEqual(
    written.map(({ status: is }) => is),
    ['True'],
  )
})

test('a late write does not undo a newer one: they follow each other', async () => {
  const first = Promise.withResolvers<undefined>()
  let writes = 0
  const { clock, written, status } = world(() => (writes++ === 0 ? first.promise : undefined))
  status.say(group(), UNSCHEDULABLE)
  status.say(group(), SCHEDULED)
  await clock.advance(0)
  assert.deepEqual(written, [])
  first.resolve(undefined)
  await clock.advance(0)
  assert.deepEqual(
    written.map(({ status: is }) => is),
    ['False', 'True'],
  )
})

for (const [what, ends] of [
  ['is gone', (status: GroupStatus) => status.forget('uid-g')],
  ['is of a scheduler that stopped', (status: GroupStatus) => status.stop()],
] as const)
  test(`nothing is written again of a group that ${what}`, async () => {
    let writes = 0
    const { clock, status } = world(() => {
      writes++
      return new Error('no connection')
    })
    status.say(group(), UNSCHEDULABLE)
    await clock.advance(0)
    ends(status)
    await clock.advance(60_000)
    assert.equal(writes, 1)
  })

test('a group that is not there, or a namesake of it, ends the writing', async () => {
  for (const code of [404, 409]) {
    let writes = 0
    const { clock, status } = world(() => {
      writes++
      return statusError(code, code === 404 ? 'NotFound' : 'Conflict')
    })
    status.say(group(), UNSCHEDULABLE)
    await clock.advance(60_000)
    assert.equal(writes, 1)
  }
})
