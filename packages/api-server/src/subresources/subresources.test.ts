import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeNamespace, PATCH, pod, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { Draft } from '@gyropilot/schema/objects'
import type { ContainerLogRequest, Kubelet, Kubelets } from '../kubelets/kubelet.ts'

/** Every node is this one; what is not given does not exist. */
function fixedKubelets(given: Partial<Kubelet>): Kubelets {
  const kubelet: Kubelet = {
    logs: () => undefined,
    exec: () => undefined,
    attach: () => undefined,
    forward: () => Promise.resolve('connection refused'),
    usage: () => ({ node: { cpuNanoCores: 0, memoryBytes: 0 }, pods: [] }),
    ...given,
  }
  return { kubeletOf: () => kubelet }
}

async function inNamespace(kubelets?: Kubelets): Promise<TestServer & { ns: string }> {
  const server = await startServer(kubelets === undefined ? {} : { kubelets })
  return { ...server, ns: await makeNamespace(server, 'a') }
}

const binding = (name: string, node = 'n1', metadata: Draft = {}): Draft => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name, ...metadata },
  target: { kind: 'Node', name: node },
})
const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

describe('binding', () => {
  test('sets the node, the condition, and what the Binding brings; the generation stays', async () => {
    const { server, call, ns, clock } = await inNamespace()
    await call('POST', '/api/v1/nodes', {
      metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z' } },
    })
    const before = await call('POST', `${ns}/pods`, pod('b1'))
    await clock.advance(5_000)
    const answer = await call(
      'POST',
      `${ns}/pods/b1/binding`,
      binding('b1', 'n1', { annotations: { x: 'y' }, labels: { l: 'm' } }),
    )
    assert.deepEqual([answer.status, answer.body], [201, SUCCESS])
    const { body } = await call('GET', `${ns}/pods/b1`)
    assert.equal(body.spec.nodeName, 'n1')
    assert.equal(body.metadata.annotations.x, 'y')
    assert.equal(body.metadata.labels.l, 'm')
    assert.equal(body.metadata.generation, before.body.metadata.generation)
    assert.deepEqual(body.status.conditions, [
      {
        type: 'PodScheduled',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: '2026-11-21T00:00:05Z',
      },
    ])
    await server.stop()
  })

  test('Given a pod bound to n1, when bound again to n1, then 409 already assigned.', async () => {
    const { server, call, ns } = await inNamespace()
    await call('POST', `${ns}/pods`, pod('b1'))
    await call('POST', `${ns}/bindings`, binding('b1'))
    const { status, body } = await call('POST', `${ns}/pods/b1/binding`, binding('b1'))
    const why = 'pod b1 is already assigned to node "n1"'
    assert.deepEqual(
      [status, body.message],
      [409, `Operation cannot be fulfilled on pods/binding "b1": ${why}`],
    )
    await server.stop()
  })

  test('Given a gated pod, when bound, then 409 non-empty schedulingGates.', async () => {
    const { server, call, ns } = await inNamespace()
    await call('POST', `${ns}/pods`, pod('b2', { schedulingGates: [{ name: 'g' }] }))
    const { status, body } = await call('POST', `${ns}/pods/b2/binding`, binding('b2'))
    assert.equal(status, 409)
    assert.match(body.message, /pod b2 has non-empty .spec.schedulingGates$/)
    await server.stop()
  })

  for (const [title, body, status, message] of [
    ['another name', binding('other'), 400, 'name in URL does not match name in Binding object'],
    [
      'no node',
      { metadata: { name: 'p' }, target: { kind: 'Node' } },
      500,
      'target.name: Required value',
    ],
    [
      'not a node',
      { metadata: { name: 'p' }, target: { kind: 'Foo', name: 'n' } },
      500,
      'target.kind: Unsupported value: "Foo": supported values: "Node", "<empty>"',
    ],
  ] as const) {
    test(`refuses ${title}`, async () => {
      const { server, call, ns } = await inNamespace()
      await call('POST', `${ns}/pods`, pod('p'))
      const answer = await call('POST', `${ns}/pods/p/binding`, body)
      assert.deepEqual([answer.status, answer.body.message], [status, message])
      await server.stop()
    })
  }

  test('uid and version of the Binding are preconditions', async () => {
    const { server, call, ns } = await inNamespace()
    await call('POST', `${ns}/pods`, pod('p'))
    const { status, body } = await call(
      'POST',
      `${ns}/pods/p/binding`,
      binding('p', 'n1', { uid: 'other' }),
    )
    assert.equal(status, 409)
    assert.match(body.message, /StorageError: invalid object, Code: 4.*UID in precondition: other/)
    await server.stop()
  })
})

describe('eviction', () => {
  const eviction = (name: string): Draft => ({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
  })
  const budgets = '/apis/policy/v1/namespaces/a/poddisruptionbudgets'

  async function runningPod(status?: Draft, name = 'x'): Promise<TestServer & { ns: string }> {
    const server = await inNamespace()
    const { call, ns } = server
    await call('POST', `${ns}/pods`, pod('a', { nodeName: 'n1' }, { labels: { app: 'a' } }))
    await call(
      'PATCH',
      `${ns}/pods/a/status`,
      { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
      PATCH,
    )
    await call('POST', budgets, {
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
    })
    if (status !== undefined)
      await call(
        'PATCH',
        `${budgets}/${name}/status`,
        { status: { observedGeneration: 1, ...status } },
        PATCH,
      )
    return server
  }

  test('Given a fresh PDB and no disruption controller, when a running pod is evicted, then 429, Retry-After 10.', async () => {
    const { server, call, ns } = await runningPod()
    const { status, body, headers } = await call('POST', `${ns}/pods/a/eviction`, eviction('a'))
    assert.deepEqual(
      [status, body.message, headers['retry-after']],
      [429, "Cannot evict pod as it would violate the pod's disruption budget.", '10'],
    )
    const cause = {
      reason: 'DisruptionBudget',
      message: 'The disruption budget x is still being processed by the server.',
    }
    assert.deepEqual(body.details, { causes: [cause], retryAfterSeconds: 10 })
    await server.stop()
  })

  test('Given disruptionsAllowed 1, when evicted, then 201; the PDB shows 0, disruptedPods[pod], condition DisruptionAllowed False InsufficientPods; the pod has condition DisruptionTarget and a deletionTimestamp.', async () => {
    const { server, call, ns, stored } = await runningPod({
      disruptionsAllowed: 1,
      currentHealthy: 1,
      desiredHealthy: 0,
      expectedPods: 1,
    })
    const dry = await call('POST', `${ns}/pods/a/eviction?dryRun=All`, eviction('a'))
    assert.equal(dry.status, 201)
    assert.equal(stored('poddisruptionbudgets.policy', 'a/x')!['status'].disruptionsAllowed, 1)
    const watched: Draft[] = []
    const watch = server.store.watch('pods', 'a/', server.store.revision, ({ object }) =>
      watched.push(object),
    )
    const answer = await call('POST', `${ns}/pods/a/eviction`, eviction('a'))
    if (watch !== 'expired') watch.stop()
    assert.deepEqual([answer.status, answer.body], [201, SUCCESS])
    const { status } = stored('poddisruptionbudgets.policy', 'a/x')!
    assert.deepEqual([status.disruptionsAllowed, Object.keys(status.disruptedPods)], [0, ['a']])
    assert.deepEqual(
      [status.conditions[0].type, status.conditions[0].status, status.conditions[0].reason],
      ['DisruptionAllowed', 'False', 'InsufficientPods'],
    )
    const marked = watched[0]!['status'].conditions.find(
      ({ type }: Draft) => type === 'DisruptionTarget',
    )
    assert.deepEqual(
      [marked.status, marked.reason, marked.message],
      ['True', 'EvictionByEvictionAPI', 'Eviction API: evicting'],
    )
    assert.equal(
      watched[0]!['metadata'].deletionTimestamp,
      undefined,
      'the condition is a write of its own',
    )
    assert.ok(watched.length > 1)
    await server.stop()
  })

  for (const [title, status, cause] of [
    [
      'too few healthy',
      { currentHealthy: 1, desiredHealthy: 1 },
      'The disruption budget x needs 1 healthy pods and has 1 currently',
    ],
    [
      'failed sync',
      {
        conditions: [
          {
            type: 'DisruptionAllowed',
            status: 'False',
            reason: 'SyncFailed',
            message: 'oops',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
      'The disruption budget x does not allow evicting pods currently because it failed sync: oops',
    ],
    [
      'nothing known',
      { currentHealthy: 2, desiredHealthy: 1 },
      'The disruption budget x does not allow evicting pods currently',
    ],
  ] as const) {
    test(`refused without Retry-After: ${title}`, async () => {
      const { server, call, ns } = await runningPod({ disruptionsAllowed: 0, ...status })
      const answer = await call('POST', `${ns}/pods/a/eviction`, eviction('a'))
      assert.deepEqual(
        [answer.status, answer.body.details.causes[0].message, answer.headers['retry-after']],
        [429, cause, undefined],
      )
      await server.stop()
    })
  }

  test('Given a Pending pod and a PDB with 0 allowed, then eviction succeeds.', async () => {
    const { server, call, ns } = await runningPod({ disruptionsAllowed: 0 })
    await call('POST', `${ns}/pods`, pod('p', {}, { labels: { app: 'a' } }))
    await call('PATCH', `${ns}/pods/p/status`, { status: { phase: 'Pending' } }, PATCH)
    assert.equal((await call('POST', `${ns}/pods/p/eviction`, eviction('p'))).status, 201)
    await server.stop()
  })

  test('Given two matching PDBs, then 500.', async () => {
    const { server, call, ns } = await runningPod({ disruptionsAllowed: 1 })
    await call('POST', budgets, { metadata: { name: 'y' }, spec: { selector: {} } })
    const { status, body } = await call('POST', `${ns}/pods/a/eviction`, eviction('a'))
    const message =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
    assert.deepEqual([status, body.message], [500, message])
    await server.stop()
  })

  test('an unready pod goes without the budget when enough others are healthy', async () => {
    const { server, call, ns } = await runningPod({
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
    })
    await call(
      'PATCH',
      `${ns}/pods/a/status`,
      { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
      PATCH,
    )
    assert.equal((await call('POST', `${ns}/pods/a/eviction`, eviction('a'))).status, 201)
    await server.stop()
  })
})

describe('scale', () => {
  test('shows replicas and selector, takes replicas only', async () => {
    const { server, call } = await inNamespace()
    const template = {
      metadata: { labels: { app: 'a', tier: 'x' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }
    const selector = {
      matchLabels: { app: 'a' },
      matchExpressions: [{ key: 'tier', operator: 'In', values: ['y', 'x'] }],
    }
    const path = '/apis/apps/v1/namespaces/a/deployments'
    await call('POST', path, { metadata: { name: 'd' }, spec: { replicas: 3, selector, template } })
    const { body } = await call('GET', `${path}/d/scale`)
    assert.deepEqual(
      [body.kind, body.spec, body.status],
      ['Scale', { replicas: 3 }, { replicas: 0, selector: 'app=a,tier in (x,y)' }],
    )
    const put = await call('PUT', `${path}/d/scale`, {
      metadata: { name: 'd', namespace: 'a' },
      spec: { replicas: 7 },
    })
    assert.deepEqual([put.status, put.body.spec], [200, { replicas: 7 }])
    const zero = await call('PATCH', `${path}/d/scale`, { spec: { replicas: 0 } }, PATCH)
    assert.deepEqual([zero.status, zero.body.spec], [200, {}])
    const parent = await call('GET', `${path}/d`)
    assert.deepEqual([parent.body.spec.replicas, parent.body.metadata.generation], [0, 3])
    const stale = await call('PUT', `${path}/d/scale`, {
      metadata: { name: 'd', namespace: 'a', resourceVersion: '1' },
      spec: { replicas: 7 },
    })
    assert.equal(stale.status, 409)
    const negative = await call('PATCH', `${path}/d/scale`, { spec: { replicas: -1 } }, PATCH)
    const why = 'spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    assert.equal(negative.body.message, `Scale.autoscaling "d" is invalid: ${why}`)
    assert.equal(
      (await call('GET', `${path}/y/scale`)).body.message,
      'deployments.apps "y" not found',
    )
    await server.stop()
  })
})

describe('token', () => {
  const request = (spec: Draft = {}): Draft => ({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec,
  })

  test('is for the account, the default audience and an hour', async () => {
    const { server, call, ns } = await inNamespace()
    const { status, body } = await call('POST', `${ns}/serviceaccounts/default/token`, request())
    assert.equal(status, 201)
    assert.deepEqual(body.spec, {
      audiences: ['https://kubernetes.default.svc'],
      expirationSeconds: 3600,
      boundObjectRef: null,
    })
    assert.equal(body.status.expirationTimestamp, '2026-11-21T01:00:00Z')
    const who = await call(
      'POST',
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      {},
      { authorization: `Bearer ${body.status.token}` },
    )
    assert.equal(who.body.status.userInfo.username, 'system:serviceaccount:a:default')
    await server.stop()
  })

  for (const [spec, status, message] of [
    [
      { expirationSeconds: 1 },
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
    ],
    [{ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } }, 404, 'pods "p" not found'],
    [
      { boundObjectRef: { kind: 'Foo', apiVersion: 'v1', name: 'p' } },
      400,
      'cannot bind token to object of type /v1, Kind=Foo',
    ],
  ] as const) {
    test(`refuses: ${message}`, async () => {
      const { server, call, ns } = await inNamespace()
      const answer = await call('POST', `${ns}/serviceaccounts/default/token`, request(spec))
      assert.deepEqual([answer.status, answer.body.message], [status, message])
      await server.stop()
    })
  }

  test('bound to a pod: its uid must match, its node comes along', async () => {
    const { server, call, ns } = await inNamespace()
    const { body } = await call('POST', `${ns}/pods`, pod('p', { nodeName: 'n1' }))
    const bound = { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: body.metadata.uid }
    const { status } = (
      await call('POST', `${ns}/serviceaccounts/default/token`, request({ boundObjectRef: bound }))
    ).body
    const review = await call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      spec: { token: status.token },
    })
    assert.equal(review.body.status.authenticated, true)
    assert.deepEqual(review.body.status.user.extra['authentication.kubernetes.io/node-name'], [
      'n1',
    ])
    const foreign = await call(
      'POST',
      `${ns}/serviceaccounts/default/token`,
      request({ boundObjectRef: { ...bound, uid: 'x' } }),
    )
    assert.equal(foreign.status, 409)
    await server.stop()
  })
})

describe('reviews', () => {
  const path = '/apis/authorization.k8s.io/v1'
  const asking = (spec: Draft = {}): Draft => ({
    spec: { resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'a' }, ...spec },
  })

  test('answer what the authorizer says, in its words', async () => {
    const { server, call, as } = await inNamespace()
    assert.deepEqual(
      (await call('POST', `${path}/selfsubjectaccessreviews`, asking())).body.status,
      { allowed: true },
    )
    assert.deepEqual(
      (await call('POST', `${path}/subjectaccessreviews`, asking({ user: 'nobody' }))).body.status,
      { allowed: false },
    )
    const self = await as('jane', 'POST', `${path}/selfsubjectrulesreviews`, {
      spec: { namespace: 'a' },
    })
    assert.deepEqual(self.body.spec, {})
    assert.equal(self.body.status.incomplete, false)
    const node = await call(
      'POST',
      `${path}/selfsubjectrulesreviews`,
      { spec: { namespace: 'a' } },
      { 'impersonate-user': 'system:node:n', 'impersonate-group': 'system:nodes' },
    )
    assert.deepEqual(
      [node.body.status.incomplete, node.body.status.evaluationError],
      [true, 'node authorizer does not support user rule resolution'],
    )
    assert.ok(
      self.body.status.nonResourceRules.some(({ nonResourceURLs }: Draft) =>
        nonResourceURLs.includes('/version'),
      ),
    )
    await server.stop()
  })

  test('a local review is about its own namespace', async () => {
    const { server, call, ns } = await inNamespace()
    const other = {
      user: 'x',
      resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'other' },
    }
    const { status, body } = await call(
      'POST',
      ns.replace('/api/v1', path) + '/localsubjectaccessreviews',
      { spec: other },
    )
    const why =
      'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace'
    assert.deepEqual([status, body.message], [422, `.authorization.k8s.io "" is invalid: ${why}`])
    await server.stop()
  })

  test('an unknown token is no user', async () => {
    const { server, call } = await inNamespace()
    const { status, body } = await call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      spec: { token: 'bogus' },
    })
    assert.deepEqual([status, body.status], [201, { user: {}, error: 'invalid bearer token' }])
    await server.stop()
  })
})

describe('impersonation', () => {
  test('of a user, of a service account with its groups, of nobody', async () => {
    const { server, call } = await inNamespace()
    const self = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const jane = await call(
      'POST',
      self,
      {},
      {
        'impersonate-user': 'jane',
        'impersonate-group': ['devs'],
        'impersonate-extra-team%2Fid': '7',
      },
    )
    assert.deepEqual(jane.body.status.userInfo, {
      username: 'jane',
      groups: ['devs', 'system:authenticated'],
      extra: { 'team/id': ['7'] },
    })
    const robot = await call(
      'POST',
      self,
      {},
      { 'impersonate-user': 'system:serviceaccount:a:robot' },
    )
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated']
    assert.deepEqual(robot.body.status.userInfo.groups, groups)
    const nobody = await call('GET', '/api/v1/pods', undefined, { 'impersonate-group': 'devs' })
    assert.equal(nobody.status, 400)
    assert.match(
      nobody.body.message,
      /^requested &user.DefaultInfo\{Name:"".*without impersonating a user name$/,
    )
    await server.stop()
  })

  test('needs the right, whole or for one kind of request', async () => {
    const { server, call } = await inNamespace()
    const asJane = { authorization: 'Bearer jane-token', 'impersonate-user': 'joe' }
    const refused = await call('GET', '/api/v1/namespaces', undefined, asJane)
    const why =
      'User "jane" cannot impersonate-on:user-info:list resource "namespaces" in API group "" at the cluster scope'
    assert.deepEqual(
      [refused.status, refused.body.message],
      [403, `namespaces is forbidden: ${why}`],
    )
    const list = (headers: Record<string, string>) =>
      call('GET', '/api/v1/namespaces', undefined, {
        authorization: asJane.authorization,
        ...headers,
      })
    const account = { 'impersonate-user': 'system:serviceaccount:a:robot' }
    const node = { 'impersonate-user': 'system:node:n' }
    const all = { 'impersonate-uid': '1', 'impersonate-group': 'g', 'impersonate-extra-a': 'b' }
    const masters = { 'impersonate-user': 'joe', 'impersonate-group': 'system:masters' }
    for (const [headers, can] of [
      [account, 'impersonate-on:serviceaccount:list'],
      [node, 'impersonate-on:arbitrary-node:list'],
      [masters, 'impersonate-on:user-info:list'],
    ] as const)
      assert.match((await list(headers)).body.message, new RegExp(`cannot ${can} resource`))
    // A service account or a node with more than its name is a whole identity.
    const serviceAccounts = 'resource "serviceaccounts" in API group "" in the namespace "a"'
    const users = 'resource "users" in API group "" at the cluster scope'
    for (const [headers, of, resource] of [
      [{ ...account, 'impersonate-group': 'g' }, 'serviceaccounts "robot"', serviceAccounts],
      [{ ...account, 'impersonate-uid': '1' }, 'serviceaccounts "robot"', serviceAccounts],
      [{ ...node, 'impersonate-extra-a': 'b' }, 'users "system:node:n"', users],
      [{ ...node, ...all }, 'users "system:node:n"', users],
    ] as const)
      assert.equal(
        (await list(headers)).body.message,
        `${of} is forbidden: User "jane" cannot impersonate ${resource}`,
      )
    const rules = [
      {
        verbs: ['impersonate'],
        apiGroups: [''],
        resources: ['users'],
        resourceNames: ['system:node:n'],
      },
      {
        verbs: ['impersonate:user-info'],
        apiGroups: ['authentication.k8s.io'],
        resources: ['users'],
        resourceNames: ['joe'],
      },
      { verbs: ['impersonate-on:user-info:list'], apiGroups: [''], resources: ['namespaces'] },
    ]
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await call('POST', `${rbac}/clusterroles`, { metadata: { name: 'as-joe' }, rules })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'as-joe' }
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }]
    await call('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'as-joe' },
      roleRef,
      subjects,
    })
    const joe = await call('GET', '/api/v1/namespaces', undefined, asJane)
    assert.match(joe.body.message, /User "joe" cannot list resource "namespaces"/)
    assert.match(
      (await list({ ...node, ...all })).body.message,
      /^uids\.authentication\.k8s\.io "1" is/,
    )
    const { 'impersonate-uid': _, ...others } = all
    assert.match((await list({ ...node, ...others })).body.message, /^groups "g" is forbidden/)
    await server.stop()
  })
})

describe('log', () => {
  const requests: ContainerLogRequest[] = []
  const kubelets = fixedKubelets({
    logs(request) {
      requests.push(request)
      return request.container === 'waiting' || request.previous ? undefined : lines()
    },
  })
  async function* lines(): AsyncGenerator<string> {
    yield 'one\n'
    yield 'two\n'
  }

  async function withPod(): Promise<TestServer & { ns: string }> {
    const server = await inNamespace(kubelets)
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } })
    await server.call(
      'PATCH',
      '/api/v1/nodes/n1/status',
      { status: { addresses: [{ type: 'InternalIP', address: '10.9.9.9' }] } },
      PATCH,
    )
    await server.call('POST', `${server.ns}/pods`, pod('m', { nodeName: 'n1' }))
    return server
  }

  test('is what the container wrote, as plain text', async () => {
    const { server, call, ns } = await withPod()
    const { status, body, headers } = await call(
      'GET',
      `${ns}/pods/m/log?tailLines=2&sinceSeconds=60&timestamps=true`,
    )
    assert.deepEqual([status, body, headers['content-type']], [200, 'one\ntwo\n', 'text/plain'])
    const { container, tailLines, sinceMs, timestamps, follow } = requests.at(-1)!
    assert.deepEqual(
      { container, tailLines, sinceMs, timestamps, follow },
      {
        container: 'c',
        tailLines: 2,
        sinceMs: Date.UTC(2026, 10, 20, 23, 59),
        timestamps: true,
        follow: false,
      },
    )
    await server.stop()
  })

  test('of a pod without node is empty; of a node that is gone names the node', async () => {
    const { server, call, ns } = await withPod()
    await call('POST', `${ns}/pods`, pod('unbound'))
    assert.equal((await call('GET', `${ns}/pods/unbound/log`)).status, 204)
    await call('POST', `${ns}/pods`, pod('lost', { nodeName: 'n9' }))
    assert.equal((await call('GET', `${ns}/pods/lost/log`)).body.message, 'pods "n9" not found')
    await server.stop()
  })

  test('asks which container, refuses what cannot be', async () => {
    const { server, call, ns } = await withPod()
    const containers = [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ]
    await call(
      'POST',
      `${ns}/pods`,
      pod('many', { nodeName: 'n1', containers, initContainers: [{ name: 'i', image: 'i' }] }),
    )
    const message = async (query: string, name = 'many'): Promise<string> =>
      (await call('GET', `${ns}/pods/${name}/log${query}`)).body.message
    assert.equal(
      await message(''),
      'a container name must be specified for pod many, choose one of: [i a b]',
    )
    assert.equal(await message('?container=zz'), 'container zz is not valid for pod many')
    await call(
      'POST',
      `${ns}/pods`,
      pod('prepared', {
        nodeName: 'n1',
        containers: containers.slice(0, 1),
        initContainers: [{ name: 'i', image: 'i' }],
      }),
    )
    const onlyMain = await call('GET', `${ns}/pods/prepared/log`)
    assert.notEqual(onlyMain.status, 400, 'one main container is the one that is meant')
    assert.equal(
      await message('?tailLines=-1', 'm'),
      'PodLogOptions "m" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    )
    const both = '?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z'
    assert.equal(
      await message(both, 'm'),
      'PodLogOptions "m" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    )
    assert.equal(
      await message('?previous=true', 'm'),
      'previous terminated container "c" in pod "m" not found',
    )
    await server.stop()
  })
})

test('exec, attach and port-forward are refused before any upgrade', async () => {
  const { server, call, ns } = await inNamespace()
  await call('POST', `${ns}/pods`, pod('b4'))
  for (const kind of ['exec', 'attach', 'portforward']) {
    const { status, body } = await call('POST', `${ns}/pods/b4/${kind}?container=c&command=ls`)
    assert.deepEqual([status, body.message], [400, 'pod b4 does not have a host assigned'])
  }
  await server.stop()
})

test('component statuses are asked, not stored', async () => {
  const { server, call } = await inNamespace()
  const { body } = await call('GET', '/api/v1/componentstatuses')
  assert.deepEqual(
    body.items.map(({ metadata }: Draft) => metadata.name),
    ['controller-manager', 'scheduler', 'etcd-0'],
  )
  assert.equal(
    (await call('GET', '/api/v1/componentstatuses/etcd-0')).body.conditions[0].status,
    'True',
  )
  assert.equal((await call('GET', '/api/v1/componentstatuses/x')).status, 404)
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const table = await call('GET', '/api/v1/componentstatuses/scheduler', undefined, { accept })
  assert.deepEqual(table.body.rows[0].cells, ['scheduler', 'Healthy', 'ok', ''])
  await server.stop()
})
