import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '@gyropilot/client'
import { VirtualClock, silentLogger } from '@gyropilot/foundation'
import { ReportedVolumes } from './reported-volumes.ts'

const { signal } = new AbortController()

/** Each write is answered when the test says so: `true` for success. */
function world(left: readonly string[] = []) {
  const written: (readonly string[])[] = []
  const answers: ((ok: boolean) => void)[] = []
  const patch = (_: string, { value }: { value: { status: { volumesInUse: string[] } } }) => {
    written.push(value.status.volumesInUse)
    return new Promise<void>((resolve, reject) =>
      answers.push((ok) => (ok ? resolve() : reject(new Error('no answer')))),
    )
  }
  const clock = new VirtualClock({ settle: async () => {} })
  const reported = new ReportedVolumes({
    nodeName: 'n1',
    client: { resource: () => ({ patch }) } as unknown as Client,
    clock,
    logger: silentLogger,
    node: () => ({ metadata: { name: 'n1' }, status: { volumesInUse: left } }),
  })
  const answer = async (ok = true): Promise<void> => {
    answers.shift()?.(ok)
    for (let turns = 0; turns < 20; turns++) await Promise.resolve()
  }
  return { reported, written, answer, clock }
}

test('a volume is used when the server knows it, and no sooner', async () => {
  const { reported, written, answer } = world()
  let isUsed = false
  const using = reported.use('a', 'pod-1', signal).then(() => (isUsed = true))
  await Promise.resolve()
  assert.deepEqual([written, isUsed], [[['a']], false])
  await answer()
  await using
  await reported.use('a', 'pod-2', signal)
  assert.equal(written.length, 1, 'one more pod is no news')
})

test('it is released by the last of its users', async () => {
  const { reported, written, answer } = world()
  for (const pod of ['pod-1', 'pod-2']) {
    const using = reported.use('a', pod, signal)
    await answer()
    await using
  }
  reported.release('pod-1', signal)
  await answer()
  assert.deepEqual(written, [['a']])
  reported.release('pod-2', signal)
  await answer()
  assert.deepEqual(written, [['a'], []])
})

test('who releases it while another write is under way does not wait for it', async () => {
  const { reported, written, answer } = world()
  const first = reported.use('a', 'pod-1', signal)
  const second = reported.use('b', 'pod-2', signal)
  reported.release('pod-2', signal)
  await answer()
  await Promise.all([first, second])
  assert.deepEqual(written, [['a']])
})

test('a write that fails is done again', async () => {
  const { reported, written, answer, clock } = world()
  const using = reported.use('a', 'pod-1', signal)
  await answer(false)
  await clock.advance(1_000)
  assert.equal(written.length, 2)
  await answer()
  await using
})

test('what an earlier life has left is taken off after a while', async () => {
  const { reported, written, clock } = world(['left'])
  reported.begin(signal)
  await clock.advance(9_000)
  assert.deepEqual(written, [])
  await clock.advance(1_000)
  assert.deepEqual(written, [[]])
})
