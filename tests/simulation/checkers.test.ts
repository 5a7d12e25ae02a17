/** The checkers find what they are there for: a cluster that is broken on purpose is called broken. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ConfigMap, Deployment, ReplicaSet } from '@gyropilot/api'
import { createCluster, noFaults, Watchdog } from '@gyropilot/cluster'
import type { FaultInjector, Incarnation, SimulatedCluster } from '@gyropilot/cluster'

const REST = { quietMs: 60_000, limitMs: 300_000 }

function deployment(replicas: number): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'web:1' }] },
      },
    },
  }
}

async function checkersOf(
  controllers: readonly string[],
  play: (cluster: SimulatedCluster) => Promise<void>,
): Promise<readonly string[]> {
  const cluster = await createCluster({ seed: 'broken', nodes: 1, controllers })
  const watchdog = new Watchdog(cluster)
  await play(cluster)
  const violations = await watchdog.judge(REST)
  return [...new Set(violations.map(({ checker }) => checker))]
}

test('without the replicaset-controller pods are missing', async () => {
  const found = await checkersOf(['*', '-replicaset-controller'], async (cluster) => {
    await cluster.create(deployment(2))
  })
  assert.ok(found.includes('ReplicaSets have the pods they ask for'), found.join())
})

test('without the deployment-controller nothing rolls out', async () => {
  const found = await checkersOf(['*', '-deployment-controller'], async (cluster) => {
    await cluster.create(deployment(2))
  })
  assert.deepEqual(found, ['Deployments have rolled out'])
})

test('without the garbage collector orphans are left', async () => {
  const found = await checkersOf(['*', '-garbage-collector-controller'], async (cluster) => {
    await cluster.create(deployment(2))
    await cluster.advance(20_000)
    await cluster.delete(resources.deployments, 'default', 'web', {
      propagationPolicy: 'Background',
    })
  })
  assert.deepEqual(found, ['every owner exists'])
})

test('without the namespace-controller a namespace is left half deleted', async () => {
  const found = await checkersOf(['*', '-namespace-controller'], async (cluster) => {
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    await cluster.advance(5_000)
    await cluster.delete(resources.namespaces, undefined, 'shop')
  })
  assert.deepEqual(found, ['nothing is left half deleted'])
})

test('without endpointslice-, serviceaccount- and root-ca-controllers their objects are missing', async () => {
  const off = [
    '*',
    '-endpointslice-controller',
    '-serviceaccount-controller',
    '-root-ca-certificate-publisher-controller',
  ]
  const found = await checkersOf(off, async (cluster) => {
    // Pods need a service account, which nobody makes here.
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace: 'default' },
    })
    await cluster.create(deployment(1))
    const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] }
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default' },
      spec,
    } as object)
  })
  assert.deepEqual(found.toSorted(), [
    'EndpointSlices show the pods of their Service',
    'namespaces have what every namespace has',
  ])
})

test('a pod too many is found when it is made, not in the end', async () => {
  const cluster = await createCluster({ seed: 'pods', nodes: 1 })
  const watchdog = new Watchdog(cluster)
  await cluster.create(deployment(1))
  await cluster.advance(20_000)
  const [set] = cluster.objects.all(resources.replicasets, 'default') as readonly ReplicaSet[]
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: set!.metadata!.name!,
    uid: set!.metadata!.uid!,
    controller: true,
  }
  const labels = { ...set!.spec!.template!.metadata!.labels }
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'extra', namespace: 'default', labels, ownerReferences: [owner] },
    spec: set!.spec!.template!.spec!,
  } as object)
  assert.deepEqual(
    watchdog.violations.map(({ checker }) => checker),
    ['pod limits'],
  )
})

test('somebody who writes for ever is no rest', async () => {
  const found = await checkersOf(['*'], async (cluster) => {
    cluster.run('restless', (life) => writeForEver(cluster, life))
  })
  assert.deepEqual(found, ['rest'])
})

async function writeForEver(cluster: SimulatedCluster, life: Incarnation): Promise<void> {
  const maps = cluster.clientOf(life, 'restless').resource(resources.configmaps, 'default')
  const map: ConfigMap = { metadata: { name: 'count', namespace: 'default' } }
  await maps.create(map)
  for (let count = 0; !life.signal.aborted; count++) {
    await new Promise<void>((resolve) => life.clock.after(20_000, resolve))
    await maps.patch('count', { type: 'merge', value: { data: { count: String(count) } } })
  }
}

test('a manager that writes without the lease is found', async () => {
  const cluster = await createCluster({ seed: 'stale', nodes: 1, managers: 1 })
  const watchdog = new Watchdog(cluster)
  const lease = { metadata: {}, spec: { holderIdentity: 'somebody-else' } }
  await cluster.create(deployment(1))
  await cluster.patch(resources.leases, 'kube-system', 'kube-controller-manager', {
    type: 'merge',
    value: lease,
  })
  await cluster.advance(1_000)
  assert.ok(watchdog.violations.length > 0)
  assert.deepEqual([...new Set(watchdog.violations.map(({ checker }) => checker))], ['leadership'])
})

test('a key that fails and is retried at once is a hot loop', async () => {
  // Every write of the controllers is refused, so that they retry: with back-off that is no hot loop.
  const cluster = await createCluster({ seed: 'hot', nodes: 0 })
  const watchdog = new Watchdog(cluster)
  const refuseAll: FaultInjector = {
    ...noFaults,
    onRequest: ({ verb, link }) =>
      verb === 'create' && link !== 'leader-election' ? { kind: 'refusal', code: 500 } : undefined,
  }
  cluster.injector = refuseAll
  await cluster.create(deployment(1))
  await cluster.advance(600_000)
  assert.deepEqual(watchdog.violations, [])
})
