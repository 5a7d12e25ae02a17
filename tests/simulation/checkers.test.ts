/** The checkers find what they are there for: a cluster that is broken on purpose is called broken. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type {
  ConfigMap,
  CronJob,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  ReplicaSet,
} from '@gyropilot/api'
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
  assert.deepEqual(found, [
    'the newest spec was acted on',
    'Deployments have rolled out',
    'conditions say what the numbers say',
  ])
})

const job: Job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'work', namespace: 'default' },
  spec: {
    ttlSecondsAfterFinished: 5,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'work:1' }] } },
  },
}

test('without the job-controller, or that of TTLs, Jobs are not over', async () => {
  for (const controller of ['job-controller', 'ttl-after-finished-controller']) {
    const found = await checkersOf(['*', `-${controller}`], async (cluster) => {
      await cluster.create(job)
    })
    assert.deepEqual(found, ['Jobs have counted their pods and are over'], controller)
  }
})

test('a Job that waits for a pod which failed by a clock that was ahead is not taken for one that is stuck', async () => {
  const found = await checkersOf(['*'], async (cluster) => {
    cluster.jumpWallTime('node-1', 90_000)
    const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'work:1' }] } as const
    const metadata = { annotations: { 'sim.kubelet/exit-code': '1' } }
    await cluster.create<Job>({ ...job, spec: { backoffLimit: 1, template: { metadata, spec } } })
    await cluster.advance(10_000)
  })
  assert.deepEqual(found, [])
})

test('a Job that counts what no pod of it has come to is seen at once', async () => {
  const found = await checkersOf(['*'], async (cluster) => {
    await cluster.create(job)
    const status = { uncountedTerminatedPods: { succeeded: ['nobody'] } }
    await cluster.client
      .resource(resources.jobs, 'default')
      .patch('work', { type: 'merge', value: { status } }, { subresource: 'status' })
  })
  assert.ok(found.includes('job counts'), found.join())
})

test('without the node-lifecycle-controller a cordoned node has no taint', async () => {
  const found = await checkersOf(['*', '-node-lifecycle-controller'], async (cluster) => {
    await cluster.patch(resources.nodes, undefined, 'node-1', {
      type: 'merge',
      value: { spec: { unschedulable: true } },
    })
  })
  assert.deepEqual(found, ['taints of nodes say what their conditions say'])
})

const CRON_RULE = 'CronJobs know their Jobs and keep no more than they should'

test('without the cronjob-controller Jobs that are over are kept, and count as active', async () => {
  const table = [
    { active: true, successfulJobsHistoryLimit: 1, wanted: [CRON_RULE] },
    { active: false, successfulJobsHistoryLimit: 0, wanted: [CRON_RULE] },
    { active: false, successfulJobsHistoryLimit: 1, wanted: [] },
  ]
  for (const { active, successfulJobsHistoryLimit, wanted } of table) {
    const found = await checkersOf(['*', '-cronjob-controller'], async (cluster) => {
      const { ttlSecondsAfterFinished: _, ...spec } = job.spec!
      const tick = await cluster.create({
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'tick', namespace: 'default' },
        spec: { schedule: '* * * * *', successfulJobsHistoryLimit, jobTemplate: { spec } },
      } as CronJob)
      const { uid = '' } = tick.metadata ?? {}
      const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid, controller: true }
      const metadata = { ...job.metadata, ownerReferences: [owner] }
      const work = await cluster.create({ ...job, metadata, spec })
      if (!active) return
      const { name = '', uid: ofWork = '' } = work.metadata ?? {}
      const status = { active: [{ name, namespace: 'default', uid: ofWork }] }
      await cluster.client
        .resource(resources.cronjobs, 'default')
        .patch('tick', { type: 'merge', value: { status } }, { subresource: 'status' })
    })
    assert.deepEqual(found, wanted)
  }
})

test('without its controller an autoscaler does not have what it wants', async () => {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
  for (const [size, wanted] of [
    [3, ['autoscalers have what they want']],
    [0, []],
  ] as const) {
    const controllers = ['*', '-horizontal-pod-autoscaler-controller']
    const found = await checkersOf(controllers, async (cluster) => {
      await cluster.create(deployment(size))
      await cluster.create({
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'web', namespace: 'default' },
        spec: { scaleTargetRef: target, maxReplicas: 2 },
      } as HorizontalPodAutoscaler)
    })
    assert.deepEqual(found, wanted)
  }
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

test('a claim that is deleted under a running pod waits for it, and without its controller for ever', async () => {
  const play = async (cluster: SimulatedCluster, takePodToo: boolean): Promise<void> => {
    const metadata = { name: 'data', namespace: 'default' }
    const resourcesOfClaim = { requests: { storage: '1Gi' } }
    const spec = { accessModes: ['ReadWriteOnce'], resources: resourcesOfClaim } as const
    await cluster.create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata,
      spec,
    } as object)
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    const containers = [{ name: 'c', image: 'nginx' }]
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'user', namespace: 'default' } }
    await cluster.create({ ...pod, spec: { containers, volumes } } as object)
    await cluster.advance(60_000)
    await cluster.delete(resources.persistentvolumeclaims, 'default', 'data')
    await cluster.advance(5_000)
    if (takePodToo) await cluster.delete(resources.pods, 'default', 'user')
  }
  assert.deepEqual(await checkersOf(['*'], (cluster) => play(cluster, false)), [])
  const off = ['*', '-persistentvolumeclaim-protection-controller']
  const found = await checkersOf(off, (cluster) => play(cluster, true))
  assert.ok(found.includes('nothing is left half deleted'))
})

test('a volume that is deleted under its claim waits for it', async () => {
  const found = await checkersOf(['*'], async (cluster) => {
    const metadata = { name: 'data', namespace: 'default' }
    const resourcesOfClaim = { requests: { storage: '1Gi' } }
    const spec = { accessModes: ['ReadWriteOnce'], resources: resourcesOfClaim } as const
    await cluster.create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata,
      spec,
    } as object)
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    const containers = [{ name: 'c', image: 'nginx' }]
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'user', namespace: 'default' } }
    await cluster.create({ ...pod, spec: { containers, volumes } } as object)
    await cluster.advance(60_000)
    const [volume] = cluster.objects.all(resources.persistentvolumes)
    await cluster.delete(resources.persistentvolumes, undefined, volume!.metadata!.name!)
    await cluster.advance(5_000)
    const [held] = cluster.objects.all(resources.persistentvolumes)
    assert.notEqual(held?.metadata?.deletionTimestamp, undefined)
  })
  assert.deepEqual(found, [])
})

test('without endpointslice-, serviceaccount- and root-ca-controllers their objects are missing', async () => {
  const off = [
    '*',
    '-endpointslice-controller',
    '-serviceaccount-controller',
    '-root-ca-certificate-publisher-controller',
  ]
  const found = await checkersOf(off, async (cluster) => {
    // Pods need a service account and what its volume shows, which nobody makes here.
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kube-root-ca.crt', namespace: 'default' },
      data: { 'ca.crt': 'nobody trusts this' },
    } as object)
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

test('without the clusterrole-aggregation- and service-cidr-controllers sums lack parts and ranges stay', async () => {
  const off = ['*', '-clusterrole-aggregation-controller', '-service-cidr-controller']
  const found = await checkersOf(off, async (cluster) => {
    await cluster.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: {
        name: 'part',
        labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
      },
      rules: [{ apiGroups: ['example.com'], resources: ['gadgets'], verbs: ['get'] }],
    } as object)
    const metadata = { name: 'more', finalizers: ['networking.k8s.io/service-cidr-finalizer'] }
    const spec = { cidrs: ['10.200.0.0/28'] }
    const range = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata, spec }
    await cluster.create(range as object)
    await cluster.delete(resources.servicecidrs, undefined, 'more')
  })
  assert.deepEqual(found, [
    'nothing is left half deleted',
    'roles that are sums have the rules of their parts',
    'ranges of Service addresses are ready, or go when nobody needs them',
  ])
})

test('a Secret that the serviceaccount-token-controller may not write is incomplete', async () => {
  const found = await checkersOf(['*'], async (cluster) => {
    const admission = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'no' } }
    const rule = {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['UPDATE'],
      resources: ['secrets'],
    }
    await cluster.create({
      ...admission,
      kind: 'ValidatingAdmissionPolicy',
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'false' }],
      },
    } as object)
    await cluster.create({
      ...admission,
      kind: 'ValidatingAdmissionPolicyBinding',
      spec: { policyName: 'no', validationActions: ['Deny'] },
    } as object)
    await cluster.advance(5_000)
    const annotations = { 'kubernetes.io/service-account.name': 'default' }
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'token', namespace: 'default', annotations },
      type: 'kubernetes.io/service-account-token',
    } as object)
  })
  assert.deepEqual(found, ['tokens are of accounts that are there, and complete'])
})

test('a revision that is taken from under a pod is found when it goes', async () => {
  const cluster = await createCluster({ seed: 'revisions', nodes: 1 })
  const watchdog = new Watchdog(cluster)
  const { spec, ...set } = { ...deployment(1), kind: 'StatefulSet' }
  await cluster.create({ ...set, spec: { ...spec, serviceName: 'web' } } as object)
  await cluster.advance(20_000)
  const [revision] = cluster.objects.all(resources.controllerrevisions, 'default')
  await cluster.delete(resources.controllerrevisions, 'default', revision!.metadata!.name!)
  assert.deepEqual(
    watchdog.violations.map(({ checker }) => checker),
    ['live revisions'],
  )
})

/** A Deployment of two ready pods and a budget whose status is written by hand: `allowed` disruptions. */
async function withBudget(allowed: number) {
  const cluster = await createCluster({ seed: 'budget', nodes: 1 })
  const watchdog = new Watchdog(cluster)
  await cluster.create(deployment(2))
  await cluster.advance(20_000)
  const budget = await cluster.create({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { minAvailable: 2 - allowed, selector: { matchLabels: { app: 'web' } } },
  } as object)
  const setStatus = (status: object) =>
    cluster.client
      .resource(resources.poddisruptionbudgets, 'default')
      .patch('web', { type: 'merge', value: { status } }, { subresource: 'status' })
  const { generation: observedGeneration } = (budget as ConfigMap).metadata ?? {}
  const healthy = { currentHealthy: 2, desiredHealthy: 2 - allowed, expectedPods: 2 }
  await setStatus({ observedGeneration, disruptionsAllowed: allowed, ...healthy })
  const pods = cluster.objects.all(resources.pods, 'default')
  const names = pods.map(({ metadata }) => metadata?.name ?? '')
  const evict = (name: string) =>
    cluster.client.resource(resources.pods, 'default').createSubresource(name, 'eviction', {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace: 'default' },
    } as object)
  const found = () => watchdog.violations.map(({ checker, message }) => `${checker}: ${message}`)
  return { cluster, setStatus, names, evict, found }
}

test('evictions within a budget are as they must be, and the next one is refused', async () => {
  const { names, evict, found, cluster } = await withBudget(1)
  await evict(names[0]!)
  await assert.rejects(evict(names[1]!), /disruption budget/)
  await cluster.advance(20_000)
  assert.deepEqual(found(), [])
})

test('a budget that pays what it does not have is found', async () => {
  const { names, setStatus, found } = await withBudget(0)
  await setStatus({ disruptedPods: { [names[0]!]: '2026-01-01T00:00:00Z' } })
  assert.deepEqual(found(), [`budgets: budget default/web let ${names[0]} go and allowed 0`])
})

test('an eviction that asks no budget is found', async () => {
  const { cluster, names, found } = await withBudget(1)
  const condition = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }
  const value = { status: { conditions: [condition] } }
  const pods = cluster.client.resource(resources.pods, 'default')
  await pods.patch(names[0]!, { type: 'strategic', value }, { subresource: 'status' })
  assert.deepEqual(found(), [
    `budgets: pod default/${names[0]} is evicted and budget default/web was not asked`,
  ])
})

test('a pod that a controller makes for nobody is found', async () => {
  const cluster = await createCluster({ seed: 'nobody', nodes: 0 })
  const watchdog = new Watchdog(cluster)
  cluster.run('controller', async (life) => {
    const client = cluster.clientOf(life, 'kube-controller-manager')
    await client.resource(resources.replicasets, 'default').create({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'stray' },
      spec: { replicas: 0, ...specOf(deployment(0)) },
    } as object)
    await new Promise(() => {})
  })
  await cluster.advance(2_000)
  assert.deepEqual(
    watchdog.violations.map(({ message }) => message),
    ['ReplicaSet default/stray was made by a controller and has no owner'],
  )
})

test('a pod that is taken from its owner without cause is found, one that no longer matches is not', async () => {
  const cluster = await createCluster({ seed: 'taken', nodes: 1 })
  const watchdog = new Watchdog(cluster)
  await cluster.create(deployment(2))
  await cluster.advance(20_000)
  const [first, second] = cluster.objects.all(resources.pods, 'default')
  const change = (name: string | undefined, metadata: object) =>
    cluster.patch(resources.pods, 'default', name ?? '', { type: 'merge', value: { metadata } })
  await change(first?.metadata?.name, { labels: { app: 'away' } })
  await cluster.advance(20_000)
  const found = () => watchdog.violations.map((violation) => violation.message)
  assert.deepEqual(found(), [])
  await change(second?.metadata?.name, { ownerReferences: null })
  const [message = ''] = found()
  assert.match(message, /was taken from ReplicaSet .* without cause/)
})

function specOf({ spec }: Deployment): object {
  return { selector: spec!.selector, template: spec!.template }
}

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

test('without the node-ipam-controller a node that brings no range along has none', async () => {
  const found = await checkersOf(['*', '-node-ipam-controller'], async (cluster) => {
    await cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'bare' } })
  })
  assert.ok(found.includes('nodes have pod ranges of their own'), found.join())
})

test('two nodes that share addresses are seen at once, and in the end', async () => {
  const found = await checkersOf(['*'], async (cluster) => {
    for (const [name, podCIDR] of [
      ['wide', '10.224.4.0/22'],
      ['narrow', '10.224.5.0/24'],
    ] as const)
      await cluster.client
        .resource(resources.nodes)
        .create({ metadata: { name }, spec: { podCIDR, podCIDRs: [podCIDR] } })
  })
  for (const rule of ['pod ranges', 'nodes have pod ranges of their own'])
    assert.ok(found.includes(rule), found.join())
})

test('a pod with an address of another node is seen', async () => {
  const found = await checkersOf(['*'], async (cluster) => {
    const { client } = cluster
    await client.resource(resources.nodes).create({ metadata: { name: 'bare' } })
    const pods = client.resource(resources.pods, 'default')
    const containers = [{ name: 'c', image: 'web:1' }]
    await pods.create({ metadata: { name: 'lost' }, spec: { nodeName: 'bare', containers } })
    const podIP = '10.224.9.9'
    const startTime = '2099-01-01T00:00:00Z'
    const value = { status: { podIP, podIPs: [{ ip: podIP }], startTime } }
    await pods.patch('lost', { type: 'merge', value }, { subresource: 'status' })
  })
  assert.ok(found.includes('nodes have pod ranges of their own'), found.join())
})
