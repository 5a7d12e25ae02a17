/** Coordinated leader election: the server elects one of the managers that announce themselves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources, resourcesOnRequest } from '@gyropilot/api'
import type { Lease } from '@gyropilot/api'
import { createCluster, Watchdog } from '@gyropilot/cluster'
import type { SimulatedCluster, SimulationOptions } from '@gyropilot/cluster'

const runtimeConfig = { 'coordination.k8s.io/v1beta1': true }
const NEW = { binaryVersion: '1.36.0', emulationVersion: '1.36.0' }
/** Runs the new program, and behaves as the old one. */
const SKEWED = { binaryVersion: '1.36.0', emulationVersion: '1.35.0' }
const LEADER_DIES_AND_IS_REPLACED_MS = 15_000 + 5_000 + 5_000
const TERM_ENDS_AND_NEXT_LEADS_MS = 5_000 + 15_000 + 5_000

const start = (seed: string, options: Partial<SimulationOptions>) =>
  createCluster({ seed, nodes: 1, runtimeConfig, ...options })

function leaseOf(cluster: SimulatedCluster): NonNullable<Lease['spec']> {
  const lease = cluster.objects.find(resources.leases, 'kube-system', 'kube-controller-manager')
  return lease?.spec ?? {}
}

/** The process that the lease names. */
function holder(cluster: SimulatedCluster): string {
  return (leaseOf(cluster).holderIdentity ?? '').split('_')[0]!
}

/** It holds the lease for its own duration: it has renewed what the server gave to it. */
function leads(cluster: SimulatedCluster, process: string): boolean {
  return holder(cluster) === process && leaseOf(cluster).leaseDurationSeconds === 15
}

function works(cluster: SimulatedCluster): Promise<unknown> {
  return cluster.create({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'web:1' }] },
      },
    },
  } as object)
}

const podCount = (cluster: SimulatedCluster): number =>
  cluster.objects.all(resources.pods, 'default').length

for (const [title, coordinatedElection, wanted] of [
  ['one', [NEW], 'controller-manager-1'],
  ['the first of three', [SKEWED, NEW, NEW], 'controller-manager-1'],
  ['the second of three', [NEW, SKEWED, NEW], 'controller-manager-2'],
  ['the last of three', [NEW, NEW, SKEWED], 'controller-manager-3'],
] as const) {
  test(`Given one or more candidates, then the server names the one with the lowest emulation version and it leads: ${title}`, async () => {
    const managers = coordinatedElection.length
    const cluster = await start(title, { managers, coordinatedElection })
    const watchdog = new Watchdog(cluster)
    assert.ok(await cluster.until(() => leads(cluster, wanted)), holder(cluster))
    const { strategy, leaseTransitions, acquireTime } = leaseOf(cluster)
    assert.equal(strategy, 'OldestEmulationVersion')
    assert.deepEqual([leaseTransitions, acquireTime], [0, undefined])
    const { items } = await cluster.client
      .resource(resourcesOnRequest.leasecandidates, 'kube-system')
      .list()
    assert.equal(items.length, managers)
    await works(cluster)
    assert.ok(await cluster.until(() => podCount(cluster) === 3))
    assert.deepEqual(await watchdog.judge({ quietMs: 60_000 }), [])
    assert.ok(leads(cluster, wanted), 'the election is stable')
  })
}

for (const seed of ['a', 'b', 'c', 'd']) {
  test(`seed ${seed}: a killed leader is replaced by the next best, and gets its lease back when it returns`, async () => {
    const coordinatedElection = [NEW, SKEWED, NEW]
    const cluster = await start(seed, { managers: 3, coordinatedElection })
    const watchdog = new Watchdog(cluster)
    assert.ok(await cluster.until(() => leads(cluster, 'controller-manager-2')))
    await cluster.advance(cluster.random.fork('test').next() * 10_000)
    const first = leaseOf(cluster).holderIdentity
    cluster.process('controller-manager-2').crash(120_000)
    const isReplaced = () => leaseOf(cluster).holderIdentity !== first
    assert.ok(await cluster.until(isReplaced, LEADER_DIES_AND_IS_REPLACED_MS), 'nobody took over')
    const second = holder(cluster)
    assert.notEqual(second, 'controller-manager-2')
    await works(cluster)
    assert.ok(await cluster.until(() => podCount(cluster) === 3, 10_000), 'nobody works')

    const isBack = () => cluster.process('controller-manager-2').life !== undefined
    assert.ok(await cluster.until(isBack, 120_000))
    const isWished = () => leaseOf(cluster).preferredHolder?.startsWith('controller-manager-2_')
    assert.ok(await cluster.until(() => isWished() === true, 10_000), 'no wish')
    assert.equal(holder(cluster), second)
    const isBackInOffice = () => leads(cluster, 'controller-manager-2')
    assert.ok(await cluster.until(isBackInOffice, TERM_ENDS_AND_NEXT_LEADS_MS), 'no handover')
    assert.equal(leaseOf(cluster).preferredHolder, undefined)
    assert.deepEqual(await watchdog.judge({ quietMs: 60_000 }), [])
  })
}

test('a server that restarts goes on electing', async () => {
  const cluster = await start('restart', { managers: 2, coordinatedElection: [NEW, SKEWED] })
  assert.ok(await cluster.until(() => leads(cluster, 'controller-manager-2')))
  cluster.process('controller-manager-2').crash(600_000)
  await cluster.restartServer(3_000)
  const isReplaced = () => leads(cluster, 'controller-manager-1')
  assert.ok(await cluster.until(isReplaced, LEADER_DIES_AND_IS_REPLACED_MS + 5_000))
})

test('without the version served nobody is elected, and nobody leads', async () => {
  const options = { managers: 1, coordinatedElection: [NEW], runtimeConfig: {} }
  await assert.rejects(start('not served', options), /did not start within a minute/)
})

test('a candidate that is gone is deleted within an hour, and costs the others no writes meanwhile', async () => {
  const cluster = await start('gone', { managers: 2, coordinatedElection: [NEW, SKEWED], nodes: 0 })
  assert.ok(await cluster.until(() => leads(cluster, 'controller-manager-2')))
  cluster.process('controller-manager-2').crash(7_200_000)
  assert.ok(await cluster.until(() => leads(cluster, 'controller-manager-1')))
  await cluster.advance(10_000)
  const counted: string[] = []
  cluster.observe({
    committed: ({ collection, key }) => {
      if (collection.startsWith('leasecandidates')) counted.push(key)
    },
  })
  await cluster.advance(600_000)
  assert.ok(counted.length <= 4, `${counted.length} writes in 10 minutes`)
  await cluster.advance(3_000_000)
  const left = cluster.store.list('leasecandidates.coordination.k8s.io', '')
  assert.notEqual(left, 'expired')
  const names = left === 'expired' ? [] : left.entries.map(({ key }) => key)
  assert.equal(names.length, 1)
  assert.match(names[0]!, /^kube-system\/controller-manager-1_/)
})
