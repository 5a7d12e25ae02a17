import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { verdictBy } from '../feasible-nodes.ts'
import { NodeInfo } from '../node-info.ts'
import { snapshotOf } from '../snapshot.ts'
import { filters, filtersWith, prepared, preparing } from './index.ts'

function infoOf(object: Node, pods: readonly Pod[] = []): NodeInfo {
  const info = new NodeInfo(object.metadata?.name ?? '')
  info.setNode(object)
  for (const one of pods) info.addPod(one)
  return info
}

function reasons(
  candidate: Pod,
  info: NodeInfo,
  all: readonly NodeInfo[] = [info],
): readonly string[] {
  for (const { filter } of filters) {
    const found = filter(candidate, snapshotOf(all))?.(info) ?? []
    if (found.length > 0) return found
  }
  return []
}

const withCpu = (name: string, cpu: string): Pod =>
  pod({ name, spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }] } })

test('Cordoned node: `node(s) were unschedulable`; a toleration lets a pod in', () => {
  const cordoned = infoOf(node({ spec: { unschedulable: true } }))
  assert.deepEqual(reasons(pod(), cordoned), ['node(s) were unschedulable'])
  const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' as const }]
  assert.deepEqual(reasons(pod({ spec: { tolerations } }), cordoned), [])
})

test('taints that are not tolerated keep a pod away, PreferNoSchedule does not', () => {
  const tainted = (effect: 'NoSchedule' | 'NoExecute' | 'PreferNoSchedule') =>
    infoOf(node({ spec: { taints: [{ key: 'a', value: 'b', effect }] } }))
  assert.deepEqual(reasons(pod(), tainted('NoSchedule')), ['node(s) had untolerated taint(s)'])
  assert.deepEqual(reasons(pod(), tainted('NoExecute')), ['node(s) had untolerated taint(s)'])
  assert.deepEqual(reasons(pod(), tainted('PreferNoSchedule')), [])
  const equal = [{ key: 'a', operator: 'Equal' as const, value: 'b' }]
  assert.deepEqual(reasons(pod({ spec: { tolerations: equal } }), tainted('NoSchedule')), [])
  const everything = [{ operator: 'Exists' as const }]
  assert.deepEqual(reasons(pod({ spec: { tolerations: everything } }), tainted('NoExecute')), [])
})

test('node selector and required affinity', () => {
  const picky = pod({ spec: { nodeSelector: { disk: 'ssd' } } })
  const text = "node(s) didn't match Pod's node affinity/selector"
  assert.deepEqual(reasons(picky, infoOf(node())), [text])
  assert.deepEqual(reasons(picky, infoOf(node({ labels: { disk: 'ssd' } }))), [])
})

test('each missing resource gives a reason; terminating pods still count', () => {
  const full = infoOf(node({ allocatable: { cpu: '1', memory: '1Gi', pods: '1' } }), [
    withCpu('a', '1'),
  ])
  assert.deepEqual(reasons(withCpu('b', '500m'), full).toSorted(), [
    'Insufficient cpu',
    'Too many pods',
  ])
})

test('host ports conflict by port, protocol and address', () => {
  const onPort = (name: string, hostIP?: string, protocol: 'TCP' | 'UDP' = 'TCP') =>
    pod({
      name,
      spec: {
        containers: [
          { name: 'c', image: 'x', ports: [{ containerPort: 1, hostPort: 80, hostIP, protocol }] },
        ],
      },
    })
  const used = infoOf(node(), [onPort('a', '10.0.0.1')])
  assert.equal(reasons(onPort('b'), used).length, 1)
  assert.equal(reasons(onPort('b', '10.0.0.2'), used).length, 0)
  assert.equal(reasons(onPort('b', '10.0.0.1', 'UDP'), used).length, 0)
})

test('Required anti-affinity on hostname: third pod on two nodes pending', () => {
  const apart = (name: string) =>
    pod({
      name,
      labels: { app: 'a' },
      spec: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              {
                topologyKey: 'kubernetes.io/hostname',
                labelSelector: { matchLabels: { app: 'a' } },
              },
            ],
          },
        },
      },
    })
  const all = ['n1', 'n2'].map((name) => infoOf(node({ name }), [apart(`on-${name}`)]))
  for (const info of all) {
    assert.deepEqual(reasons(apart('third'), info, all), [
      "node(s) didn't match pod anti-affinity rules",
    ])
  }
})

test('anti-affinity of existing pods is honoured for new ones', () => {
  const guard = pod({
    name: 'guard',
    spec: {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: { matchLabels: { app: 'noisy' } },
            },
          ],
        },
      },
    },
  })
  const info = infoOf(node(), [guard])
  assert.deepEqual(reasons(pod({ name: 'x', labels: { app: 'noisy' } }), info), [
    "node(s) didn't satisfy existing pods anti-affinity rules",
  ])
})

test('required terms look at the namespaces that they name or select, else at their own', () => {
  const inShop = pod({ name: 'other', labels: { app: 'web' } })
  const there = { ...inShop, metadata: { ...inShop.metadata, namespace: 'shop' } }
  const info = infoOf(node(), [there])
  const found = (scope: object): readonly string[] => {
    const term = {
      topologyKey: 'kubernetes.io/hostname',
      labelSelector: { matchLabels: { app: 'web' } },
      ...scope,
    }
    const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] }
    const asking = pod({ name: 'x', spec: { affinity: { podAntiAffinity } } })
    const snapshot = snapshotOf([info], (name) =>
      name === 'shop' ? { team: 'goods' } : { team: 'money' },
    )
    return filters.flatMap(({ filter }) => filter(asking, snapshot)?.(info) ?? [])
  }
  const text = "node(s) didn't match pod anti-affinity rules"
  assert.deepEqual(found({}), [])
  assert.deepEqual(found({ namespaces: ['shop'] }), [text])
  assert.deepEqual(found({ namespaceSelector: {} }), [text])
  assert.deepEqual(found({ namespaceSelector: { matchLabels: { team: 'goods' } } }), [text])
  assert.deepEqual(found({ namespaceSelector: { matchLabels: { team: 'money' } } }), [])
  const money = { matchLabels: { team: 'money' } }
  assert.deepEqual(found({ namespaces: ['shop'], namespaceSelector: money }), [text])
})

test('maxSkew 1 DoNotSchedule over zones', () => {
  const spread = (name: string) =>
    pod({
      name,
      labels: { app: 'a' },
      spec: {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'zone',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app: 'a' } },
          },
        ],
      },
    })
  const a = infoOf(node({ name: 'a', labels: { zone: 'a' } }), [spread('one')])
  const b = infoOf(node({ name: 'b', labels: { zone: 'b' } }))
  const unlabelled = infoOf(node({ name: 'c' }))
  const all = [a, b, unlabelled]
  const text = "node(s) didn't match pod topology spread constraints"
  assert.deepEqual(reasons(spread('two'), a, all), [text])
  assert.deepEqual(reasons(spread('two'), b, all), [])
  assert.deepEqual(reasons(spread('two'), unlabelled, all), [`${text} (missing required label)`])
})

test('an extended resource that devices serve on the node is not counted there', () => {
  const requests = { 'example.com/gpu': '1', 'none.com/x': '1' }
  const asking = pod({ spec: { containers: [{ name: 'c', image: 'x', resources: { requests } }] } })
  const info = infoOf(node())
  assert.deepEqual(reasons(asking, info), [
    'Insufficient example.com/gpu',
    'Insufficient none.com/x',
  ])
  const own = filtersWith([], (_, resource) => resource === 'example.com/gpu')
  const found = own.flatMap(({ filter }) => filter(asking, snapshotOf([info]))?.(info) ?? [])
  assert.deepEqual(found, ['Insufficient none.com/x'])
  assert.deepEqual(
    own.map(({ name }) => name),
    filters.map(({ name }) => name),
  )
})

test('Only nodes that failed for a reason removal of pods can cure: not what a node has less of than is asked for', () => {
  const of = (candidate: Pod, info: NodeInfo, own = filters) => {
    const found = verdictBy(prepared(own, candidate, snapshotOf([info])), info)
    return found && [found.reasons.toSorted().join(', '), found.curable]
  }
  const asking = (requests: Record<string, string>) =>
    pod({ spec: { containers: [{ name: 'c', image: 'x', resources: { requests } }] } })
  const allocatable = { cpu: '4', memory: '8Gi', pods: '1', 'a.io/x': '0' }
  const full = infoOf(node({ labels: { zone: 'a' }, allocatable }), [withCpu('a', '3')])
  const crowded = 'Insufficient cpu, Too many pods'
  assert.deepEqual(of(asking({ cpu: '4' }), full), [crowded, true])
  assert.deepEqual(of(asking({ cpu: '4001m' }), full), [crowded, false])
  assert.deepEqual(of(asking({ cpu: '2', memory: '9Gi' }), full), [
    'Insufficient cpu, Insufficient memory, Too many pods',
    false,
  ])
  const none = infoOf(node({ allocatable: { ...allocatable, pods: '0' } }))
  assert.deepEqual(of(asking({ cpu: '1' }), none), ['Too many pods', true])
  const device = asking({ 'a.io/x': '1' })
  assert.deepEqual(of(device, full), ['Insufficient a.io/x, Too many pods', false])
  const served = filtersWith([], (_, resource) => resource === 'a.io/x')
  assert.deepEqual(of(device, full, served), ['Too many pods', true])
  const term = (topologyKey: string) => ({ topologyKey, labelSelector: {} })
  const apart = { requiredDuringSchedulingIgnoredDuringExecution: [term('zone')] }
  const roomy = infoOf(node({ labels: { zone: 'a' } }), [pod({ name: 'a' })])
  assert.deepEqual(of(pod({ spec: { affinity: { podAntiAffinity: apart } } }), roomy), [
    "node(s) didn't match pod anti-affinity rules",
    true,
  ])
  const elsewhere = { requiredDuringSchedulingIgnoredDuringExecution: [term('region')] }
  assert.deepEqual(of(pod({ spec: { affinity: { podAffinity: elsewhere } } }), roomy), [
    "node(s) didn't match pod affinity rules",
    false,
  ])
  const spread = (topologyKey: string) =>
    pod({
      spec: {
        topologySpreadConstraints: [
          {
            topologyKey,
            labelSelector: { matchExpressions: [{ key: 'none', operator: 'DoesNotExist' }] },
            maxSkew: 1,
            minDomains: 2,
            whenUnsatisfiable: 'DoNotSchedule',
          },
        ],
      },
    })
  const text = "node(s) didn't match pod topology spread constraints"
  assert.deepEqual(of(spread('zone'), roomy), [text, true])
  assert.deepEqual(of(spread('region'), roomy), [`${text} (missing required label)`, false])
})

const near = (name: string, app: string, ...terms: readonly [key: string, app: string][]): Pod => {
  const required = terms.map(([topologyKey, of]) => ({
    topologyKey,
    labelSelector: { matchLabels: { [of]: 'yes' } },
  }))
  const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required }
  return pod({ name, labels: { [app]: 'yes' }, spec: { affinity: { podAffinity } } })
}
const NOT_NEAR = ["node(s) didn't match pod affinity rules"]

test('of several required terms one pod has to match all, not one for each', () => {
  const host = (name: string, ...pods: readonly Pod[]) =>
    infoOf(node({ name, labels: { host: name } }), pods)
  const labelled = (name: string, ...labels: readonly string[]) =>
    pod({ name, labels: Object.fromEntries(labels.map((label) => [label, 'yes'])) })
  const asking = near('x', 'x', ['host', 'db'], ['host', 'cache'])
  const apart = host('apart', labelled('a', 'db'), labelled('b', 'cache'))
  assert.deepEqual(reasons(asking, apart), NOT_NEAR)
  const both = host('both', labelled('c', 'db', 'cache'))
  assert.deepEqual(reasons(asking, both, [apart, both]), [])
  assert.deepEqual(reasons(asking, apart, [apart, both]), NOT_NEAR)
})

test('the first of its group may go to any domain, but to a node that is in one', () => {
  const zoned = infoOf(node({ name: 'zoned', labels: { zone: 'a' } }))
  const bare = infoOf(node({ name: 'bare' }))
  const first = near('first', 'g', ['zone', 'g'])
  assert.deepEqual(reasons(first, zoned), [])
  assert.deepEqual(reasons(first, bare), NOT_NEAR)
  // One that is in no domain is no second.
  const taken = infoOf(node({ name: 'bare' }), [near('other', 'g')])
  assert.deepEqual(reasons(first, zoned, [taken, zoned]), [])
  // Nor is it the first when it does not match all of its terms.
  assert.deepEqual(reasons(near('x', 'g', ['zone', 'g'], ['zone', 'h']), zoned), NOT_NEAR)
})

test('a constraint with an empty selector counts no pods', () => {
  const info = infoOf(node({ labels: { host: 'n' } }), [pod({ name: 'a' }), pod({ name: 'b' })])
  const empty = infoOf(node({ labels: { host: 'm' }, spec: { unschedulable: true } }))
  const constraint = { maxSkew: 1, topologyKey: 'host', labelSelector: {} }
  const asking = pod({
    name: 'x',
    spec: {
      topologySpreadConstraints: [{ ...constraint, whenUnsatisfiable: 'DoNotSchedule' }],
    },
  })
  assert.deepEqual(reasons(asking, info, [info, empty]), [])
})

test('a pod that is being resized counts what it has until it has what it asks for', () => {
  const status = {
    name: 'c',
    image: 'x',
    imageID: 'x',
    ready: true,
    restartCount: 0,
    resources: { requests: { cpu: '2' } },
  }
  const smaller = { ...withCpu('a', '1'), status: { containerStatuses: [status] } }
  const info = infoOf(node({ allocatable: { cpu: '3', pods: '9' } }), [smaller])
  assert.deepEqual(reasons(withCpu('b', '2'), info), ['Insufficient cpu'])
  assert.deepEqual(reasons(withCpu('b', '1'), info), [])
})

test('a node has no label that nobody gave it, though objects have a member of that name', () => {
  const info = infoOf(node({ name: 'n', labels: {} }))
  const topologyKey = 'constructor'
  const labelSelector = { matchLabels: { app: 'web' } }
  const asking = (spec: Partial<Pod['spec']>): Pod =>
    pod({ name: 'x', labels: { app: 'web' }, spec: { containers: [], ...spec } })
  const spread = {
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector,
  } as const
  const podAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector }],
  }
  assert.deepEqual(reasons(asking({ topologySpreadConstraints: [spread] }), info), [
    "node(s) didn't match pod topology spread constraints (missing required label)",
  ])
  assert.deepEqual(reasons(asking({ affinity: { podAffinity } }), info), [
    "node(s) didn't match pod affinity rules",
  ])
})

test('for one node no filter is made ready behind the one that refuses it', () => {
  const refusing = { name: 'first', filter: () => () => ['no'], curable: true }
  const after = { name: 'second', filter: () => assert.fail('made ready'), curable: true }
  const info = new NodeInfo('n')
  const found = verdictBy(preparing([refusing, after], pod(), snapshotOf([info])), info)
  assert.deepEqual(found, { node: 'n', reasons: ['no'], curable: true })
})
