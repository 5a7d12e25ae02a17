/** What is wrong with the body of a subresource is said before policies are asked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeNamespace, startServer } from '../../bootstrap/fixtures.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'

test('bindings, evictions and token requests are checked before policies judge them', async () => {
  const { server, call, ...rest } = await startServer()
  const ns = await makeNamespace({ server, call, ...rest }, 'a')
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['pods/binding', 'bindings', 'pods/eviction', 'serviceaccounts/token'],
    operations: ['CREATE'],
  }
  await call('POST', `${GROUP}/validatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false', message: 'no' }],
    },
  })
  await call('POST', `${GROUP}/validatingadmissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  })
  const answers: [string, number, string][] = []
  const binding = (name: string, target: object): object => ({ metadata: { name }, target })
  const eviction = (name: string): object => ({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
  })
  const token = (metadata: object, spec: object = {}): object => ({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata,
    spec,
  })
  for (const [path, body] of [
    ['pods/x/binding', binding('y', { name: 'n' })],
    ['pods/x/binding', binding('x', {})],
    ['pods/x/binding', binding('x', { name: 'n' })],
    ['bindings', binding('x', { kind: 'Bad', name: 'n' })],
    ['pods/x/eviction', eviction('y')],
    ['pods/x/eviction', eviction('x')],
    ['serviceaccounts/default/token', token({ name: 'other' })],
    ['serviceaccounts/default/token', token({}, { expirationSeconds: 5 })],
    ['serviceaccounts/nope/token', token({})],
    ['serviceaccounts/default/token', token({})],
  ] as const) {
    const answer = await call('POST', `${ns}/${path}`, body)
    answers.push([path, answer.status, answer.body.message])
  }
  const denied = (what: string): string =>
    `${what} is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`
  assert.deepEqual(answers, [
    ['pods/x/binding', 400, 'name in URL does not match name in Binding object'],
    ['pods/x/binding', 500, 'target.name: Required value'],
    ['pods/x/binding', 422, denied('pods "x"')],
    ['bindings', 500, 'target.kind: Unsupported value: "Bad": supported values: "Node", "<empty>"'],
    ['pods/x/eviction', 400, 'name in URL does not match name in Eviction object'],
    ['pods/x/eviction', 422, denied('pods "x"')],
    [
      'serviceaccounts/default/token',
      422,
      'TokenRequest.authentication.k8s.io "default" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
    ],
    [
      'serviceaccounts/default/token',
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
    ],
    ['serviceaccounts/nope/token', 404, 'serviceaccounts "nope" not found'],
    ['serviceaccounts/default/token', 422, denied('serviceaccounts "default"')],
  ])
  await server.stop()
})

test('policies see for whom and for what a token is asked', async () => {
  const { server, call, ...rest } = await startServer()
  const ns = await makeNamespace({ server, call, ...rest }, 'a')
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['serviceaccounts/token'],
    operations: ['CREATE'],
  }
  const meta = 'object.metadata'
  await call('POST', `${GROUP}/validatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [
        {
          expression: `object.spec.audiences.exists(a, a == 'vault') && has(${meta}.uid)`,
          messageExpression: `${meta}.namespace + '/' + ${meta}.name + ' for ' + string(object.spec.audiences.size()) + ' ' + string(has(${meta}.creationTimestamp))`,
        },
      ],
    },
  })
  await call('POST', `${GROUP}/validatingadmissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  })
  const ask = (spec: object) =>
    call('POST', `${ns}/serviceaccounts/default/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec,
    })
  const { body } = await ask({})
  assert.match(body.message, /denied request: a\/default for 1 true$/)
  assert.equal((await ask({ audiences: ['vault'] })).status, 201)
  await server.stop()
})
