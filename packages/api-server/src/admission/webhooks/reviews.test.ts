/** What webhooks are told, how often, and what their answers may be. */
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { SystemRandom, VirtualClock } from '@gyropilot/foundation'
import { afterEach, describe, test } from 'node:test'
import { makeNamespace, PATCH, pod, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'
import type { AnyValue } from '../../testing/test-server.ts'
import { patchOf, review, startWebhook } from '../../testing/webhook-server.ts'
import type { WebhookAnswer, WebhookServer } from '../../testing/webhook-server.ts'
import type { AdmissionRequest } from '../../contracts.ts'
import type { AdmissionWorld } from '../world.ts'
import { validateByWebhooks } from './dispatch.ts'
import { verdictOf } from './review.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const ALL = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'] }
const clock = new VirtualClock({ settle: () => new Promise((resolve) => setImmediate(resolve)) })
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

interface Hook {
  readonly kind: 'mutating' | 'validating'
  readonly name: string
  readonly answer?: (body: AnyValue) => WebhookAnswer | Promise<WebhookAnswer>
  readonly changes?: object
}

/** One webhook after the other, each in a configuration of its own, for everything in namespaces of team x. */
async function setup(
  ...hooks: readonly Hook[]
): Promise<TestServer & { readonly ns: string; readonly hook: WebhookServer }> {
  const hook = await startWebhook((body, path) => {
    const { answer = allow } = hooks.find(({ name }) => path.startsWith(`/${name}?`))!
    return answer(body)
  })
  const server = await startServer()
  stops.push(hook.stop, () => server.server.stop())
  const ns = await makeNamespace(server, 'a', { team: 'x' })
  for (const { kind, name, changes = {} } of hooks) {
    const made = await server.call('POST', `${GROUP}/${kind}webhookconfigurations`, {
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { url: `${hook.url}/${name}`, caBundle: hook.caBundle },
          rules: [ALL],
          namespaceSelector: { matchLabels: { team: 'x' } },
          ...changes,
        },
      ],
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
  }
  return { ...server, ns, hook }
}

const allow = (body: AnyValue): object => review(body, { allowed: true })
const configMap = (name: string, rest: object = {}): object => ({ metadata: { name }, ...rest })
const validating: Hook = { kind: 'validating', name: 'v' }

/** Which objects were asked about: operation, resource and subresource, kind. */
function asked({ calls }: WebhookServer): string[] {
  return calls.map(({ body: { request } }) => {
    const { operation, resource, subResource, object } = request
    const place = [resource.resource, ...(subResource === undefined ? [] : [subResource])]
    return `${operation} ${place.join('/')} ${object?.kind ?? 'nothing'}`
  })
}

describe('what is asked', () => {
  test('of bindings and evictions the body, and nothing of the pod that they change', async () => {
    const { call, ns, hook } = await setup(validating)
    await call('POST', `${ns}/pods`, pod('x'))
    const bound = await call('POST', `${ns}/pods/x/binding`, {
      metadata: { name: 'x' },
      target: { kind: 'Node', name: 'n' },
    })
    const evicted = await call('POST', `${ns}/pods/x/eviction`, {
      metadata: { name: 'x' },
      deleteOptions: { gracePeriodSeconds: 0 },
    })
    assert.deepEqual([bound.status, evicted.status], [201, 201])
    assert.deepEqual(asked(hook), [
      'CREATE pods Pod',
      'CREATE pods/binding Binding',
      'CREATE pods/eviction Eviction',
    ])
    const { namespace, managedFields } = hook.calls[1]!.body.request.object.metadata
    assert.equal(namespace, 'a')
    assert.deepEqual(managedFields[0].fieldsV1, { 'f:target': {} })
    assert.equal(managedFields[0].subresource, 'binding')
  })

  test('of a PUT without a version those who judge see the version that it replaces', async () => {
    const { call, ns, hook } = await setup({ kind: 'mutating', name: 'm' }, validating)
    await call('POST', `${ns}/configmaps`, configMap('x'))
    await call('PUT', `${ns}/configmaps/x`, configMap('x', { data: { a: 'b' } }))
    const [mutating, judging] = hook.calls.slice(2).map(({ body }) => body.request)
    assert.equal(mutating.object.metadata.resourceVersion, undefined)
    assert.equal(
      judging.object.metadata.resourceVersion,
      judging.oldObject.metadata.resourceVersion,
    )
  })

  test('of a Scale what was sent, first, and who sent it', async () => {
    const { call, ns, hook } = await setup({ kind: 'mutating', name: 'm' }, validating)
    const deployments = ns.replace('/api/v1', '/apis/apps/v1')
    await call('POST', `${deployments}/deployments`, {
      metadata: { name: 'd' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'i' }] },
        },
      },
    })
    const scaled = await call('PUT', `${deployments}/deployments/d/scale?fieldManager=me`, {
      metadata: { name: 'd' },
      spec: { replicas: 3 },
    })
    assert.equal(scaled.status, 200, scaled.body.message)
    const [mutating, judging] = hook.calls.slice(2).map(({ body }) => body.request)
    assert.equal(mutating.options.fieldManager, 'me')
    assert.equal(mutating.object.metadata.uid, undefined)
    assert.equal(judging.object.metadata.uid, judging.oldObject.metadata.uid)
    assert.equal(judging.object.spec.replicas, 3)
  })

  test('a namespace is chosen by the labels that it gets, for its subresources and its end by those it has', async () => {
    const { call, hook } = await setup(validating)
    await call('PATCH', '/api/v1/namespaces/a', { metadata: { labels: { team: 'y' } } }, PATCH)
    assert.deepEqual(asked(hook), [])
    await call('PATCH', '/api/v1/namespaces/a', { metadata: { labels: { team: 'x' } } }, PATCH)
    assert.deepEqual(asked(hook), ['UPDATE namespaces Namespace'])
    const labels = { team: 'x' }
    const finalized = { metadata: { name: 'a', labels }, spec: { finalizers: ['kubernetes'] } }
    await call('PUT', '/api/v1/namespaces/a/finalize', finalized)
    await call('DELETE', '/api/v1/namespaces/a')
    await call('DELETE', '/api/v1/namespaces/a')
    assert.deepEqual(asked(hook).slice(1), [
      'UPDATE namespaces/finalize Namespace',
      'DELETE namespaces nothing',
    ])
    const { options, oldObject } = hook.calls[2]!.body.request
    assert.deepEqual(options.preconditions, { uid: oldObject.metadata.uid })
  })
})

describe('what a webhook sees', () => {
  test('what storing makes of an object is not there yet for one that judges', async () => {
    const { call, ns, hook } = await setup({ kind: 'validating', name: 'v' })
    const containers = [{ name: 'c', image: 'i' }]
    const template = { spec: { restartPolicy: 'Never', containers } }
    const claim = {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'x',
      resources: { requests: { storage: '1Gi' } },
    }
    const group = (name: string) => `/apis/${name}/v1/namespaces/a`
    const metadata = { name: 'x' }
    const table: readonly [string, object, (object: AnyValue) => unknown, unknown, RegExp][] = [
      [
        `${group('batch')}/jobs`,
        { spec: { template } },
        (o) => o.metadata.labels,
        undefined,
        /job-name/,
      ],
      [`${ns}/persistentvolumeclaims`, { spec: claim }, (o) => o.status, {}, /Pending/],
      [`${group('rbac.authorization.k8s.io')}/roles`, { rules: [] }, (o) => o.rules, [], /null/],
    ]
    for (const [path, object, part, seen, answered] of table) {
      for (const query of ['?dryRun=All', '']) {
        const made = await call('POST', `${path}${query}`, { metadata, ...object })
        assert.equal(made.status, 201, JSON.stringify(made.body))
        assert.match(JSON.stringify(part(made.body)), answered)
        assert.deepEqual(part(hook.calls.at(-1)!.body.request.object), seen)
      }
    }
    const path = `${table[2]![0]}/x`
    const put = await call('PUT', path, { metadata, rules: [] })
    assert.deepEqual([hook.calls.at(-1)!.body.request.object.rules, put.body.rules], [[], null])
  })

  test('a deletion has the period that it is given, and a definition its uid', async () => {
    const { call, ns, hook } = await setup({ kind: 'validating', name: 'v' })
    const pods = `${ns}/pods`
    const optionsOf = async (path: string, query: string) => {
      await call('DELETE', `${path}${query}`)
      const deletions = hook.calls.filter(({ body }) => body.request.operation === 'DELETE')
      const { options, oldObject } = deletions.at(-1)!.body.request
      const { gracePeriodSeconds, preconditions } = options
      return [gracePeriodSeconds, preconditions?.uid === oldObject.metadata.uid]
    }
    await call('POST', pods, pod('waits'))
    assert.deepEqual(await optionsOf(`${pods}/waits`, '?gracePeriodSeconds=30'), [0, false])
    const runs = pod('runs')
    await call('POST', pods, { ...runs, spec: { ...runs.spec, nodeName: 'n' } })
    assert.deepEqual(await optionsOf(`${pods}/runs`, '?dryRun=All'), [30, false])
    assert.deepEqual(await optionsOf(pods, '?dryRun=All'), [undefined, false])
    assert.deepEqual(await optionsOf(`${pods}/runs`, '?gracePeriodSeconds=5'), [5, false])
    // Nothing comes of it, and nobody is asked.
    const before = hook.calls.length
    await call('DELETE', `${pods}/runs`)
    assert.equal(hook.calls.length, before)
    assert.deepEqual(await optionsOf(`${pods}/runs`, '?gracePeriodSeconds=2'), [2, false])

    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const schema = { openAPIV3Schema: { type: 'object' } }
    await call('POST', definitions, {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    })
    const path = `${definitions}/things.example.com`
    assert.deepEqual(await optionsOf(path, '?dryRun=All'), [undefined, true])
  })
})

describe('several webhooks', () => {
  test('all that judge are waited for, and the first refusal in time is told', async () => {
    const later = Promise.withResolvers<void>()
    const finished: string[] = []
    const calls = {
      async post({ url, body }: { readonly url: string; readonly body: unknown }) {
        const name = url.includes('slow') ? 'slow' : 'soon'
        if (name === 'slow') await later.promise
        finished.push(name)
        return review(body, { allowed: false, status: { message: name } })
      },
    }
    const webhooks = ['slow', 'soon'].map((name) => ({
      name,
      rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['*'] }],
      admissionReviewVersions: ['v1'],
      clientConfig: { url: `https://${name}.example.com/` },
    }))
    const world = { calls, resolveService: () => ({}), random: new SystemRandom(), clock }
    const request = {
      operation: 'CREATE',
      resource: { group: '', version: 'v1', resource: 'pods', kind: 'Pod', subresources: [] },
      subresource: '',
      namespace: '',
      name: 'x',
      object: { metadata: { name: 'x' } },
      user: { name: 'u', groups: [], extra: {} },
      options: {},
    }
    const judged = validateByWebhooks(
      world as unknown as AdmissionWorld,
      request as unknown as AdmissionRequest,
      [{ metadata: { name: 'v' }, webhooks }],
    )
    await new Promise((resolve) => setImmediate(resolve))
    later.resolve()
    await assert.rejects(judged, { message: 'admission webhook "soon" denied the request: soon' })
    assert.deepEqual(finished, ['soon', 'slow'])
  })

  test('one that ran after the last change runs again when the second pass changes more', async () => {
    const grow = (key: string) => (body: AnyValue) => {
      const { annotations } = body.request.object.metadata
      const value = { ...annotations, [key]: `${annotations?.[key] ?? ''}x` }
      return review(body, patchOf({ op: 'add', path: '/metadata/annotations', value }))
    }
    const changes = { reinvocationPolicy: 'IfNeeded' }
    const { call, ns } = await setup(
      { kind: 'mutating', name: 'm1', answer: grow('a'), changes },
      { kind: 'mutating', name: 'm2', answer: grow('b'), changes },
    )
    const { body } = await call('POST', `${ns}/configmaps`, configMap('x'))
    assert.deepEqual(body.metadata.annotations, { a: 'xx', b: 'xx' })
  })
})

describe('patches', () => {
  const created = async (...operations: readonly object[]) => {
    const { call, ns } = await setup({
      kind: 'mutating',
      name: 'm',
      answer: (body) => review(body, patchOf(...operations)),
    })
    return call('POST', `${ns}/configmaps`, configMap('x', { data: { a: 'b' } }))
  }

  test('managedFields that cannot be read are those of before, with a warning', async () => {
    const value = [{ manager: 'x' }]
    const made = await created({ op: 'add', path: '/metadata/managedFields', value })
    assert.equal(made.status, 201)
    assert.notEqual(made.body.metadata.managedFields[0].manager, 'x')
    assert.match(
      String(made.headers['warning']),
      /managedFields was in an invalid state after admission; .*: operation must be `Apply` or `Update`/,
    )
  })

  const rows: readonly (readonly [string, object, string])[] = [
    [
      'of a kind that there is not',
      { op: 'replace', path: '/kind', value: 'Nope' },
      'Internal error occurred: no kind "Nope" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      'of another kind',
      { op: 'replace', path: '/kind', value: 'Pod' },
      'converting (v1.Pod) to (core.ConfigMap): unknown conversion',
    ],
    [
      'of another group',
      { op: 'replace', path: '/apiVersion', value: 'apps/v1' },
      'Internal error occurred: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      'without an operation',
      { path: '/data' },
      'Internal error occurred: Unexpected kind: unknown',
    ],
  ]
  for (const [title, operation, message] of rows) {
    test(`${title}: 500`, async () => {
      const { status, body } = await created(operation)
      assert.deepEqual([status, body.message], [500, message])
    })
  }
})

describe('fields of answers', () => {
  const decided = (response: object, rest: object = {}): string => {
    const answer = {
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: { uid: 'u', allowed: true, ...response },
      ...rest,
    }
    try {
      return JSON.stringify(verdictOf('v1', answer, 'u', true).warnings)
    } catch (error) {
      return (error as Error).message
    }
  }
  const wrong = (what: string, field: string, type: string): string =>
    `json: cannot unmarshal ${what} into Go struct field ${field} of type ${type}`
  const status = 'Status.response.status'
  const rows: readonly (readonly [string, object, string])[] = [
    ['warnings of null are empty', { warnings: [null, 'a'] }, '["","a"]'],
    [
      'warnings of numbers',
      { warnings: [1] },
      wrong('number', 'AdmissionResponse.response.warnings', 'string'),
    ],
    [
      'a warning',
      { warnings: 'x' },
      wrong('string', 'AdmissionResponse.response.warnings', '[]string'),
    ],
    [
      'annotations of numbers',
      { auditAnnotations: { a: 1 } },
      wrong('number', 'AdmissionResponse.response.auditAnnotations', 'string'),
    ],
    [
      'a status that is a text',
      { status: 'x' },
      wrong('string', 'AdmissionResponse.response.status', 'v1.Status'),
    ],
    ['a code', { status: { code: '403' } }, wrong('string', `${status}.code`, 'int32')],
    ['half a code', { status: { code: 403.5 } }, wrong('number 403.5', `${status}.code`, 'int32')],
    ['a reason', { status: { reason: 5 } }, wrong('number', `${status}.reason`, 'v1.StatusReason')],
    [
      'causes',
      { status: { details: { causes: 'x' } } },
      wrong('string', 'StatusDetails.response.status.details.causes', '[]v1.StatusCause'),
    ],
    ['no uid', { uid: null }, 'expected response.uid="u", got ""'],
    [
      'a patch without its type',
      { patch: 'W10=', patchType: null },
      'webhook returned response.patch but not response.patchType',
    ],
    [
      'a patch of numbers',
      { patch: [91, 93], patchType: null },
      'webhook returned response.patch but not response.patchType',
    ],
  ]
  for (const [title, response, text] of rows)
    test(title, () => assert.equal(decided(response), text))

  test('the answer says what it is', () => {
    const wanted = 'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got'
    assert.equal(decided({}, { kind: undefined }), `${wanted} admission.k8s.io/v1, Kind=`)
    assert.equal(decided({}, { kind: '', apiVersion: '' }), `${wanted} /, Kind=`)
    assert.equal(decided({}, { apiVersion: 'a/b/c' }), 'unexpected GroupVersion string: a/b/c')
  })

  test('the question that comes back is a question', () => {
    assert.equal(
      decided({}, { request: 5 }),
      wrong('number', 'AdmissionReview.request', 'v1.AdmissionRequest'),
    )
    assert.equal(
      decided({}, { request: { uid: 5 } }),
      wrong('number', 'AdmissionRequest.request.uid', 'types.UID'),
    )
  })
})

describe('how answers come', () => {
  const created = async (
    answer: (body: AnyValue) => WebhookAnswer,
  ): Promise<readonly [number, string]> => {
    const { call, ns } = await setup({ ...validating, answer })
    const { status, body } = await call('POST', `${ns}/configmaps`, configMap('x'))
    const message: string = body.message ?? ''
    return [status, message.slice(message.lastIndexOf('failed to call webhook: '))]
  }
  const text =
    (status: number, content: string, rest: object = {}) =>
    () => ({
      status,
      text: content,
      ...rest,
    })
  const told = (why: string) => [500, `failed to call webhook: ${why}`]

  test('packed', async () => {
    const headers = { 'content-encoding': 'gzip' }
    const packed = (body: AnyValue) => ({
      status: 200,
      text: gzipSync(JSON.stringify(allow(body))),
      headers,
    })
    assert.equal((await created(packed))[0], 201)
  })

  test('as YAML', async () => {
    const yaml = (body: AnyValue) =>
      `apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse:\n  uid: ${body.request.uid}\n  allowed: true\n`
    assert.equal((await created((body) => text(200, yaml(body))()))[0], 201)
  })

  test('with a code that says enough', async () => {
    assert.deepEqual(await created(text(403, 'go away')), told('go away'))
    assert.deepEqual(await created(text(409, 'x')), told('the server reported a conflict'))
    assert.deepEqual(
      await created(text(299, '{}')),
      told('the server responded with the status code 299 but did not return more information'),
    )
  })

  test('in part', async () => {
    const cut = { broken: true, headers: { 'content-length': '100' } }
    assert.deepEqual(
      await created(text(200, '{"a"', cut)),
      told(
        'unexpected error when reading response body. Please retry. Original error: unexpected EOF',
      ),
    )
  })

  test('later: who is asked to come again does', async () => {
    const busy = { status: 429, text: 'busy', headers: { 'retry-after': '2' } }
    let calls = 0
    const server = await setup({
      ...validating,
      answer: (body) => (calls++ === 0 ? busy : allow(body)),
    })
    const made = server.call('POST', `${server.ns}/configmaps`, configMap('x'))
    const turn = () => new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))
    for (;;) {
      const answered = await Promise.race([made, turn()])
      if (answered !== undefined) break
      if (calls > 0) await server.clock.advance(100)
    }
    const { status } = await made
    assert.deepEqual([status, calls], [201, 2])
  })
})
