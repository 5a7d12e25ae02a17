import assert from 'node:assert/strict'
import { test } from 'node:test'
import { POD_GROUPS, resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { AUTHORITY_PEM } from '../simulated/fixed-certificates.ts'
import { problems } from './fixtures.ts'
import type { World } from './fixtures.ts'

const metadata = { name: 'a', namespace: 'x', uid: '1', generation: 2 }
const ownedBy = (kind: string, uid: string): object => ({
  ownerReferences: [{ apiVersion: 'v1', kind, name: 'a', uid, controller: true }],
})

function pod(owner: string, isReady = true): object {
  const ready = { type: 'Ready', status: isReady ? 'True' : 'False' }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'x', ...ownedBy('ReplicaSet', owner) },
    status: { phase: 'Running', conditions: [ready] },
  }
}

test('a status that never says what was observed has not acted on the spec, unless its kind need not say so', () => {
  const rule = 'the newest spec was acted on'
  const world = (kind: string, status?: object): World => [
    [resources.replicasets as ResourceType, [{ kind, metadata, status }]],
  ]
  const late = ['ReplicaSet x/a is at generation 2, observed was 0']
  assert.deepEqual(problems(rule, world('ReplicaSet', {})), late)
  assert.deepEqual(problems(rule, world('ReplicaSet')), late)
  assert.deepEqual(problems(rule, world('ReplicaSet', { observedGeneration: 2 })), [])
  assert.deepEqual(problems(rule, world('Job', {})), [])
})

test('who is ready is counted as available, in each status above', () => {
  const rule = 'statuses count the pods that are available'
  const replicaSet = {
    kind: 'ReplicaSet',
    metadata: { ...metadata, ...ownedBy('Deployment', '2') },
  }
  const deployment = { kind: 'Deployment', metadata: { ...metadata, uid: '2' } }
  const world = (setStatus: object, status: object, spec: object = {}): World => [
    [resources.pods as ResourceType, [pod('1'), pod('1', false)]],
    [resources.replicasets as ResourceType, [{ ...replicaSet, spec, status: setStatus }]],
    [resources.deployments as ResourceType, [{ ...deployment, spec, status }]],
  ]
  const right = { readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1 }
  assert.deepEqual(problems(rule, world(right, right)), [])
  assert.deepEqual(problems(rule, world({}, right)), [
    'the status of ReplicaSet x/a says 0 available pods, there are 1',
  ])
  assert.deepEqual(problems(rule, world(right, {})), [
    'the status of Deployment x/a says 0 available pods, there are 1',
    'the status of Deployment x/a says 0 ready pods, there are 1',
    'the status of Deployment x/a says 0 unavailable pods, there are 1',
  ])
  // Who waits for longer than the rest lasts is not available yet.
  const waiting = { readyReplicas: 1, unavailableReplicas: 2 }
  assert.deepEqual(problems(rule, world({}, waiting, { minReadySeconds: 600 })), [])
})

test('a budget that does not know all of its pods is found', () => {
  const rule = 'budgets allow what is left over'
  const budget = (expectedPods: number): object => ({
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { minAvailable: 1, selector: {} },
    status: { expectedPods, currentHealthy: 2, disruptionsAllowed: 1 },
  })
  const world = (expectedPods: number): World => [
    [resources.pods as ResourceType, [pod('1'), pod('1')]],
    [resources.poddisruptionbudgets as ResourceType, [budget(expectedPods)]],
  ]
  assert.deepEqual(problems(rule, world(2)), [])
  assert.deepEqual(problems(rule, world(1)), [
    'PodDisruptionBudget x/a expects 1 pods, there are 2',
  ])
})

test('a paused Deployment keeps the surge of its rollout, also when its strategy became Recreate', () => {
  const world = (total: number, strategy: object): World => {
    const spec = { replicas: 2, paused: true, strategy }
    const deployment = { kind: 'Deployment', metadata: { ...metadata, uid: '2' }, spec }
    const set = {
      kind: 'ReplicaSet',
      metadata: { ...metadata, ...ownedBy('Deployment', '2') },
      spec: { replicas: total },
    }
    return [
      [resources.replicasets as ResourceType, [set]],
      [resources.deployments as ResourceType, [deployment]],
    ]
  }
  const rule = 'Deployments have rolled out'
  const rollingUpdate = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } }
  assert.deepEqual(problems(rule, world(3, rollingUpdate)), [])
  assert.deepEqual(problems(rule, world(4, rollingUpdate)), [
    'paused Deployment x/a asks for 2, its ReplicaSets for 4',
  ])
  assert.deepEqual(problems(rule, world(4, { type: 'Recreate' })), [])
  assert.deepEqual(problems(rule, world(1, { type: 'Recreate' })), [
    'paused Deployment x/a asks for 2, its ReplicaSets for 1',
  ])
})

const condition = (type: string, said: string): object => {
  const [status, reason] = said.split('/')
  return { type, status, reason }
}

/** What is said of the conditions of a Deployment of three that has so many available, and a ReplicaSet that fails to make one. */
function deploymentProblems(available: number, conditions: readonly object[], spec: object = {}) {
  const status = { replicas: 3, updatedReplicas: 3, availableReplicas: available, conditions }
  const deployment = {
    kind: 'Deployment',
    metadata: { ...metadata, uid: '2' },
    spec: { replicas: 3, progressDeadlineSeconds: 600, ...spec },
    status,
  }
  return problems('conditions say what the numbers say', [
    [resources.deployments as ResourceType, [deployment]],
    [resources.replicasets as ResourceType, [failingSet]],
  ])
}
const failingSet = {
  kind: 'ReplicaSet',
  metadata: { ...metadata, ...ownedBy('Deployment', '2') },
  spec: { replicas: 3 },
  status: { replicas: 2, conditions: [condition('ReplicaFailure', 'True/FailedCreate')] },
}

const COMPLETE = condition('Progressing', 'True/NewReplicaSetAvailable')
const ENOUGH = condition('Available', 'True/MinimumReplicasAvailable')
const TOO_FEW = condition('Available', 'False/MinimumReplicasUnavailable')
const FAILURE = condition('ReplicaFailure', 'True/FailedCreate')
const rolling = (maxSurge: number, maxUnavailable: number) => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
})

for (const [what, available, told, spec, wanted] of [
  ['complete', 3, [ENOUGH, COMPLETE, FAILURE], {}, []],
  ['silent', 3, [], {}, ['Available none', 'Progressing none', 'ReplicaFailure none']],
  [
    'complete without a deadline',
    3,
    [ENOUGH, FAILURE],
    { progressDeadlineSeconds: 2 ** 31 - 1 },
    [],
  ],
  [
    'a deadline that is no more',
    3,
    [ENOUGH, FAILURE, COMPLETE],
    { progressDeadlineSeconds: undefined },
    ['Progressing True/NewReplicaSetAvailable'],
  ],
  ['one missing that may be', 2, [ENOUGH, FAILURE], rolling(1, 1), []],
  [
    'one missing where none may, but nothing else could move',
    2,
    [ENOUGH, FAILURE],
    rolling(0, 0),
    [],
  ],
  ['one missing', 2, [ENOUGH, FAILURE], rolling(1, 0), ['Available True/MinimumReplicasAvailable']],
  ['one missing, and said', 2, [TOO_FEW, FAILURE], rolling(1, 0), []],
  [
    'paused',
    3,
    [ENOUGH, condition('Progressing', 'Unknown/DeploymentPaused')],
    { paused: true },
    [],
  ],
  [
    'paused unsaid',
    3,
    [ENOUGH, COMPLETE],
    { paused: true },
    ['Progressing True/NewReplicaSetAvailable'],
  ],
] as const)
  test(`conditions of a Deployment: ${what}`, () => {
    const said = deploymentProblems(available, told, spec)
    assert.deepEqual(
      said.map((text) => /^Deployment x\/a says (.*) and not /.exec(text)?.[1]).toSorted(),
      wanted,
    )
  })

test('a failure is over when there are as many pods as were asked for, and a budget says whether it allows any', () => {
  const rule = 'conditions say what the numbers say'
  const set = { ...failingSet, status: { ...failingSet.status, replicas: 3 } }
  const budget = (said: string, disruptionsAllowed?: number): object => ({
    kind: 'PodDisruptionBudget',
    metadata,
    status: { disruptionsAllowed, conditions: [condition('DisruptionAllowed', said)] },
  })
  for (const type of [resources.replicasets, resources.replicationcontrollers] as ResourceType[]) {
    assert.deepEqual(problems(rule, [[type, [failingSet]]]), [])
    assert.deepEqual(problems(rule, [[type, [set]]]), [
      'ReplicaSet x/a says ReplicaFailure True/FailedCreate and not none',
    ])
  }
  const budgets = (...all: readonly object[]) =>
    problems(rule, [[resources.poddisruptionbudgets as ResourceType, all]])
  assert.deepEqual(budgets(budget('True/SufficientPods', 1), budget('False/InsufficientPods')), [])
  assert.equal(
    budgets(budget('True/SufficientPods'), budget('False/InsufficientPods', 1)).length,
    2,
  )
})

test('quotas count pods in their scopes, and objects; what no rule counts may be said to be anything', () => {
  const quota = (hard: object, used: object, spec: object = {}, limits: object = hard): object => ({
    kind: 'ResourceQuota',
    metadata,
    spec: { hard, ...spec },
    status: { hard: limits, used },
  })
  const bestEffort = (phase: string, spec: object = {}): object => ({
    metadata,
    spec,
    status: { phase, qosClass: 'BestEffort' },
  })
  const pods = [
    pod('1'),
    bestEffort('Running'),
    bestEffort('Succeeded'),
    bestEffort('Running', { activeDeadlineSeconds: 5 }),
  ]
  const said = (one: object): readonly string[] =>
    problems('quotas count what there is', [
      [resources.resourcequotas as ResourceType, [one]],
      [resources.pods as ResourceType, pods],
      [resources.services as ResourceType, [{ metadata }]],
    ])
  const hard = { pods: '9', 'count/pods': '9', services: '9', 'count/jobs.batch': '9', cpu: '1' }
  const used = { pods: '3', 'count/pods': '4', services: '1', 'count/jobs.batch': '0', cpu: '7' }
  assert.deepEqual(said(quota(hard, used)), [])
  assert.equal(said(quota(hard, {})).length, 4)
  assert.deepEqual(said(quota({ pods: '9' }, { pods: '2' }, { scopes: ['BestEffort'] })), [])
  assert.deepEqual(said(quota({ pods: '9' }, { pods: '1' }, { scopes: ['NotBestEffort'] })), [])
  assert.deepEqual(said(quota({ pods: '9' }, { pods: '1' }, { scopes: ['Terminating'] })), [])
  assert.deepEqual(said(quota({ pods: '9' }, { pods: '3' }, { scopes: ['NotTerminating'] })), [
    'ResourceQuota x/a says that 3 pods are used, there are 2',
  ])
  assert.deepEqual(said(quota({ pods: '9' }, { pods: '3' }, {}, { pods: '8' })), [
    'ResourceQuota x/a limits pods to 8, not 9',
  ])
})

test('a claim in deletion that a pod on a node still names is left, also when the pod has ended', () => {
  const rule = 'nothing is left half deleted'
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const claim = { kind: 'PersistentVolumeClaim', metadata: { ...metadata, deletionTimestamp } }
  const world = (nodeName?: string): World => [
    [resources.persistentvolumeclaims as ResourceType, [claim]],
    [
      resources.pods as ResourceType,
      [
        {
          metadata: { name: 'p', namespace: 'x' },
          spec: { nodeName, volumes: [{ persistentVolumeClaim: { claimName: 'a' } }] },
          status: { phase: 'Succeeded' },
        },
      ],
    ],
  ]
  assert.deepEqual(problems(rule, world('node-1')), [])
  assert.equal(problems(rule, world()).length, 1)
})

test('a claim that is reserved for a PodGroup of former times is found', () => {
  const rule = 'claims for devices are reserved for who uses them'
  const user = { apiGroup: POD_GROUPS.group, resource: POD_GROUPS.resource, name: 'g', uid: '7' }
  const world = (uid: string): World => [
    [POD_GROUPS as ResourceType, [{ metadata: { name: 'g', namespace: 'x', uid } }]],
    [resources.resourceclaims as ResourceType, [{ metadata, status: { reservedFor: [user] } }]],
  ]
  assert.deepEqual(problems(rule, world('7')), [])
  assert.deepEqual(problems(rule, world('8')), [
    'ResourceClaim x/a is reserved for PodGroup g, which is gone',
  ])
})

test('nothing is asked for a pod whose PodGroup is not there', () => {
  const rule = 'pods have the claims of their templates'
  const template = { metadata: { name: 't', namespace: 'x' } }
  const world = (...groups: readonly object[]): World => [
    [POD_GROUPS as ResourceType, groups],
    [resources.resourceclaimtemplates as ResourceType, [template]],
    [
      resources.pods as ResourceType,
      [
        {
          metadata,
          spec: {
            schedulingGroup: { podGroupName: 'g' },
            resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }],
          },
          status: { phase: 'Running' },
        },
      ],
    ],
  ]
  assert.deepEqual(problems(rule, world()), [])
  assert.deepEqual(problems(rule, world({ metadata: { name: 'g', namespace: 'x' } })), [
    'Pod x/a has 0 claims for gpu',
  ])
})

test('slices with other ports than those of their Service are found', () => {
  const rule = 'EndpointSlices have the ports of their Service'
  const labels = {
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    'kubernetes.io/service-name': 'a',
  }
  const spec = { selector: { app: 'a' }, ports: [{ port: 80, targetPort: 8080 }] }
  const world = (port: number): World => [
    [resources.services as ResourceType, [{ metadata, spec }]],
    [
      resources.endpointslices as ResourceType,
      [
        {
          kind: 'EndpointSlice',
          metadata: { name: 's', namespace: 'x', labels },
          endpoints: [{ addresses: ['10.0.0.1'] }],
          ports: [{ name: '', port }],
        },
      ],
    ],
  ]
  assert.deepEqual(problems(rule, world(8080)), [])
  assert.deepEqual(problems(rule, world(80)), [
    'EndpointSlice x/s has the ports :80, its Service :8080',
  ])
})

test('a pod keeps the address that it had when its node is set up anew, whatever its kubelet says of its start', () => {
  const rule = 'nodes have pod ranges of their own'
  const node = (name: string, podCIDR: string) => ({
    metadata: { name, creationTimestamp: '2026-01-01T00:10:00Z' },
    spec: { podCIDR, podCIDRs: [podCIDR] },
  })
  const world = (podIP: string, creationTimestamp: string): World => [
    [resources.nodes as ResourceType, [node('a', '10.0.1.0/24'), node('b', '10.0.2.0/24')]],
    [
      resources.pods as ResourceType,
      [
        {
          metadata: { name: 'p', namespace: 'x', creationTimestamp },
          spec: { nodeName: 'a' },
          status: { phase: 'Running', podIP, startTime: '2026-01-01T00:12:00Z' },
        },
      ],
    ],
  ]
  const [before, after] = ['2026-01-01T00:09:00Z', '2026-01-01T00:11:00Z']
  const wrong = (address: string) => [`Pod x/p has ${address}, which is none of a`]
  assert.deepEqual(problems(rule, world('10.0.1.7', after)), [])
  for (const former of ['10.0.9.7', '10.0.2.7'])
    assert.deepEqual(problems(rule, world(former, before)), [])
  assert.deepEqual(problems(rule, world('10.0.9.7', after)), wrong('10.0.9.7'))
})

test('a mirror has the ports of its Endpoints, in whatever order', () => {
  const rule = 'slices mirror the Endpoints that are kept by hand'
  const world = (...ports: readonly number[]): World => {
    const meta = { name: 's', namespace: 'x' }
    const labels = {
      'kubernetes.io/service-name': 's',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    }
    const subset = { addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 82 }, { port: 81 }] }
    const slice = {
      metadata: { ...meta, labels },
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
      ports: ports.map((port) => ({ port })),
    }
    return [
      [resources.services as ResourceType, [{ metadata: meta, spec: {} }]],
      [resources.endpoints as ResourceType, [{ metadata: meta, subsets: [subset] }]],
      [resources.endpointslices as ResourceType, [slice]],
    ]
  }
  for (const ports of [
    [81, 82],
    [82, 81],
  ])
    assert.deepEqual(problems(rule, world(...ports)), [])
  assert.deepEqual(problems(rule, world(81)), [
    'the mirror of x/s shows 10.0.0.1:81=true, it should show 10.0.0.1:81+82=true',
  ])
})

test('a role that is a sum has the rules of its parts by their names, each once, and without parts any', () => {
  const rule = 'roles that are sums have the rules of their parts'
  const rules = (...verbs: readonly string[]) => verbs.map((verb) => ({ verbs: [verb] }))
  const role = (name: string, verbs: readonly string[], labels = {}): object => ({
    metadata: { name, labels },
    rules: rules(...verbs),
  })
  const world = (verbs: readonly string[], ...parts: readonly object[]): World => {
    const clusterRoleSelectors = [{ matchLabels: { to: 'sum' } }]
    const sum = { ...role('sum', verbs, { to: 'sum' }), aggregationRule: { clusterRoleSelectors } }
    return [[resources.clusterroles as ResourceType, [sum, ...parts]]]
  }
  const parts = [
    role('b', ['list', 'get'], { to: 'sum' }),
    role('a', ['watch', 'list'], { to: 'sum' }),
    role('c', ['delete'], { to: 'other' }),
  ]
  assert.deepEqual(problems(rule, world(['watch', 'list', 'get'], ...parts)), [])
  assert.deepEqual(problems(rule, world(['by hand'])), [])
  for (const wrong of [['list', 'get', 'watch'], ['watch', 'list'], []])
    assert.equal(problems(rule, world(wrong, ...parts)).length, 1, wrong.join())
})

test('a range of Service addresses is ready and kept, or goes unless it alone has one that is in use', () => {
  const rule = 'ranges of Service addresses are ready, or go when nobody needs them'
  const finalizers = ['networking.k8s.io/service-cidr-finalizer']
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const range = (cidr: string, given: object, status: string, reason = ''): object => ({
    kind: 'ServiceCIDR',
    metadata: { name: cidr, uid: cidr, ...given },
    spec: { cidrs: [cidr] },
    status: { conditions: [{ type: 'Ready', status, reason }] },
  })
  const world = (ranges: readonly object[], ...addresses: readonly string[]): World => [
    [resources.servicecidrs as ResourceType, ranges],
    [resources.ipaddresses as ResourceType, addresses.map((name) => ({ metadata: { name } }))],
  ]
  const ready = range('10.1.0.0/24', { finalizers }, 'True')
  const waiting = range('10.1.0.0/28', { finalizers, deletionTimestamp }, 'False', 'Terminating')
  const silent = range('10.1.0.0/28', { finalizers, deletionTimestamp }, 'True')
  assert.deepEqual(problems(rule, world([ready], '10.1.0.5')), [])
  assert.deepEqual(problems(rule, world([range('10.1.0.0/24', {}, 'False', 'Odd')])), [
    'ServiceCIDR 10.1.0.0/24 is not ready: False Odd',
    'ServiceCIDR 10.1.0.0/24 is not kept by its finalizer',
  ])
  assert.deepEqual(problems(rule, world([waiting], '10.1.0.5')), [])
  assert.deepEqual(problems('nothing is left half deleted', world([waiting], '10.1.0.5')), [])
  assert.deepEqual(problems(rule, world([silent], '10.1.0.5')), [
    'ServiceCIDR 10.1.0.0/28 waits for its addresses and says True ',
  ])
  for (const needless of [world([waiting], '10.2.0.5'), world([waiting, ready], '10.1.0.5')]) {
    assert.deepEqual(problems(rule, needless), [
      'ServiceCIDR 10.1.0.0/28 is needed by no address and does not go',
    ])
    assert.equal(problems('nothing is left half deleted', needless).length, 1)
  }
})

test('the token of an account is complete, and of an account that is there', () => {
  const rule = 'tokens are of accounts that are there, and complete'
  const complete = { token: 'x', namespace: 'x', 'ca.crt': btoa(AUTHORITY_PEM) }
  const world = (data: object, annotations: object = {}, account = 'robot'): World => {
    const of = { 'kubernetes.io/service-account.name': 'robot', ...annotations }
    const secret = {
      metadata: { name: 't', namespace: 'x', annotations: of },
      type: 'kubernetes.io/service-account-token',
      data,
    }
    const metadata = { name: account, namespace: 'x', uid: 'now' }
    return [
      [resources.secrets as ResourceType, [secret, { ...secret, type: 'Opaque', data: {} }]],
      [resources.serviceaccounts as ResourceType, [{ metadata }]],
    ]
  }
  const uid = (value: string) => ({ 'kubernetes.io/service-account.uid': value })
  for (const known of [{}, uid(''), uid('now')])
    assert.deepEqual(problems(rule, world(complete, known)), [])
  const gone = ['Secret x/t is of account robot, which is gone']
  assert.deepEqual(problems(rule, world(complete, uid('former'))), gone)
  assert.deepEqual(problems(rule, world(complete, {}, 'other')), gone)
  assert.deepEqual(problems(rule, world({})), [
    'Secret x/t has no token',
    'Secret x/t has no namespace',
    'Secret x/t has another authority',
  ])
})

test('an owner that goes in the foreground is left while a claim of its own is in use', () => {
  const rule = 'nothing is left half deleted'
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const world = (blockOwnerDeletion: boolean, claimName: string): World => {
    const set = {
      kind: 'StatefulSet',
      metadata: { ...metadata, deletionTimestamp, finalizers: ['foregroundDeletion'] },
    }
    const ownerReferences = [{ kind: 'StatefulSet', name: 'a', uid: '1', blockOwnerDeletion }]
    const claim = {
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'x', uid: '2', deletionTimestamp, ownerReferences },
    }
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }]
    const user = {
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'x' },
      spec: { nodeName: 'n', volumes },
    }
    return [
      [resources.statefulsets as ResourceType, [set]],
      [resources.persistentvolumeclaims as ResourceType, [claim]],
      [resources.pods as ResourceType, [user]],
    ]
  }
  const left = [
    `StatefulSet x/a is being deleted since ${deletionTimestamp} (foregroundDeletion)`,
    `PersistentVolumeClaim x/data is being deleted since ${deletionTimestamp} (no finalizers)`,
  ]
  assert.deepEqual(problems(rule, world(true, 'data')), [])
  assert.deepEqual(problems(rule, world(false, 'data')), left.slice(0, 1))
  assert.deepEqual(problems(rule, world(true, 'other')), left)
})

test('a volume that is deleted before its claim names it is left, one that its claim does not want is not', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const claimRef = { namespace: 'x', name: 'c', uid: '2' }
  const world = (volumeName: string | undefined, given: object): World => [
    [
      resources.persistentvolumes as ResourceType,
      [
        {
          kind: 'PersistentVolume',
          metadata: { name: 'v', ...given },
          spec: { claimRef },
          status: { phase: 'Bound' },
        },
      ],
    ],
    [
      resources.persistentvolumeclaims as ResourceType,
      [
        {
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'c', namespace: 'x', uid: '2' },
          spec: { volumeName },
        },
      ],
    ],
  ]
  const rules = ['volumes are what their phase says', 'nothing is left half deleted'] as const
  const counts = (given: World): readonly number[] =>
    rules.map((rule) => problems(rule, given).length)
  assert.deepEqual(counts(world(undefined, { deletionTimestamp })), [0, 0])
  assert.deepEqual(counts(world('v', { deletionTimestamp })), [0, 0])
  assert.deepEqual(counts(world('w', { deletionTimestamp })), [1, 1])
  assert.deepEqual(counts(world(undefined, {})), [1, 0])
})
