import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { makeNamespace, PATCH, pod, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'
import type { AnyValue } from '../../testing/test-server.ts'
import { patchOf, review, startWebhook } from '../../testing/webhook-server.ts'
import type { WebhookAnswer, WebhookServer } from '../../testing/webhook-server.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

interface Setup extends TestServer {
  readonly ns: string
  readonly hook: WebhookServer
}

async function setup(
  answer: (body: AnyValue, path: string) => WebhookAnswer,
  ...configurations: readonly ((hook: WebhookServer) => Configuration)[]
): Promise<Setup> {
  const hook = await startWebhook(answer)
  const server = await startServer()
  stops.push(hook.stop, () => server.server.stop())
  const ns = await makeNamespace(server, 'a', { team: 'x' })
  for (const make of configurations) {
    const { kind, webhooks, name } = make(hook)
    const answered = await server.call('POST', `${GROUP}/${kind}webhookconfigurations`, {
      metadata: { name },
      webhooks,
    })
    assert.equal(answered.status, 201, JSON.stringify(answered.body))
  }
  return { ...server, ns, hook }
}

interface Configuration {
  readonly kind: 'mutating' | 'validating'
  readonly name: string
  readonly webhooks: readonly object[]
}

const CONFIG_MAPS = {
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
  operations: ['*'],
}

function webhook(hook: WebhookServer, changes: object = {}): object {
  return {
    name: 'check.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { url: `${hook.url}/check`, caBundle: hook.caBundle },
    rules: [CONFIG_MAPS],
    ...changes,
  }
}

const validating =
  (changes: object = {}) =>
  (hook: WebhookServer): Configuration => ({
    kind: 'validating',
    name: 'v',
    webhooks: [webhook(hook, changes)],
  })
const mutating =
  (changes: object = {}, name = 'm') =>
  (hook: WebhookServer): Configuration => ({
    kind: 'mutating',
    name,
    webhooks: [webhook(hook, changes)],
  })
const allow = (body: AnyValue): object => review(body, { allowed: true })
const configMap = (name: string, rest: object = {}): object => ({ metadata: { name }, ...rest })

describe('the question', () => {
  test('carries the objects, the request and who sent it', async () => {
    const { call, ns, hook } = await setup(allow, validating())
    await call('POST', `${ns}/configmaps?fieldManager=me`, configMap('x', { data: { a: 'b' } }))
    await call('PATCH', `${ns}/configmaps/x`, { data: { a: 'c' } }, PATCH)
    await call('DELETE', `${ns}/configmaps/x`)
    const [created, updated, deleted] = hook.calls.map(({ body }) => body)
    assert.deepEqual([created.kind, created.apiVersion], ['AdmissionReview', 'admission.k8s.io/v1'])
    const { uid, object, oldObject, options, ...request } = created.request
    assert.match(uid, /^[0-9a-f-]{36}$/)
    assert.equal(object.data.a, 'b')
    assert.deepEqual([object.kind, object.apiVersion, oldObject], ['ConfigMap', 'v1', null])
    assert.deepEqual(options, {
      kind: 'CreateOptions',
      apiVersion: 'meta.k8s.io/v1',
      fieldManager: 'me',
    })
    const kind = { group: '', version: 'v1', kind: 'ConfigMap' }
    const resource = { group: '', version: 'v1', resource: 'configmaps' }
    assert.deepEqual(request, {
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      name: 'x',
      namespace: 'a',
      operation: 'CREATE',
      userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      dryRun: false,
    })
    assert.deepEqual([updated.request.object.data.a, updated.request.oldObject.data.a], ['c', 'b'])
    assert.deepEqual([deleted.request.object, deleted.request.oldObject.data.a], [null, 'c'])
    assert.match(hook.calls[0]!.path, /^\/check\?timeout=10s$/)
  })
})

describe('refusals', () => {
  const rows: readonly (readonly [string, object, number, string])[] = [
    ['with a message', { status: { message: 'no', code: 403 } }, 403, ': no'],
    ['with a reason only', { status: { reason: 'Forbidden', code: 403 } }, 403, ': Forbidden'],
    ['without a code', { status: { message: 'no' } }, 400, ': no'],
    ['with a code that is no refusal', { status: { message: 'no', code: 200 } }, 400, ': no'],
    ['without anything', {}, 400, ' without explanation'],
  ]
  for (const [title, response, code, text] of rows) {
    test(`${title}: ${code}`, async () => {
      const { call, ns } = await setup(
        (body) => review(body, { allowed: false, ...response }),
        validating(),
      )
      const { status, body } = await call('POST', `${ns}/configmaps`, configMap('x'))
      assert.deepEqual(
        [status, body.message],
        [code, `admission webhook "check.example.com" denied the request${text}`],
      )
    })
  }
})

describe('calls that fail', () => {
  const failing = async (
    answer: (body: AnyValue) => WebhookAnswer,
    changes: object = {},
  ): Promise<[number, string]> => {
    const { call, ns } = await setup(answer, validating(changes))
    const { status, body } = await call('POST', `${ns}/configmaps`, configMap('x'))
    return [status, body.message]
  }
  const prefix = 'Internal error occurred: failed calling webhook "check.example.com": '

  test('Given a webhook with failurePolicy Fail that is down, then 500 with its name; with Ignore: 201.', async () => {
    const clientConfig = { url: 'https://127.0.0.1:1/x' }
    assert.deepEqual(await failing(allow, { clientConfig, timeoutSeconds: 1 }), [
      500,
      `${prefix}failed to call webhook: Post "https://127.0.0.1:1/x?timeout=1s": dial tcp 127.0.0.1:1: connect: connection refused`,
    ])
    const [status] = await failing(allow, { clientConfig, failurePolicy: 'Ignore' })
    assert.equal(status, 201)
  })

  test('a service that does not exist', async () => {
    const clientConfig = { service: { name: 'nope', namespace: 'a' } }
    assert.deepEqual(await failing(allow, { clientConfig }), [
      500,
      `${prefix}failed to call webhook: Post "https://nope.a.svc:443/?timeout=10s": service "nope" not found`,
    ])
  })

  test('a certificate of somebody else', async () => {
    const { call, ns, hook } = await setup(allow)
    const { caBundle: _, ...clientConfig } = { url: `${hook.url}/check`, caBundle: '' }
    await call('POST', `${GROUP}/validatingwebhookconfigurations`, {
      metadata: { name: 'v' },
      webhooks: [webhook(hook, { clientConfig })],
    })
    const { status, body } = await call('POST', `${ns}/configmaps`, configMap('x'))
    assert.equal(status, 500)
    assert.match(
      body.message,
      /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
    )
  })

  test('a webhook that does not answer in time', async () => {
    const { call, ns, hook, clock } = await setup(
      () => 'silence',
      validating({ timeoutSeconds: 3 }),
    )
    const answer = call('POST', `${ns}/configmaps`, configMap('x'))
    while (hook.calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(3000)
    const { status, body } = await answer
    assert.deepEqual(
      [status, body.message],
      [
        500,
        `${prefix}failed to call webhook: Post "${hook.url}/check?timeout=3s": context deadline exceeded`,
      ],
    )
  })

  const answers: readonly (readonly [string, (body: AnyValue) => WebhookAnswer, string])[] = [
    [
      'another uid',
      (body) => ({ ...review(body, {}), response: { uid: 'x', allowed: true } }),
      'received invalid webhook response: expected response.uid=',
    ],
    [
      'another kind',
      (body) => ({ ...review(body, { allowed: true }), kind: 'Other' }),
      'failed to call webhook: no kind "Other" is registered for version "admission.k8s.io/v1" in scheme "pkg/util/webhook/client.go:71"',
    ],
    [
      'another version',
      (body) => ({ ...review(body, { allowed: true }), apiVersion: 'admission.k8s.io/v1beta1' }),
      'failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
    [
      'fields of another type',
      (body) => review(body, { allowed: true, uid: 5 }),
      'failed to call webhook: json: cannot unmarshal number into Go struct field AdmissionResponse.response.uid of type types.UID',
    ],
    [
      'a Status',
      () => ({
        status: 400,
        text: JSON.stringify({ kind: 'Status', apiVersion: 'v1', message: 'not today' }),
      }),
      'failed to call webhook: not today',
    ],
    [
      'nothing',
      () => ({ status: 200, text: '' }),
      'failed to call webhook: 0-length response with status code: 200 and content type: ',
    ],
    ['no response', () => ({}), 'received invalid webhook response: webhook response was absent'],
    [
      'a patch of a validating webhook',
      (body) => review(body, patchOf()),
      'received invalid webhook response: validating webhook may not return response.patch',
    ],
    [
      'status 500',
      () => ({ status: 500, text: 'oops' }),
      'failed to call webhook: an error on the server ("oops") has prevented the request from succeeding',
    ],
    [
      'status 500 and what says that it is JSON',
      () => ({ status: 500, text: 'oops', contentType: 'application/json' }),
      'failed to call webhook: an error on the server ("unknown") has prevented the request from succeeding',
    ],
    [
      'status 404',
      () => ({ status: 404, text: '' }),
      'failed to call webhook: the server could not find the requested resource',
    ],
    [
      'no JSON',
      () => ({ status: 200, text: '<html>' }),
      "failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string",
    ],
  ]
  for (const [title, answer, text] of answers) {
    test(title, async () => {
      const [status, message] = await failing(answer)
      assert.equal(status, 500)
      assert.ok(message.startsWith(prefix + text), message)
    })
  }
})

describe('mutating webhooks', () => {
  test('patch the object, which is decoded and defaulted again', async () => {
    const { call, ns } = await setup(
      (body) =>
        review(
          body,
          patchOf({
            op: 'add',
            path: '/spec/initContainers',
            value: [{ name: 'i', image: 'busybox' }],
          }),
        ),
      mutating({ rules: [{ ...CONFIG_MAPS, resources: ['pods'], operations: ['CREATE'] }] }),
    )
    const { status, body } = await call('POST', `${ns}/pods`, pod('x'))
    assert.equal(status, 201, body.message)
    assert.equal(body.spec.initContainers[0].imagePullPolicy, 'Always')
    // The container came after the plug-in that mounts the token: it ran once more.
    assert.deepEqual(
      body.spec.initContainers[0].volumeMounts.map(({ mountPath }: typeof body) => mountPath),
      ['/var/run/secrets/kubernetes.io/serviceaccount'],
    )
  })

  test('run one after the other; IfNeeded runs again when a later one changed the object, and built-in plug-ins with it', async () => {
    const addContainer = {
      op: 'add',
      path: '/spec/containers/-',
      value: { name: 'side', image: 'busybox' },
    }
    const rules = [{ ...CONFIG_MAPS, resources: ['pods'], operations: ['CREATE'] }]
    const { call, ns, hook } = await setup(
      (body, path) => {
        const count = body.request.object.spec.containers.length
        if (path.startsWith('/count'))
          return review(
            body,
            patchOf({ op: 'add', path: '/metadata/labels', value: { count: String(count) } }),
          )
        return review(body, patchOf(addContainer))
      },
      (server) => ({
        kind: 'mutating',
        name: 'a',
        webhooks: [
          webhook(server, {
            rules,
            reinvocationPolicy: 'IfNeeded',
            clientConfig: { url: `${server.url}/count`, caBundle: server.caBundle },
          }),
        ],
      }),
      mutating({ rules, name: 'side.example.com' }, 'b'),
    )
    const { status, body } = await call('POST', `${ns}/pods`, pod('x'))
    assert.equal(status, 201, body.message)
    assert.deepEqual(
      hook.calls.map(({ path }) => path.split('?')[0]),
      ['/count', '/check', '/count'],
    )
    assert.equal(body.metadata.labels.count, '2')
    assert.equal(body.spec.containers[1].volumeMounts.length, 1)
  })

  test('a patch that does not fit is an internal error', async () => {
    const { call, ns } = await setup(
      (body) => review(body, patchOf({ op: 'remove', path: '/nope' })),
      mutating(),
    )
    const { status, body } = await call('POST', `${ns}/configmaps`, configMap('x'))
    assert.equal(status, 500)
    assert.match(body.message, /^Internal error occurred: /)
  })

  test('a patch of another version is of that version, and comes back in the one of the request', async () => {
    const rules = [
      {
        apiGroups: ['autoscaling'],
        apiVersions: ['v2'],
        resources: ['horizontalpodautoscalers'],
        operations: ['*'],
      },
    ]
    const { call, hook } = await setup(
      (body) => review(body, patchOf({ op: 'replace', path: '/spec/maxReplicas', value: 7 })),
      mutating({ rules }),
    )
    const { body } = await call(
      'POST',
      '/apis/autoscaling/v1/namespaces/a/horizontalpodautoscalers',
      {
        metadata: { name: 'h' },
        spec: {
          maxReplicas: 3,
          targetCPUUtilizationPercentage: 50,
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        },
      },
    )
    const asked = hook.calls[0]!.body.request
    assert.deepEqual([asked.kind.version, asked.requestKind.version], ['v2', 'v1'])
    assert.equal(asked.object.spec.metrics[0].resource.name, 'cpu')
    assert.deepEqual(
      [body.apiVersion, body.spec.maxReplicas, body.spec.targetCPUUtilizationPercentage],
      ['autoscaling/v1', 7, 50],
    )
  })
})

describe('what a webhook is asked about', () => {
  const calledFor = async (changes: object, object: object = configMap('x')): Promise<number> => {
    const { call, ns, hook } = await setup(allow, validating(changes))
    const { status, body } = await call('POST', `${ns}/configmaps`, object)
    assert.equal(status, 201, body.message)
    return hook.calls.length
  }
  const rows: readonly (readonly [string, object, number])[] = [
    ['another operation', { rules: [{ ...CONFIG_MAPS, operations: ['DELETE'] }] }, 0],
    ['another group', { rules: [{ ...CONFIG_MAPS, apiGroups: ['apps'] }] }, 0],
    [
      'everything',
      { rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'] }] },
      1,
    ],
    ['subresources only', { rules: [{ ...CONFIG_MAPS, resources: ['*/status'] }] }, 0],
    ['cluster-scoped objects', { rules: [{ ...CONFIG_MAPS, scope: 'Cluster' }] }, 0],
    ['the labels of its namespace', { namespaceSelector: { matchLabels: { team: 'x' } } }, 1],
    ['other labels of its namespace', { namespaceSelector: { matchLabels: { team: 'y' } } }, 0],
    ['labels of the object', { objectSelector: { matchLabels: { a: 'b' } } }, 0],
    [
      'a condition that holds',
      {
        matchConditions: [
          { name: 'c', expression: `request.namespace == 'a' && object.metadata.name == 'x'` },
        ],
      },
      1,
    ],
    [
      'a condition that does not',
      { matchConditions: [{ name: 'c', expression: 'has(object.data)' }] },
      0,
    ],
  ]
  for (const [title, changes, calls] of rows)
    test(`${title}: ${calls === 1 ? 'asked' : 'not asked'}`, async () =>
      assert.equal(await calledFor(changes), calls))

  test('a condition that cannot be evaluated refuses, unless failures are ignored', async () => {
    const matchConditions = [{ name: 'c', expression: 'object.data.nope == 1' }]
    const { call, ns } = await setup(allow, validating({ matchConditions }))
    const { status, body } = await call('POST', `${ns}/configmaps`, configMap('x'))
    assert.deepEqual(
      [status, body.message],
      [
        403,
        `configmaps "x" is forbidden: expression 'object.data.nope == 1' resulted in error: no such key: data`,
      ],
    )
    assert.equal(await calledFor({ matchConditions, failurePolicy: 'Ignore' }), 0)
  })

  test('configurations of admission itself are never sent', async () => {
    const everything = {
      apiGroups: ['*'],
      apiVersions: ['*'],
      resources: ['*/*'],
      operations: ['*'],
    }
    const { call, hook } = await setup(
      (body) => review(body, { allowed: false }),
      validating({ rules: [everything] }),
    )
    assert.equal((await call('DELETE', `${GROUP}/validatingwebhookconfigurations/v`)).status, 200)
    assert.equal(hook.calls.length, 0)
  })

  test('a condition that does not compile is refused with the configuration', async () => {
    const { call, hook } = await setup(allow)
    const { status, body } = await call('POST', `${GROUP}/validatingwebhookconfigurations`, {
      metadata: { name: 'v' },
      webhooks: [webhook(hook, { matchConditions: [{ name: 'c', expression: 'nope' }] })],
    })
    assert.equal(status, 422)
    assert.match(
      body.message,
      /webhooks\[0\]\.matchConditions\[0\]\.expression: Invalid value: "nope": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope'/,
    )
  })
})

test('the first version that a webhook understands is asked in, and in the older one less is checked', async () => {
  const asked: string[] = []
  const answer = (body: AnyValue): WebhookAnswer => {
    asked.push(body.apiVersion)
    const { patch } = patchOf({ op: 'add', path: '/data', value: { a: 'b' } }) as AnyValue
    return { apiVersion: body.apiVersion, kind: body.kind, response: { allowed: true, patch } }
  }
  const admissionReviewVersions = ['v2', 'v1beta1', 'v1']
  const { call, ns } = await setup(
    answer,
    mutating({ admissionReviewVersions }),
    validating({ admissionReviewVersions }),
  )
  const created = await call('POST', `${ns}/configmaps`, configMap('x'))
  assert.equal(created.status, 201, JSON.stringify(created.body))
  assert.deepEqual(created.body.data, { a: 'b' })
  assert.deepEqual(asked, ['admission.k8s.io/v1beta1', 'admission.k8s.io/v1beta1'])
})

test('warnings become headers', async () => {
  const { call, ns } = await setup(
    (body) => review(body, { allowed: true, warnings: ['mind the gap'] }),
    validating(),
  )
  const { headers } = await call('POST', `${ns}/configmaps`, configMap('x'))
  assert.deepEqual([headers['warning'] ?? headers['Warning']].flat(), ['299 - "mind the gap"'])
})

test('a service is found through its ExternalName or its endpoints, under its own name', async () => {
  const { call, ns, hook } = await setup(allow)
  await call('POST', `${ns}/services`, {
    metadata: { name: 'hook' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  const clientConfig = {
    service: { name: 'hook', namespace: 'a', path: '/x', port: hook.port },
    caBundle: hook.caBundle,
  }
  await call('POST', `${GROUP}/validatingwebhookconfigurations`, {
    metadata: { name: 'v' },
    webhooks: [webhook(hook, { clientConfig })],
  })
  const { status, body } = await call('POST', `${ns}/configmaps`, configMap('x'))
  // The certificate is for localhost, but it is asked for the service's name.
  assert.equal(status, 500)
  assert.match(
    body.message,
    new RegExp(
      `Post "https://hook\\.a\\.svc:${hook.port}/x\\?timeout=10s": tls: .*hook\\.a\\.svc$`,
    ),
  )
})

test('dry run is refused by webhooks with side effects, and told to the others', async () => {
  const { call, ns, hook } = await setup(allow, validating())
  const { status } = await call('POST', `${ns}/configmaps?dryRun=All`, configMap('x'))
  assert.equal(status, 201)
  assert.equal(hook.calls[0]!.body.request.dryRun, true)
})
