/** A run that fails is brought down to the few things that it takes to fail. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ConfigMap } from '@gyropilot/api'
import { NO_FAULTS, entryText, isOperation, scaled, shrink, simulate } from '@gyropilot/cluster'
import type {
  EndStateRule,
  Program,
  SimulatedCluster,
  SimulationOutcome,
  SimulationRun,
} from '@gyropilot/cluster'

const PAIRS = 'pairs-operator'
const LOOK_EVERY_MS = 3_000

/**
 * Broken on purpose: gives every Service two ConfigMaps, and takes the first for the proof that both are there. Killed or
 * refused between the two writes, it never makes the second.
 */
const pairsOperator =
  (cluster: SimulatedCluster): Program =>
  async (life) => {
    const client = cluster.clientOf(life, PAIRS)
    while (!life.signal.aborted) {
      await new Promise<void>((resolve) => life.clock.after(LOOK_EVERY_MS, resolve))
      const { items } = await client.resource(resources.services, 'default').list()
      const maps = client.resource(resources.configmaps, 'default')
      const present = new Set((await maps.list()).items.map(({ metadata }) => metadata?.name))
      for (const { metadata } of items) {
        if (metadata?.name === 'kubernetes' || present.has(`${metadata?.name}.first`)) continue
        await maps.create(map(`${metadata?.name}.first`))
        await maps.create(map(`${metadata?.name}.second`))
      }
    }
  }

const map = (name: string): ConfigMap => ({ metadata: { name, namespace: 'default' } })

const pairs: EndStateRule = function* (objects) {
  for (const { metadata } of objects.all(resources.configmaps, 'default')) {
    const [service, which] = metadata?.name?.split('.') ?? []
    const second = objects.find(resources.configmaps, 'default', `${service}.second`)
    if (which === 'first' && second === undefined) yield `${service} has no second ConfigMap`
  }
}

function broken(seed: string, over: Partial<SimulationRun> = {}): SimulationRun {
  return {
    seed,
    minutes: 2,
    rates: { ...scaled(1), crash: 0.25 },
    rest: { quietMs: 60_000 },
    onStart: (cluster) => void cluster.run(PAIRS, pairsOperator(cluster)),
    rules: { pairs },
    ...over,
  }
}

/** Which seeds fail changes with every change of what a random user can do. */
async function failures(count: number): Promise<readonly SimulationOutcome[]> {
  const found: SimulationOutcome[] = []
  for (let index = 1; index <= 40 && found.length < count; index++) {
    const outcome = await simulate(broken(`planted-${index}`))
    if (outcome.violations.some(({ checker }) => checker === 'pairs')) found.push(outcome)
  }
  assert.equal(found.length, count, 'no seed of forty fails')
  return found
}

test('of everything that went wrong, one Service and one lost write are left', async () => {
  const sizes: number[] = []
  for (const failed of await failures(3)) {
    const run = broken(failed.seed)
    assert.ok(failed.schedule.length > 30, `only ${failed.schedule.length} entries`)
    const shrunk = await shrink(run, failed, { mostReplays: 150 })
    assert.ok(shrunk !== undefined)
    assert.equal(shrunk.isMinimal, true)
    assert.ok(shrunk.replays > 5 && shrunk.replays <= 150, `${shrunk.replays} replays`)
    sizes.push(shrunk.schedule.length)

    const text = shrunk.schedule.map(entryText).join('\n')
    const operations = shrunk.schedule.filter(isOperation).map(({ operation }) => operation)
    // 'create a Service', or 'keep the Endpoints of a Service by hand', which makes one as well.
    assert.ok(
      operations.some((operation) => /\ba Service\b/.test(operation)),
      text,
    )
    const lost = shrunk.schedule.some(
      (entry) => 'request' in entry && entry.request.process === PAIRS,
    )
    assert.ok(lost, text)
    // A third entry is one that moves the operator's step to where the fault hits it, or a range that the Service is in.
    assert.ok(shrunk.schedule.length <= 4, text)

    const again = await simulate({ ...run, schedule: JSON.parse(JSON.stringify(shrunk.schedule)) })
    assert.deepEqual([...new Set(again.violations.map(({ checker }) => checker))], ['pairs'])
  }
  assert.equal(Math.min(...sizes), 2)
})

test('a schedule that was recorded is the same run again', async () => {
  for (const seed of ['recorded-1', 'recorded-2']) {
    const run = { seed, minutes: 3, rates: scaled(2), rest: { quietMs: 60_000 } }
    const first = await simulate(run)
    const kinds = new Set(first.schedule.map((entry) => Object.keys(entry).join()))
    assert.ok(kinds.size >= 3, 'requests, events and operations are all in it')
    const schedule = JSON.parse(JSON.stringify(first.schedule))
    const again = await simulate({ ...run, rates: NO_FAULTS, schedule })
    assert.equal(again.historyHash, first.historyHash)
    assert.deepEqual(again.schedule, first.schedule)
  }
})

test('what fails without any fault needs none', async () => {
  const forbidden: EndStateRule = function* (objects) {
    for (const _ of objects.all(resources.replicasets)) yield 'there is a ReplicaSet'
  }
  const run = broken('needless', { rules: { forbidden }, onStart() {} })
  const failed = await simulate(run)
  const shrunk = await shrink(run, failed, { mostReplays: 150 })
  assert.equal(shrunk?.schedule.length, 1)
  assert.match(entryText(shrunk.schedule[0]!), /user: create a (Deployment|ReplicaSet)/)
})

test('a run that does not fail again from its schedule is not shrunk', async () => {
  const run = broken('outside', { rules: {}, onStart() {} })
  const { violations, ...outcome } = await simulate(run)
  assert.deepEqual(violations, [])
  const failed = { ...outcome, violations: [{ checker: 'x', message: 'from outside', atMs: 1 }] }
  assert.equal(await shrink(run, failed), undefined)
})
