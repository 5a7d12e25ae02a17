/** CronJobs on a whole cluster, in virtual time. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { CronJob } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const OPTIONS = { nodes: 0, controllers: ['cronjob-controller'] }
const MINUTE_MS = 60_000

function everyMinute(spec: Partial<NonNullable<CronJob['spec']>> = {}): CronJob {
  const container = { name: 'c', image: 'busybox' }
  return {
    metadata: { name: 'tick', namespace: 'default' },
    spec: {
      schedule: '* * * * *',
      jobTemplate: {
        spec: { template: { spec: { containers: [container], restartPolicy: 'Never' } } },
      },
      ...spec,
    },
  } as CronJob
}

const jobNames = async (world: World): Promise<readonly string[]> =>
  (await world.list(resources.jobs)).map(({ metadata }) => metadata?.name ?? '').sort()

const reasons = async (world: World): Promise<ReadonlySet<string | undefined>> =>
  new Set((await world.list(resources.events)).map(({ reason }) => reason))

/** What the Job controller does with a Job whose pods have succeeded. */
async function complete(world: World, name: string): Promise<void> {
  const now = new Date(world.clock.nowMs()).toISOString().replace(/\.\d+Z/, 'Z')
  const condition = { status: 'True', lastProbeTime: now, lastTransitionTime: now }
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, ...condition }))
  const status = {
    startTime: now,
    completionTime: now,
    succeeded: 1,
    uncountedTerminatedPods: {},
    conditions,
  }
  await world
    .of(resources.jobs)
    .patch(name, { type: 'merge', value: { status } }, { subresource: 'status' })
}

scenario(
  'Given a normal minute schedule, then no MissingJob or UnexpectedJob events',
  async (world) => {
    await world.of(resources.cronjobs).create(everyMinute())
    await world.advance(3 * MINUTE_MS + 1_000)
    const names = await jobNames(world)
    assert.equal(names.length, 3)
    for (const name of names) await complete(world, name)
    await world.advance(1_000)
    assert.deepEqual([...(await reasons(world))].sort(), ['SawCompletedJob', 'SuccessfulCreate'])
    const found = await world.find(resources.cronjobs, 'tick')
    assert.equal(found?.status?.active, undefined)
    assert.ok(found?.status?.lastSuccessfulTime)
  },
  OPTIONS,
)

scenario(
  'a Job that runs on keeps the next one away, and the time that was missed is made up for when it ends',
  async (world) => {
    await world.of(resources.cronjobs).create(everyMinute({ concurrencyPolicy: 'Forbid' }))
    await world.advance(2.5 * MINUTE_MS)
    const [first, ...more] = await jobNames(world)
    assert.deepEqual(more, [])
    assert.ok((await reasons(world)).has('JobAlreadyActive'))
    await complete(world, first!)
    await world.advance(1_000)
    assert.equal((await jobNames(world)).length, 2)
  },
  OPTIONS,
)

scenario(
  'a Job that runs on is replaced',
  async (world) => {
    await world.of(resources.cronjobs).create(everyMinute({ concurrencyPolicy: 'Replace' }))
    await world.advance(1.5 * MINUTE_MS)
    const [first] = await jobNames(world)
    await world.advance(MINUTE_MS)
    const [second, ...more] = await jobNames(world)
    assert.deepEqual(more, [])
    assert.notEqual(second, first)
    const active = (await world.find(resources.cronjobs, 'tick'))?.status?.active
    assert.deepEqual(
      active?.map(({ name }) => name),
      [second],
    )
  },
  OPTIONS,
)

scenario(
  'what was suspended for hours runs once when it goes on, with a warning',
  async (world) => {
    await world.of(resources.cronjobs).create(everyMinute({ suspend: true }))
    await world.advance(120 * MINUTE_MS)
    assert.deepEqual(await jobNames(world), [])
    const value = { spec: { suspend: false } }
    await world.of(resources.cronjobs).patch('tick', { type: 'merge', value })
    await world.advance(1_000)
    assert.equal((await jobNames(world)).length, 1)
    assert.ok((await reasons(world)).has('TooManyMissedTimes'))
  },
  OPTIONS,
)

scenario(
  'finished Jobs are kept up to their limits',
  async (world) => {
    await world.of(resources.cronjobs).create(everyMinute({ successfulJobsHistoryLimit: 2 }))
    for (let minute = 0; minute < 5; minute++) {
      await world.advance(MINUTE_MS)
      for (const name of await jobNames(world)) {
        const { status } = (await world.find(resources.jobs, name)) ?? {}
        if (status?.completionTime === undefined) await complete(world, name)
      }
    }
    await world.advance(1_000)
    const jobs = await world.list(resources.jobs)
    assert.equal(jobs.filter(({ status }) => status?.completionTime !== undefined).length, 2)
  },
  OPTIONS,
)
