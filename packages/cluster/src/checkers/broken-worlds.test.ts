import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { endStateRules } from './end-state.ts'
import { problems } from './fixtures.ts'
import type { World } from './fixtures.ts'

const of = (kind: string, name: string, more: object = {}, meta: object = {}): object => ({
  kind,
  metadata: { name, namespace: 'x', uid: `${name}-uid`, generation: 1, ...meta },
  ...more,
})
const owned = (kind: string, uid: string): object => ({
  ownerReferences: [{ apiVersion: 'v1', kind, name: 'a', uid, controller: true }],
})
const ready = (status = 'True'): object => ({ conditions: [{ type: 'Ready', status }] })
const node = (more: object = {}, spec: object = {}): object => ({
  kind: 'Node',
  metadata: { name: 'n' },
  spec,
  status: { ...ready(), allocatable: { pods: '110' }, ...more },
})
const worldOf = (...given: readonly (readonly [keyof typeof resources, ...object[]])[]): World =>
  given.map(([name, ...objects]) => [resources[name] as ResourceType, objects])

const selector = { matchLabels: { app: 'a' } }
const running = (more: object = {}, meta: object = {}): object =>
  of('Pod', 'p', { spec: {}, status: { phase: 'Running', ...ready(), ...more } }, meta)
const inUse = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }
const claim = (more: object = {}): object =>
  of('PersistentVolumeClaim', 'c', {
    spec: { volumeName: 'pv', storageClassName: 'standard' },
    ...more,
  })
const volume = (uid: string): object => ({
  kind: 'PersistentVolume',
  metadata: { name: 'pv' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    csi: { driver: 'd', volumeHandle: 'h' },
    claimRef: { namespace: 'x', name: 'c', uid },
  },
})
const device = { driver: 'd', pool: 'p', device: 'gpu' }
const taken = { status: { allocation: { devices: { results: [device] } } } }
const service = of('Service', 's', { spec: { selector: { app: 'a' } } })
const shown = running({ podIP: '10.0.0.1' }, { labels: { app: 'a' } })

/** A rule, the smallest world in which it does not hold, and what it says of it. */
const BROKEN: readonly (readonly [string, World, string])[] = [
  [
    'every owner exists',
    worldOf(
      ['configmaps', of('ConfigMap', 'c', {}, owned('Secret', 'gone'))],
      ['namespaces', { metadata: { name: 'x' } }],
    ),
    'ConfigMap x/c has outlived its owner Secret a',
  ],
  [
    'ReplicaSets have the pods they ask for',
    worldOf(['replicasets', of('ReplicaSet', 'a', { spec: { replicas: 1, selector } })]),
    'ReplicaSet x/a asks for 1 pods and has 0',
  ],
  [
    'StatefulSets have the pods they ask for',
    worldOf(['statefulsets', of('StatefulSet', 'a', { spec: { replicas: 1 } })]),
    'StatefulSet x/a lacks pod a-0',
  ],
  [
    'DaemonSets run where they should',
    worldOf(
      ['daemonsets', of('DaemonSet', 'a', { spec: { template: { spec: {} } } })],
      ['nodes', node()],
    ),
    'DaemonSet x/a has 0 pods on n and not 1',
  ],
  [
    'pods are on nodes that are there',
    worldOf(['pods', of('Pod', 'p', { spec: { nodeName: 'gone' } })]),
    'Pod x/p is on gone, which is not there',
  ],
  [
    'pods have a node or say why not',
    worldOf(
      ['pods', of('Pod', 'p', { spec: {}, status: { phase: 'Pending' } })],
      ['nodes', node()],
    ),
    'Pod x/p has no node, and nobody says why',
  ],
  [
    'pods have a node or say why not',
    worldOf(
      [
        'pods',
        of('Pod', 'p', {
          spec: { containers: [{ name: 'c' }] },
          status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False' }] },
        }),
      ],
      ['nodes', node()],
    ),
    'Pod x/p asks for nothing and has no node, though n takes anybody',
  ],
  [
    'nodes have begun with their pods',
    worldOf(
      ['pods', of('Pod', 'p', { spec: { nodeName: 'n' }, status: { phase: 'Pending' } })],
      ['nodes', node()],
    ),
    'Pod x/p is on n, which has not begun with it',
  ],
  [
    'taints of nodes say what their conditions say',
    worldOf(['nodes', node(ready('Unknown'))]),
    'Node n has the taints  and not unreachable',
  ],
  [
    'Jobs have counted their pods and are over',
    worldOf(['jobs', of('Job', 'a', { spec: { parallelism: 1 } })]),
    'Job x/a is not over, and nothing happens any more',
  ],
  [
    'CronJobs know their Jobs and keep no more than they should',
    worldOf(['cronjobs', of('CronJob', 'a', { status: { active: [{ name: 'j', uid: 'gone' }] } })]),
    'CronJob x/a says that j is active, which is not there',
  ],
  [
    'autoscalers have what they want',
    worldOf(
      [
        'horizontalpodautoscalers',
        of('HorizontalPodAutoscaler', 'h', {
          spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 2 },
        }),
      ],
      ['deployments', of('Deployment', 'd', { spec: { replicas: 3 } })],
    ),
    'HorizontalPodAutoscaler x/h allows 1 to 2 replicas, d has 3',
  ],
  [
    'volumes are attached where pods need them, and to one node where they are for one',
    worldOf(
      ['persistentvolumes', volume('c-uid')],
      ['persistentvolumeclaims', claim()],
      ['pods', of('Pod', 'p', { spec: { nodeName: 'n', ...inUse }, status: { phase: 'Running' } })],
      ['nodes', node()],
    ),
    'PersistentVolume pv is not attached to n',
  ],
  [
    'EndpointSlices show the pods of their Service',
    worldOf(['services', service], ['pods', shown]),
    'Service x/s does not show p 10.0.0.1',
  ],
  [
    'ReplicationControllers have the pods they ask for',
    worldOf([
      'replicationcontrollers',
      of('ReplicationController', 'a', { spec: { replicas: 1 } }),
    ]),
    'ReplicationController x/a asks for 1 pods and has 0',
  ],
  [
    'Endpoints list the pods of their Service',
    worldOf(['services', service], ['pods', shown]),
    'Service x/s has no Endpoints',
  ],
  [
    'claims have volumes of their own',
    worldOf(
      ['persistentvolumeclaims', claim({ status: { phase: 'Bound' } })],
      ['persistentvolumes', volume('other')],
    ),
    'PersistentVolumeClaim x/c is bound to pv, which does not know it',
  ],
  [
    'claims of pods do not wait',
    worldOf(
      ['persistentvolumeclaims', claim({ status: { phase: 'Pending' } })],
      ['pods', of('Pod', 'p', { spec: inUse, status: { phase: 'Pending' } })],
    ),
    'PersistentVolumeClaim x/c waits, and so does Pod x/p',
  ],
  [
    'nodes have the volumes that their pods use',
    worldOf(['nodes', node({ volumesInUse: ['kubernetes.io/csi/d^h'] })]),
    'Node n still has kubernetes.io/csi/d^h, and no pod there uses it',
  ],
  [
    'devices are in one claim at most',
    worldOf(['resourceclaims', of('ResourceClaim', 'a', taken), of('ResourceClaim', 'b', taken)]),
    'ResourceClaims x/a and x/b both have d/p/gpu',
  ],
  [
    'policies have been checked as they are',
    worldOf([
      'validatingadmissionpolicies',
      {
        metadata: { name: 'v', generation: 2 },
        spec: {},
        status: { observedGeneration: 1, typeChecking: {} },
      },
    ]),
    'ValidatingAdmissionPolicy v is at generation 2, checked was 1',
  ],
  [
    'namespaces have what every namespace has',
    worldOf(['namespaces', { metadata: { name: 'x' } }]),
    'namespace x has no service account default',
  ],
]
for (const [rule, world, wanted] of BROKEN)
  test(`${rule}: ${wanted}`, () => {
    assert.equal(problems(rule, world)[0], wanted)
  })

/** In end-state.test.ts and, of pod ranges, beside the rule. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'nothing is left half deleted',
  'the newest spec was acted on',
  'Deployments have rolled out',
  'statuses count the pods that are available',
  'conditions say what the numbers say',
  'nodes have pod ranges of their own',
  'EndpointSlices have the ports of their Service',
  'slices mirror the Endpoints that are kept by hand',
  'budgets allow what is left over',
  'volumes are what their phase says',
  'pods have the claims of their templates',
  'claims for devices are reserved for who uses them',
  'quotas count what there is',
  'roles that are sums have the rules of their parts',
  'tokens are of accounts that are there, and complete',
  'ranges of Service addresses are ready, or go when nobody needs them',
])

test('each rule is broken by some test: one that never finds anything notices nothing', () => {
  const here = new Set(BROKEN.map(([rule]) => rule))
  const untested = Object.keys(endStateRules).filter(
    (rule) => !here.has(rule) && !ELSEWHERE.has(rule),
  )
  assert.deepEqual(untested, [])
})
