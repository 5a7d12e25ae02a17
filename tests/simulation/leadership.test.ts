import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { createCluster, Watchdog } from '@gyropilot/cluster'
import type { SimulatedCluster, SimulatedProcess } from '@gyropilot/cluster'

function leader(cluster: SimulatedCluster): string {
  const lease = cluster.objects.find(resources.leases, 'kube-system', 'kube-controller-manager')
  return (lease?.spec?.holderIdentity ?? '').split('_')[0]!
}

function leaderProcess(cluster: SimulatedCluster): SimulatedProcess {
  return cluster.process(leader(cluster))
}

const set = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 20,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    },
  },
}

/** Seeds move the pause to other places within the work. */
for (const seed of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
  test(`seed ${seed}: a leader that is paused in the middle of its work for longer than its lease writes nothing afterwards`, async () => {
    const cluster = await createCluster({ seed, nodes: 2, managers: 2 })
    const watchdog = new Watchdog(cluster)
    await cluster.create(set as object)
    await cluster.advance(cluster.random.fork('test').next() * 12)
    const first = leader(cluster)
    leaderProcess(cluster).pause(40_000)
    assert.ok(await cluster.until(() => leader(cluster) !== first, 30_000), 'nobody took over')
    assert.deepEqual(await watchdog.judge({ quietMs: 60_000 }), [])
    const pods = cluster.objects.all(resources.pods, 'default')
    assert.equal(pods.filter(({ metadata }) => !metadata?.deletionTimestamp).length, 20)
  })
}

for (const seed of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
  test(`seed ${seed}: a leader whose machine sleeps in the middle of its work for longer than its lease writes nothing afterwards`, async () => {
    const cluster = await createCluster({ seed, nodes: 2, managers: 2 })
    const watchdog = new Watchdog(cluster)
    await cluster.create(set as object)
    await cluster.advance(cluster.random.fork('test').next() * 12)
    const first = leader(cluster)
    leaderProcess(cluster).suspend(40_000)
    assert.ok(await cluster.until(() => leader(cluster) !== first, 30_000), 'nobody took over')
    assert.deepEqual(await watchdog.judge({ quietMs: 60_000 }), [])
    const pods = cluster.objects.all(resources.pods, 'default')
    assert.equal(pods.filter(({ metadata }) => !metadata?.deletionTimestamp).length, 20)
  })
}

test('a manager that is cut off from its lease only stops before another one leads', async () => {
  const cluster = await createCluster({ seed: 'cut', nodes: 1, managers: 2 })
  const watchdog = new Watchdog(cluster)
  const first = leader(cluster)
  cluster.network.partition(first, 'leader-election', 60_000)
  await cluster.create(set as object)
  assert.ok(await cluster.until(() => leader(cluster) !== first, 40_000))
  assert.deepEqual(await watchdog.judge({ quietMs: 60_000 }), [])
})

test('a server that restarts without its history is listed again, and nothing is lost', async () => {
  const cluster = await createCluster({ seed: 'restart', nodes: 1 })
  const watchdog = new Watchdog(cluster)
  await cluster.create(set as object)
  await cluster.advance(8)
  cluster.compact()
  await cluster.restartServer(5_000)
  assert.equal(cluster.isServerUp, false)
  assert.deepEqual(await watchdog.judge({ quietMs: 60_000 }), [])
  assert.equal(cluster.isServerUp, true)
})

test('a node that is lost and comes back takes its pods up again', async () => {
  const cluster = await createCluster({ seed: 'node', nodes: 1 })
  const watchdog = new Watchdog(cluster)
  await cluster.create({ ...set, spec: { ...set.spec, replicas: 3 } } as object)
  await cluster.advance(300)
  cluster.process('node-1').crash(60_000)
  await cluster.advance(30_000)
  assert.equal(cluster.process('node-1').life, undefined)
  const [pod] = cluster.objects.all(resources.pods, 'default')
  await cluster.delete(resources.pods, 'default', pod!.metadata!.name!)
  assert.deepEqual(await watchdog.judge({ quietMs: 60_000 }), [])
})
