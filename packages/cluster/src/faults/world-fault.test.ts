/** Each fault of the world, at a moment of our choice, as its victims see it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { StatusError, TransportError } from '@gyropilot/client'
import type { Incarnation } from '../simulated/process.ts'
import { createCluster } from '../simulated/simulated-cluster.ts'
import { strike } from './world-fault.ts'

const map = (name: string): ConfigMap => ({ metadata: { name, namespace: 'default' } })

/** A cluster with one process that does nothing by itself. */
async function withProbe(nodes = 0) {
  const cluster = await createCluster({ seed: 'world', nodes, managers: 0 })
  const lives: Incarnation[] = []
  cluster.run('probe', (life) => {
    lives.push(life)
    return new Promise(() => {})
  })
  const maps = cluster.clientOf(lives[0]!, 'probe').resource(resources.configmaps, 'default')
  const stored = (name: string) => cluster.objects.find(resources.configmaps, 'default', name)
  return { cluster, lives, maps, stored }
}

/** `pending`: neither an answer nor an error within that virtual time. */
async function outcomeWithin(
  advance: (ms: number) => Promise<void>,
  work: Promise<unknown>,
  limitMs: number,
): Promise<string> {
  let outcome = 'pending'
  work.then(
    () => (outcome = 'ok'),
    (error: unknown) => {
      if (error instanceof StatusError) outcome = String(error.code)
      else outcome = error instanceof TransportError ? error.code : String(error)
    },
  )
  await advance(limitMs)
  return outcome
}

test('a paused process hears and does nothing, and goes on where it was', async () => {
  const { cluster, lives, maps, stored } = await withProbe()
  const advance = (ms: number) => cluster.advance(ms)
  let fired = 0
  lives[0]!.clock.after(1_000, () => fired++)
  const work = maps.create(map('a'))
  await cluster.settle()
  strike(cluster, { kind: 'pause', process: 'probe', forMs: 30_000 })
  assert.equal(await outcomeWithin(advance, work, 29_000), 'pending')
  assert.equal(fired, 0)
  assert.ok(stored('a'), 'what was sent arrives')
  assert.equal(await outcomeWithin(advance, work, 2_000), 'ok')
  assert.equal(fired, 1)
})

test('a process whose machine sleeps hears nothing meanwhile, and measures nothing of it', async () => {
  const { cluster, lives, maps, stored } = await withProbe()
  const { clock } = lives[0]!
  const work = maps.create(map('a'))
  await cluster.settle()
  const [monotonicMs, wallMs] = [clock.monotonicMs(), clock.nowMs()]
  strike(cluster, { kind: 'suspension', process: 'probe', forMs: 30_000 })
  assert.equal(await outcomeWithin((ms) => cluster.advance(ms), work, 29_999), 'pending')
  assert.ok(stored('a'), 'what was sent arrives')
  assert.equal(await outcomeWithin((ms) => cluster.advance(ms), work, 1), 'ok')
  assert.equal(clock.monotonicMs(), monotonicMs)
  assert.equal(clock.nowMs(), wallMs + 30_000)
})

test('a killed process never hears of what it sent, and lives again after its time', async () => {
  const { cluster, lives, maps, stored } = await withProbe()
  const work = maps.create(map('a'))
  await cluster.settle()
  strike(cluster, { kind: 'kill', process: 'probe', downMs: 5_000 })
  assert.equal(await outcomeWithin((ms) => cluster.advance(ms), work, 4_000), 'pending')
  assert.ok(stored('a'))
  assert.equal(lives.length, 1)
  await cluster.advance(2_000)
  assert.equal(lives.length, 2)
})

test('a node that is lost beats no more until it is back', async () => {
  const { cluster } = await withProbe(1)
  const renewed = () =>
    cluster.objects.find(resources.leases, 'kube-node-lease', 'node-1')?.spec?.renewTime
  strike(cluster, { kind: 'nodeloss', process: 'node-1', downMs: 60_000 })
  const last = renewed()
  await cluster.advance(59_000)
  assert.equal(renewed(), last)
  await cluster.advance(15_000)
  assert.notEqual(renewed(), last)
})

test('a process that is cut off is told after a while that nobody answers', async () => {
  const { cluster, maps, stored } = await withProbe()
  strike(cluster, { kind: 'partition', process: 'probe', forMs: 40_000 })
  const advance = (ms: number) => cluster.advance(ms)
  assert.equal(await outcomeWithin(advance, maps.create(map('a')), 20_000), 'ETIMEDOUT')
  assert.equal(stored('a'), undefined)
  await cluster.advance(21_000)
  assert.equal(await outcomeWithin(advance, maps.create(map('a')), 1_000), 'ok')
})

test('a partial partition cuts one connection of a process and no other', async () => {
  const { cluster, lives } = await withProbe()
  const life = lives[0]!
  const other = cluster.network.transport({
    life,
    name: 'other',
    user: { name: 'x', groups: [], extra: {} },
  })
  strike(cluster, { kind: 'partition', process: 'probe', link: 'other', forMs: 40_000 })
  const advance = (ms: number) => cluster.advance(ms)
  const get = other.send({ method: 'GET', path: '/version', headers: {} })
  const { maps } = {
    maps: cluster.clientOf(life, 'probe').resource(resources.configmaps, 'default'),
  }
  assert.equal(await outcomeWithin(advance, maps.create(map('a')), 1_000), 'ok')
  assert.equal(await outcomeWithin(advance, get, 20_000), 'ETIMEDOUT')
})

test('a server that restarts refuses for its time and has what was stored', async () => {
  const { cluster, maps, stored } = await withProbe()
  const advance = (ms: number) => cluster.advance(ms)
  assert.equal(await outcomeWithin(advance, maps.create(map('a')), 1_000), 'ok')
  strike(cluster, { kind: 'restart', downMs: 5_000, compacted: false })
  assert.equal(await outcomeWithin(advance, maps.create(map('b')), 1_000), 'ECONNREFUSED')
  await cluster.advance(6_000)
  assert.equal(await outcomeWithin(advance, maps.create(map('b')), 1_000), 'ok')
  assert.ok(stored('a') && stored('b'))
})

for (const compacted of [true, false]) {
  test(`after a restart ${compacted ? 'with' : 'without'} compaction an old watch is ${compacted ? 'told 410' : 'gone on with'}`, async () => {
    const { cluster, maps } = await withProbe()
    const first = await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', ...map('a') })
    await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', ...map('b') })
    strike(cluster, { kind: 'restart', downMs: 1_000, compacted })
    await cluster.advance(2_000)
    const seen = await firstEvent(cluster, maps, first.metadata?.resourceVersion ?? '')
    assert.equal(seen, compacted ? 'ERROR 410' : 'ADDED b')
  })
}

test('compaction alone tells who comes back with an old revision to list again', async () => {
  const { cluster, maps } = await withProbe()
  const first = await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', ...map('a') })
  await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', ...map('b') })
  strike(cluster, { kind: 'compaction' })
  const seen = await firstEvent(cluster, maps, first.metadata?.resourceVersion ?? '')
  assert.equal(seen, 'ERROR 410')
})

async function firstEvent(
  cluster: Awaited<ReturnType<typeof withProbe>>['cluster'],
  maps: Awaited<ReturnType<typeof withProbe>>['maps'],
  resourceVersion: string,
): Promise<string> {
  return cluster.during(async () => {
    try {
      for await (const { type, object } of await maps.watch({ resourceVersion })) {
        if (type === 'ERROR') return `ERROR ${(object as { code?: number }).code}`
        return `${type} ${(object as ConfigMap).metadata?.name}`
      }
    } catch (error) {
      return `ERROR ${(error as StatusError).code}`
    }
    return 'the end'
  })
}

test('a jump of the wall clock is felt by one process, and by none of its timers', async () => {
  const { cluster, lives } = await withProbe()
  const { clock } = lives[0]!
  const before = clock.nowMs()
  strike(cluster, { kind: 'jump', process: 'probe', byMs: -300_000 })
  assert.equal(clock.nowMs(), before - 300_000)
  assert.equal(cluster.clock.nowMs(), before)
  let firedMs = 0
  const startMs = cluster.virtualMs
  clock.after(5_000, () => (firedMs = cluster.virtualMs - startMs))
  await cluster.advance(10_000)
  assert.equal(firedMs, 5_000)
})
