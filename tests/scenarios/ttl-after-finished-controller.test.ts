/** What upstream's end-to-end tests say of the TTL of finished Jobs, on a whole cluster. */
import assert from 'node:assert/strict'
import { parseTime, resources } from '@gyropilot/api'
import { WITHIN_MS, job, untilCondition, work } from './jobs.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const HOLD = 'example.com/hold'

async function deletedMs(world: World, name = 'work'): Promise<number | undefined> {
  return parseTime((await world.find(resources.jobs, name))?.metadata?.deletionTimestamp)
}

function untilGone(world: World, name = 'work') {
  return world.until(`${name} is gone`, WITHIN_MS, async () =>
    (await world.find(resources.jobs, name)) === undefined ? true : undefined,
  )
}

scenario(
  'Given a Job with TTL 10s and a user finalizer, when it finishes, then deletionTimestamp is not before finish time + 10s; when the finalizer is removed, Job and Pods disappear',
  async (world) => {
    const { metadata, ...made } = job({ ttlSecondsAfterFinished: 10 })
    await world
      .of(resources.jobs)
      .create({ ...made, metadata: { ...metadata, finalizers: [HOLD] } })
    const finishedMs = parseTime((await untilCondition(world, 'Complete')).lastTransitionTime)!
    const atMs = await world.until('it is deleted', WITHIN_MS, () => deletedMs(world))
    assert.ok(atMs >= finishedMs + 10_000 && atMs <= finishedMs + 11_000, `${atMs - finishedMs}`)
    await world.advance(5_000)
    assert.deepEqual(
      (await work(world)).metadata!.finalizers?.filter((name) => name === HOLD),
      [HOLD],
    )
    await world
      .of(resources.jobs)
      .patch('work', { type: 'merge', value: { metadata: { finalizers: null } } })
    await untilGone(world)
    await world.until('the pods are gone', WITHIN_MS, async () =>
      (await world.list(resources.pods)).length === 0 ? true : undefined,
    )
  },
)

scenario(
  'Given a Job with 2 Pods, when it expires, then the Pods are deleted before the Job object disappears',
  async (world) => {
    const spec = { completions: 2, parallelism: 2, ttlSecondsAfterFinished: 5 }
    await world.of(resources.jobs).create(job(spec))
    await untilCondition(world, 'Complete')
    assert.equal((await world.list(resources.pods)).length, 2)
    let podsBefore = 2
    await world.until('it is gone', WITHIN_MS, async () => {
      if ((await world.find(resources.jobs, 'work')) === undefined) return true
      podsBefore = (await world.list(resources.pods)).length
      const isWaiting = (await deletedMs(world)) !== undefined
      assert.ok(isWaiting || podsBefore === 2)
      return undefined
    })
    assert.equal((await world.list(resources.pods)).length, 0)
  },
)

scenario(
  'Given the controller restarts with 1000 expired Jobs, then all are deleted, 5 in parallel',
  async (world) => {
    const finishedAt = '2026-01-01T00:00:00Z'
    for (let number = 0; number < 1_000; number++) {
      const name = `old-${number}`
      await world.of(resources.jobs).create(
        // Nobody works on it: its end is written here.
        job({ ttlSecondsAfterFinished: 1, managedBy: 'example.com/x' }, { name }),
      )
      const end = (type: string) => ({ type, status: 'True', lastTransitionTime: finishedAt })
      const conditions = [end('FailureTarget'), end('Failed')]
      const status = { startTime: finishedAt, conditions }
      await world
        .of(resources.jobs)
        .patch(name, { type: 'merge', value: { status } }, { subresource: 'status' })
    }
    world.restartManager()
    await world.until('all are gone', 10 * WITHIN_MS, async () =>
      (await world.list(resources.jobs)).length === 0 ? true : undefined,
    )
  },
  { nodes: 0 },
)

scenario(
  'a TTL that is lowered, or taken away, takes effect on what was waiting',
  async (world) => {
    await world.of(resources.jobs).create(job({ ttlSecondsAfterFinished: 3_600 }, { name: 'less' }))
    await world.of(resources.jobs).create(job({ ttlSecondsAfterFinished: 5 }, { name: 'never' }))
    await untilCondition(world, 'Complete', 'less')
    await untilCondition(world, 'Complete', 'never')
    const set = (name: string, ttlSecondsAfterFinished: number | null) =>
      world
        .of(resources.jobs)
        .patch(name, { type: 'merge', value: { spec: { ttlSecondsAfterFinished } } })
    await set('never', null)
    await world.advance(20_000)
    await set('less', 1)
    await untilGone(world, 'less')
    await world.advance(60_000)
    assert.equal((await work(world, 'never')).metadata!.deletionTimestamp, undefined)
  },
)
