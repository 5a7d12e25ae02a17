import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { makeNamespace, PATCH, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const CONFIG_MAPS = {
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
  operations: ['CREATE', 'UPDATE'],
}
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

interface Setup extends TestServer {
  readonly ns: string
  /** Creates a ConfigMap and answers status and message. */
  create(object: object): Promise<[number, string]>
}

async function start(): Promise<Setup> {
  const server = await startServer()
  stops.push(() => server.server.stop())
  const ns = await makeNamespace(server, 'a', { team: 'x' })
  const create = async (object: object): Promise<[number, string]> => {
    const { status, body } = await server.call('POST', `${ns}/configmaps`, object)
    return [status, body.message]
  }
  return { ...server, ns, create }
}

async function setup(
  spec: object,
  binding: object = {},
  kind: 'validating' | 'mutating' = 'validating',
): Promise<Setup> {
  const server = await start()
  const policy = await server.call('POST', `${GROUP}/${kind}admissionpolicies`, {
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules: [CONFIG_MAPS] }, ...spec },
  })
  assert.equal(policy.status, 201, policy.body.message)
  const bound = await server.call('POST', `${GROUP}/${kind}admissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: {
      policyName: 'p',
      ...(kind === 'validating' ? { validationActions: ['Deny'] } : {}),
      ...binding,
    },
  })
  assert.equal(bound.status, 201, bound.body.message)
  return server
}

const denial = (name: string, text: string): string =>
  `configmaps "${name}" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${text}`
const named = (name: string, rest: object = {}): object => ({ metadata: { name }, ...rest })

describe('validating policies', () => {
  test('a false validation refuses with 422, its message and a cause', async () => {
    const { call, ns, create } = await setup({
      validations: [{ expression: "object.metadata.name != 'bad'", message: 'bad name' }],
    })
    assert.deepEqual(await create(named('good')), [201, undefined])
    const { status, body } = await call('POST', `${ns}/configmaps`, named('bad'))
    assert.deepEqual(
      [status, body.reason, body.message],
      [422, 'Invalid', denial('bad', 'bad name')],
    )
    assert.deepEqual(body.details, {
      name: 'bad',
      kind: 'configmaps',
      causes: [
        {
          message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: bad name",
        },
      ],
    })
  })

  test('Given a policy with messageExpression, then its text ends the 422 message.', async () => {
    const { create } = await setup({
      validations: [
        {
          expression: 'false',
          message: 'static',
          messageExpression: "'no ' + object.metadata.name",
        },
      ],
    })
    assert.deepEqual(await create(named('x')), [422, denial('x', 'no x')])
  })

  const texts: readonly (readonly [string, object, string])[] = [
    [
      'an empty messageExpression gives way to the message',
      { message: 'm', messageExpression: "' '" },
      'm',
    ],
    ['so does one of several lines', { message: 'm', messageExpression: "'a\\nb'" }, 'm'],
    ['and one that fails', { message: 'm', messageExpression: 'object.nope' }, 'm'],
    ['without a message the expression is shown', {}, 'failed expression: 1 > 2'],
  ]
  for (const [title, validation, text] of texts) {
    test(title, async () => {
      const typed = JSON.parse(
        JSON.stringify(validation).replace('object.nope', 'string(object.nope)'),
      ) as object
      const { create } = await setup({ validations: [{ expression: '1 > 2', ...typed }] })
      assert.deepEqual(await create(named('x')), [422, denial('x', text)])
    })
  }

  for (const [reason, code] of [
    ['Forbidden', 403],
    ['Invalid', 422],
  ] as const) {
    test(`reason ${reason} answers ${code}`, async () => {
      const { create } = await setup({
        validations: [{ expression: 'false', message: 'm', reason }],
      })
      assert.deepEqual(await create(named('x')), [code, denial('x', 'm')])
    })
  }

  test('Warn warns and lets pass', async () => {
    const { call, ns } = await setup(
      { validations: [{ expression: 'false', message: 'm' }] },
      { validationActions: ['Warn', 'Audit'] },
    )
    const { status, headers } = await call('POST', `${ns}/configmaps`, named('x'))
    assert.equal(status, 201)
    assert.deepEqual([headers['warning'] ?? headers['Warning']].flat(), [
      `299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': m"`,
    ])
  })

  test('an expression that fails is treated as failurePolicy says', async () => {
    const validations = [{ expression: "object.data.x == 'y'" }]
    const strict = await setup({ validations })
    assert.deepEqual(await strict.create(named('x')), [
      422,
      denial('x', `expression 'object.data.x == 'y'' resulted in error: no such key: data`),
    ])
    const lenient = await setup({ validations, failurePolicy: 'Ignore' })
    assert.deepEqual(await lenient.create(named('x')), [201, undefined])
  })

  test('variables are evaluated once, when they are used, and may use those before them', async () => {
    const { create } = await setup({
      variables: [
        { name: 'data', expression: 'object.?data.orValue({})' },
        { name: 'size', expression: 'variables.data.size()' },
        { name: 'broken', expression: 'object.nope' },
      ],
      validations: [
        {
          expression: 'variables.size < 2',
          messageExpression: "string(variables.size) + ' is too many'",
        },
      ],
    })
    assert.deepEqual(await create(named('x', { data: { a: '1' } })), [201, undefined])
    assert.deepEqual(await create(named('y', { data: { a: '1', b: '2' } })), [
      422,
      denial('y', '2 is too many'),
    ])
  })

  test('the old object, the request, the namespace and the authorizer can be asked', async () => {
    const { call, ns, create, as } = await setup({
      validations: [
        { expression: 'oldObject == null || oldObject.data.v == object.data.v', message: 'fixed' },
        { expression: "namespaceObject.metadata.labels['team'] == 'x'", message: 'team' },
        {
          expression:
            "request.operation in ['CREATE', 'UPDATE'] && request.resource.resource == 'configmaps'",
          message: 'request',
        },
        {
          expression:
            "authorizer.group('').resource('secrets').namespace('a').check('get').allowed()",
          message: 'rights',
        },
        {
          expression: "authorizer.requestResource.check('update').allowed()",
          message: 'own rights',
        },
      ],
    })
    assert.deepEqual(await create(named('x', { data: { v: '1' } })), [201, undefined])
    const { body } = await call('PATCH', `${ns}/configmaps/x`, { data: { v: '2' } }, PATCH)
    assert.equal(body.message, denial('x', 'fixed'))
    await call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'maker' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }],
    })
    await call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'maker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'maker' },
      subjects: [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }],
    })
    const refused = await as('jane', 'POST', `${ns}/configmaps`, named('j'))
    assert.equal(refused.body.message, denial('j', 'rights'))
  })

  test('match conditions come before everything else', async () => {
    const { create } = await setup({
      matchConditions: [{ name: 'c', expression: "object.metadata.name == 'x'" }],
      validations: [{ expression: 'false', message: 'm' }],
    })
    assert.deepEqual(await create(named('y')), [201, undefined])
    assert.deepEqual(await create(named('x')), [422, denial('x', 'm')])
  })

  test('an expression that costs too much is stopped', async () => {
    const expression = 'lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))'
    const { create } = await setup({ validations: [{ expression }] })
    assert.deepEqual(await create(named('x')), [
      422,
      denial(
        'x',
        `expression '${expression}' resulted in error: operation cancelled: actual cost limit exceeded`,
      ),
    ])
  })

  test('so are many that cost too much together', async () => {
    const expression = 'lists.range(300).all(x, lists.range(300).all(y, x + y >= 0))'
    const { create } = await setup({
      validations: Array.from({ length: 20 }, () => ({ expression })),
    })
    const text =
      'validation failed due to running out of cost budget, no further validation rules will be run'
    assert.deepEqual(await create(named('x')), [422, denial('x', text)])
  })

  test('policies and their bindings are not subject to policies', async () => {
    const everything = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'] }
    const { call } = await setup({
      matchConstraints: { resourceRules: [everything] },
      validations: [{ expression: 'false' }],
    })
    assert.equal((await call('DELETE', `${GROUP}/validatingadmissionpolicies/p`)).status, 200)
  })
})

describe('parameters', () => {
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: { resourceRules: [{ ...CONFIG_MAPS, resources: ['secrets'] }] },
    validations: [
      {
        expression: 'object.metadata.name.size() <= int(params.data.longest)',
        message: 'too long',
      },
    ],
  }
  const secret = async ({ call, ns }: Setup, name: string): Promise<[number, string]> => {
    const { status, body } = await call('POST', `${ns}/secrets`, named(name))
    return [status, body.message]
  }
  const refusal = (text: string): string =>
    `secrets "abc" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${text}`

  test('are found by name in the namespace of the request', async () => {
    const server = await setup(spec, {
      paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' },
    })
    assert.deepEqual(await secret(server, 'abc'), [
      422,
      refusal(
        'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
      ),
    ])
    await server.create(named('limits', { data: { longest: '2' } }))
    assert.deepEqual(await secret(server, 'abc'), [422, refusal('too long')])
    assert.deepEqual(await secret(server, 'ab'), [201, undefined])
  })

  test('do not say who owns their fields', async () => {
    const server = await setup(
      {
        ...spec,
        validations: [
          { expression: 'false', messageExpression: 'string(has(params.metadata.managedFields))' },
        ],
      },
      { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } },
    )
    await server.create(named('limits', { data: { longest: '2' } }))
    assert.deepEqual(await secret(server, 'abc'), [422, refusal('false')])
  })

  test('all that a selector finds must agree; with Allow none is fine', async () => {
    const paramRef = {
      selector: { matchLabels: { role: 'limit' } },
      parameterNotFoundAction: 'Allow',
    }
    const server = await setup(spec, { paramRef })
    assert.deepEqual(await secret(server, 'abcd'), [201, undefined])
    for (const [name, longest] of [
      ['l1', '9'],
      ['l2', '2'],
    ] as const)
      await server.create({ metadata: { name, labels: { role: 'limit' } }, data: { longest } })
    assert.deepEqual(await secret(server, 'abc'), [422, refusal('too long')])
  })
})

describe('policies that are refused', () => {
  const rows: readonly (readonly [string, object, string])[] = [
    [
      'an unknown name',
      { validations: [{ expression: 'nope' }] },
      `spec.validations[0].expression: Invalid value: "nope": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^`,
    ],
    [
      'params without a paramKind',
      { validations: [{ expression: 'params == null' }] },
      `spec.validations[0].expression: Invalid value: "params == null": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params == null\n | ^`,
    ],
    [
      'a validation that is no bool',
      { validations: [{ expression: '1' }] },
      'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int',
    ],
    [
      'a messageExpression that is no string',
      { validations: [{ expression: 'true', messageExpression: '1' }] },
      'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
    ],
    [
      'an unknown field of the request',
      { validations: [{ expression: 'request.nope == 1' }] },
      `spec.validations[0].expression: Invalid value: "request.nope == 1": compilation failed: ERROR: <input>:1:8: undefined field 'nope'\n | request.nope == 1\n | .......^`,
    ],
    [
      'a variable that is not declared before',
      {
        variables: [
          { name: 'a', expression: 'variables.b' },
          { name: 'b', expression: '1' },
        ],
        validations: [{ expression: 'true' }],
      },
      `spec.variables[0].expression: Invalid value: "variables.b": compilation failed: ERROR: <input>:1:10: undefined field 'b'\n | variables.b\n | .........^`,
    ],
  ]
  for (const [title, spec, text] of rows) {
    test(title, async () => {
      const { call } = await start()
      const { status, body } = await call('POST', `${GROUP}/validatingadmissionpolicies`, {
        metadata: { name: 'p' },
        spec: { matchConstraints: { resourceRules: [CONFIG_MAPS] }, ...spec },
      })
      assert.deepEqual(
        [status, body.message],
        [422, `ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: ${text}`],
      )
    })
  }
})

describe('mutating policies', () => {
  const spec = (mutations: readonly object[], rest: object = {}): object => ({
    reinvocationPolicy: 'Never',
    mutations,
    ...rest,
  })
  const apply = (expression: string): object => ({
    patchType: 'ApplyConfiguration',
    applyConfiguration: { expression },
  })
  const patch = (expression: string): object => ({
    patchType: 'JSONPatch',
    jsonPatch: { expression },
  })

  test('lay a configuration over the object', async () => {
    const { call, ns } = await setup(
      spec([
        apply(
          "Object{metadata: Object.metadata{labels: Object.metadata.labels{team: namespaceObject.metadata.labels['team']}}, data: {'b': object.data.a + '!'}}",
        ),
      ]),
      {},
      'mutating',
    )
    const { status, body } = await call('POST', `${ns}/configmaps`, {
      metadata: { name: 'x', labels: { own: '1' } },
      data: { a: '1' },
    })
    assert.equal(status, 201, body.message)
    assert.deepEqual(body.metadata.labels, { own: '1', team: 'x' })
    assert.deepEqual(body.data, { a: '1', b: '1!' })
  })

  test('apply JSON patches, whose paths may be computed', async () => {
    const { call, ns } = await setup(
      spec([
        patch("[JSONPatch{op: 'add', path: '/metadata/labels', value: {'x': 'y'}}]"),
        patch(
          "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c'), value: 'd'}]",
        ),
      ]),
      {},
      'mutating',
    )
    const { status, body } = await call('POST', `${ns}/configmaps`, named('x'))
    assert.equal(status, 201, body.message)
    assert.deepEqual(body.metadata.labels, { x: 'y', 'a.b/c': 'd' })
  })

  test('a patch that cannot be applied refuses, unless failures are ignored', async () => {
    const mutations = [patch("[JSONPatch{op: 'remove', path: '/nope'}]")]
    const strict = await setup(spec(mutations), {}, 'mutating')
    const [status, message] = await strict.create(named('x'))
    assert.equal(status, 403)
    assert.equal(
      message,
      "policy 'p' with binding 'b' denied request: JSON Patch: error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing value",
    )
    const lenient = await setup(spec(mutations, { failurePolicy: 'Ignore' }), {}, 'mutating')
    assert.deepEqual(await lenient.create(named('x')), [201, undefined])
  })

  for (const [operation, problem] of [
    ["path: '/data/x', value: '1'", 'Unexpected kind: '],
    ["op: 'zap', path: '/data/x'", 'Unexpected kind: zap'],
    [
      "op: 'add', value: '1'",
      'add operation does not apply: doc is missing path: "": missing value',
    ],
    [
      "op: 'move', path: '/data/x'",
      'move operation failed to decode from: operation, missing from field: missing value',
    ],
  ] as const) {
    test(`a JSONPatch of {${operation}} refuses`, async () => {
      const { create } = await setup(spec([patch(`[JSONPatch{${operation}}]`)]), {}, 'mutating')
      assert.deepEqual(await create(named('x')), [
        403,
        `policy 'p' with binding 'b' denied request: JSON Patch: ${problem}`,
      ])
    })
  }

  for (const [what, configuration, problem] of [
    [
      'a time that is none',
      'metadata: Object.metadata{creationTimestamp: dyn("x")}',
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    [
      'a number for a time',
      'metadata: Object.metadata{creationTimestamp: dyn(3)}',
      'json: cannot unmarshal number into Go value of type string',
    ],
    [
      'bytes that are not written as such',
      'binaryData: {"k": dyn("***")}',
      'error decoding from json: illegal base64 data at input byte 0',
    ],
  ] as const) {
    test(`a configuration with ${what} refuses, unless failures are ignored`, async () => {
      const mutations = [apply(`Object{${configuration}}`)]
      const strict = await setup(spec(mutations), {}, 'mutating')
      assert.deepEqual(await strict.create(named('x')), [
        403,
        `policy 'p' with binding 'b' denied request: unable to convert unstructured object to /v1, Kind=ConfigMap: ${problem}`,
      ])
      const lenient = await setup(spec(mutations, { failurePolicy: 'Ignore' }), {}, 'mutating')
      assert.deepEqual(await lenient.create(named('x')), [201, undefined])
    })
  }

  test('must give what their patch type is made of', async () => {
    const { call } = await start()
    const { body } = await call('POST', `${GROUP}/mutatingadmissionpolicies`, {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: { resourceRules: [CONFIG_MAPS] },
        ...spec([apply('1'), patch('[1]')]),
      },
    })
    assert.deepEqual(
      body.details.causes.map(({ message }: { message: string }) => message),
      [
        'Invalid value: "1": must evaluate to Object but got int',
        'Invalid value: "[1]": must evaluate to list(JSONPatch) but got list(int)',
      ],
    )
  })
})
