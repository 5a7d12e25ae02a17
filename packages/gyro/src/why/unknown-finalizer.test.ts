import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ago, deleted, facts, found, nowMs, quietCluster } from './example-facts.ts'
import { explain } from './explain.ts'
import { isHeld, likelyOwners, setterOf, setterText } from './unknown-finalizer.ts'

const managed = (manager: string, seconds: number, ...names: readonly string[]) => ({
  manager,
  operation: 'Update' as const,
  time: ago(seconds),
  fieldsV1: {
    'f:metadata': {
      'f:finalizers': Object.fromEntries(
        ['.', ...names.map((name) => `v:"${name}"`)].map((key) => [key, {}]),
      ),
    },
  },
})
const held = (...managedFields: readonly object[]) =>
  found('ConfigMap', 'c', {
    metadata: { ...deleted(9, 'first.io/a', 'paint.example.com/x'), managedFields },
  })

test('who set a finalizer is read from managedFields, the newest of several', () => {
  const { object } = held(
    managed('painter', 50, 'paint.example.com/x'),
    managed('later', 40, 'paint.example.com/x', 'other'),
    managed('wrong', 30, 'paint.example.com/xy'),
    { manager: 'status', fieldsV1: { 'f:status': {} } },
    { manager: 'empty' },
  )
  assert.equal(setterOf(object, 'paint.example.com/x')?.manager, 'later')
  assert.equal(setterOf(object, 'first.io/a'), undefined)
})

test('what is said of it: by hand, by a program, by nobody known', () => {
  const said = (manager: string) => setterText(managed(manager, 60, 'x'), nowMs)
  assert.match(
    said('kubectl-edit'),
    /^set by kubectl-edit \(Update\), a tool used by hand, since \S+ \(1m ago\)$/,
  )
  assert.match(said('painter'), /^set by painter \(Update\), since /)
  for (const tool of ['kubectl', 'kubectl-client-side-apply', 'python-requests', 'Python3', 'helm'])
    assert.match(said(tool), /a tool used by hand/, tool)
  for (const controller of ['helm-controller', 'node-agent-operator', 'curlew', 'kubectler'])
    assert.doesNotMatch(said(controller), /by hand/, controller)
  assert.match(setterText(undefined, nowMs), /is not recorded/)
  assert.equal(setterText({}, nowMs), 'set by somebody without a name (Update)')
})

test('an unknown finalizer without a controller: by hand, tested against its place in the list', () => {
  const [, reason] = explain(
    facts(held(managed('kubectl-edit', 60, 'paint.example.com/x'))),
  ).reasons
  assert.equal(reason!.since, ago(60))
  assert.match(reason!.remover!, /does not seem to run/)
  const patch = /kubectl patch configmap\/c -n shop --type=json -p='(.*)'$/.exec(
    reason!.release,
  )![1]!
  assert.deepEqual(JSON.parse(patch), [
    { op: 'test', path: '/metadata/finalizers/1', value: 'paint.example.com/x' },
    { op: 'remove', path: '/metadata/finalizers/1' },
  ])
})

const workload = (namespace: string, name: string, ready = 1) => ({
  kind: 'deployment',
  namespace,
  name,
  replicas: 1,
  ready,
})
const lease = (name: string, holderIdentity: string | undefined, seconds: number) => ({
  metadata: { name, namespace: 'ops' },
  spec: { holderIdentity, renewTime: ago(seconds), leaseDurationSeconds: 15 },
})

test('a controller of that name that runs is named, and nobody is told to remove by hand', () => {
  const workloads = [workload('ops', 'paint-controller'), workload('ops', 'web')]
  const given = facts(held(managed('painter', 60, 'paint.example.com/x')), {
    cluster: { ...quietCluster, workloads },
  })
  const [, reason] = explain(given).reasons
  assert.match(reason!.remover!, /probably the controller below, which runs/)
  assert.deepEqual(reason!.evidence.slice(1), ['deployment ops/paint-controller: 1 of 1 ready'])
  assert.doesNotMatch(reason!.release, /kubectl/)
})

test('a program set it and none of its name is found: nobody is told to remove by hand', () => {
  for (const setters of [[managed('painter', 60, 'paint.example.com/x')], []]) {
    const [, reason] = explain(facts(held(...setters))).reasons
    assert.equal(reason!.remover, 'a controller; none with a name like it was found')
    assert.doesNotMatch(reason!.release, /kubectl/)
  }
})

test('where workloads or leases may not be listed, nobody is said not to run', () => {
  const failed = { resource: 'deployments.apps', reason: 'no', forbidden: true }
  const given = facts(held(managed('kubectl-edit', 60, 'paint.example.com/x')), {
    cluster: {
      ...quietCluster,
      workloads: [workload('ops', 'paint-controller', 0)],
      unread: { webhooks: [], controllers: [failed] },
    },
  })
  const [, reason] = explain(given).reasons
  assert.equal(reason!.remover, 'a controller; whether it runs cannot be seen')
  assert.doesNotMatch(reason!.release, /kubectl/)
  assert.ok(
    reason!.evidence.includes(
      'deployments.apps could not be looked at: this user may not list them',
    ),
  )
})

/** Deployments as they are called upstream, for finalizers whose own words are not in their names. */
const NAMESAKES: readonly (readonly [string, string, string])[] = [
  ['finalizers.fluxcd.io', 'helm-controller', 'flux-system/helm-controller'],
  ['ingress.k8s.aws/resources', 'controller', 'kube-system/aws-load-balancer-controller'],
  ['group.ingress.k8s.aws/shop', 'controller', 'kube-system/aws-load-balancer-controller'],
  ['elbv2.k8s.aws/resources', 'controller', 'kube-system/aws-load-balancer-controller'],
  ['service.k8s.aws/resources', 'controller', 'kube-system/aws-load-balancer-controller'],
  ['finalizers.s3.services.k8s.aws/Bucket', 'controller', 'ack-system/ack-s3-controller'],
  ['karpenter.k8s.aws/termination', 'karpenter', 'kube-system/karpenter'],
  ['cluster.cluster.x-k8s.io', 'manager', 'capi-system/capi-controller-manager'],
  ['awscluster.infrastructure.cluster.x-k8s.io', 'manager', 'capa-system/capa-controller-manager'],
]
for (const [finalizer, manager, name] of NAMESAKES) {
  test(`${finalizer} set by ${manager} is taken away by ${name}`, () => {
    const all = ['ingress-nginx/ingress-nginx-controller', ...NAMESAKES.map(([, , own]) => own)]
    const workloads = [...new Set(all)].map((each) => {
      const [namespace, own] = each.split('/')
      return workload(namespace!, own!)
    })
    const owners = likelyOwners(finalizer, manager, { workloads, leases: [] }, nowMs)
    assert.deepEqual(
      owners.map(({ text }) => text),
      [`deployment ${name}: 1 of 1 ready`],
    )
  })
}

test('a lease is like its controller by its namespace, too', () => {
  const flux = lease('leader', 'x', 3)
  const leases = [{ ...flux, metadata: { name: 'leader', namespace: 'flux-system' } }]
  const owners = likelyOwners('finalizers.fluxcd.io', undefined, { workloads: [], leases }, nowMs)
  assert.deepEqual(owners, [
    { text: 'lease flux-system/leader held by x, renewed 3s ago', runs: true },
  ])
})

const LIKELY: readonly (readonly [string, string, string | undefined, readonly string[]])[] = [
  ['by the domain', 'finalizers.kyverno.io/x', undefined, ['kyverno']],
  ['by the manager', 'x.io/y', 'kyverno', ['kyverno']],
  ['not by a tool of the hand', 'x.io/y', 'kubectl-kyverno', []],
  ['not by words that all projects have', 'controller.example.com/y', 'manager', []],
  ['not by short words', 'web.io/y', undefined, []],
  ['by a name without a slash', 'kyverno', undefined, ['kyverno']],
  ['not by the name behind the slash', 'x.io/kyverno', undefined, []],
]
for (const [title, finalizer, manager, names] of LIKELY) {
  test(`a likely owner is found ${title}`, () => {
    const workloads = ['kyverno', 'controller', 'manager', 'example', 'web'].map((name) =>
      workload('ns', name),
    )
    const owners = likelyOwners(finalizer, manager, { workloads, leases: [] }, nowMs)
    assert.deepEqual(
      owners.map(({ text }) => text),
      names.map((name) => `deployment ns/${name}: 1 of 1 ready`),
    )
  })
}

test('a likely owner that is not ready, or whose lease is old, does not run', () => {
  const owners = likelyOwners(
    'kyverno.io/x',
    undefined,
    {
      workloads: [workload('kyverno', 'admission', 0)],
      leases: [
        lease('kyverno', 'k1', 31),
        lease('x', 'kyverno-1', 30),
        lease('kyverno', undefined, 1),
      ],
    },
    nowMs,
  )
  assert.deepEqual(owners, [
    { text: 'deployment kyverno/admission: 0 of 1 ready', runs: false },
    { text: 'lease ops/kyverno held by k1, renewed 31s ago', runs: false },
    { text: 'lease ops/x held by kyverno-1, renewed 30s ago', runs: true },
    { text: 'lease ops/kyverno held by nobody, renewed 1s ago', runs: false },
  ])
  assert.equal(isHeld({ spec: { holderIdentity: 'a' } }, nowMs), false, 'never renewed')
})
