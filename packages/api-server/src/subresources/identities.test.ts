import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pod } from '../bootstrap/fixtures.ts'
import type { Draft } from '@gyropilot/schema/objects'
import { inNamespace } from './fixtures.ts'

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
    [
      { boundObjectRef: { kind: 'Pod', apiVersion: 'apps/v1', name: 'p' } },
      400,
      'cannot bind token to object of type apps/v1, Kind=Pod',
    ],
    [
      { boundObjectRef: { kind: 'Pod', apiVersion: 'a/b/c', name: 'q' } },
      404,
      'pods "q" not found',
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
    await call('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings', {
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'gone' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    })
    const self = await as('jane', 'POST', `${path}/selfsubjectrulesreviews`, {
      spec: { namespace: 'a' },
    })
    assert.deepEqual(self.body.spec, {})
    assert.deepEqual(
      [self.body.status.incomplete, self.body.status.evaluationError],
      [false, 'clusterrole.rbac.authorization.k8s.io "gone" not found'],
    )
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

  test('a token of the server that holds no more is told why, a minute after its end', async (t) => {
    const { server, clock, call } = await inNamespace()
    t.after(() => server.stop())
    const accounts = '/api/v1/namespaces/a/serviceaccounts'
    const spec = { expirationSeconds: 600 }
    const { body } = await call('POST', `${accounts}/default/token`, { spec })
    const { token } = body.status
    const answer = async (asked: object = {}): Promise<unknown> => {
      const review = { spec: { token, ...asked } }
      const reviewed = await call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', review)
      return reviewed.body.status.error ?? reviewed.body.status.user.username
    }
    await clock.advance(660_000)
    assert.equal(await answer(), 'system:serviceaccount:a:default')
    await clock.advance(1000)
    const late = 'service account token has expired'
    assert.equal(await answer(), `[invalid bearer token, ${late}]`)
    const other = 'token audiences ["https://kubernetes.default.svc"] is invalid'
    assert.equal(
      await answer({ audiences: ['x'] }),
      `[invalid bearer token, ${other} for the target audiences ["x"]]`,
    )
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
        'impersonate-group': ['devs', Buffer.from('Süd').toString('latin1')],
        'impersonate-extra-team%2Fid': '7',
      },
    )
    assert.deepEqual(jane.body.status.userInfo, {
      username: 'jane',
      groups: ['devs', 'Süd', 'system:authenticated'],
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
