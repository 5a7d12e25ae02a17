import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { PATCH, startServer } from '../bootstrap/fixtures.ts'
import { PrometheusRegistry } from '@gyropilot/foundation'
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { TestServer } from '../bootstrap/fixtures.ts'
import { turn, type AnyValue } from '../testing/test-server.ts'
import { patchOf, review as admissionReview, startWebhook } from '../testing/webhook-server.ts'
import type { WebhookAnswer, WebhookServer } from '../testing/webhook-server.ts'

const GROUP = 'spec-x.example.com'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function served(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

/** v1 says `{first, last}`, v2 says `{name: 'first last'}`. */
function converted(object: AnyValue, version: string): AnyValue {
  const { spec } = object
  if (object.apiVersion === version) return object
  const other = version.endsWith('v2')
    ? { name: `${spec.first} ${spec.last}` }
    : { first: spec.name.split(' ')[0], last: spec.name.split(' ')[1] }
  return { ...object, apiVersion: version, spec: other }
}

function review(body: AnyValue, response: object = {}): object {
  const { uid, objects, desiredAPIVersion } = body.request
  return {
    kind: 'ConversionReview',
    apiVersion: body.apiVersion,
    response: {
      uid,
      result: { status: 'Success' },
      convertedObjects: objects.map((object: AnyValue) => converted(object, desiredAPIVersion)),
      ...response,
    },
  }
}

function withLabels(body: AnyValue, labels: unknown): object {
  const { objects, desiredAPIVersion } = body.request
  const convertedObjects = objects.map((object: AnyValue) => {
    const other = converted(object, desiredAPIVersion)
    return { ...other, metadata: { ...other.metadata, labels } }
  })
  return review(body, { convertedObjects })
}

const text = { type: 'string' }
const version = (name: string, properties: object, storage: boolean): object => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
  },
})
const versions = (stored: 'v1' | 'v2'): readonly object[] => [
  version('v1', { first: text, last: text }, stored === 'v1'),
  version('v2', { name: text }, stored === 'v2'),
]

interface Setup extends TestServer {
  readonly hook: WebhookServer
  path(version: string, name?: string): string
  /** From now on the other version is stored. */
  store(version: 'v1' | 'v2'): Promise<void>
}

async function setup(
  answer: (body: AnyValue) => WebhookAnswer | Promise<WebhookAnswer>,
  metrics?: MetricsRegistry,
): Promise<Setup> {
  const hook = await startWebhook(answer)
  const server = await startServer({ metrics })
  stops.push(hook.stop, () => server.server.stop())
  const { status, body } = await server.call('POST', DEFINITIONS, {
    metadata: { name: `people.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'people', kind: 'Person' },
      versions: versions('v1'),
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { url: `${hook.url}/convert`, caBundle: hook.caBundle },
        },
      },
    },
  })
  assert.equal(status, 201, body.message)
  await served()
  return {
    ...server,
    hook,
    path: (name, object) =>
      `/apis/${GROUP}/${name}/namespaces/default/people${object === undefined ? '' : `/${object}`}`,
    async store(stored) {
      const changed = await server.call(
        'PATCH',
        `${DEFINITIONS}/people.${GROUP}`,
        { spec: { versions: versions(stored) } },
        PATCH,
      )
      assert.equal(changed.status, 200, changed.body.message)
      await served()
    },
  }
}

const person = (name: string, first: string): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Person',
  metadata: { name, labels: { a: 'b' } },
  spec: { first, last: 'Doe' },
})

/** A kind without a namespace, which is served when it is done. */
async function definePeople(call: TestServer['call'], spec: object): Promise<void> {
  await call('POST', DEFINITIONS, {
    metadata: { name: `people.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Cluster',
      names: { plural: 'people', kind: 'Person' },
      ...spec,
    },
  })
  await served()
}

/** A webhook that judges what is written, as the second version says it. */
async function askOfSecondVersion(call: TestServer['call'], clientConfig: object): Promise<void> {
  await call('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'v' },
    webhooks: [
      {
        name: 'v.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig,
        rules: [{ apiGroups: [GROUP], apiVersions: ['v2'], resources: ['*'], operations: ['*'] }],
      },
    ],
  })
}

describe('conversion by a webhook', () => {
  test('calls are counted by how they ended', async () => {
    const metrics = new PrometheusRegistry()
    let next: (body: AnyValue) => object = review
    const { call, path } = await setup((body) => next(body), metrics)
    await call('POST', path('v1'), person('x', 'Jo'))
    const answers: readonly ((body: AnyValue) => object)[] = [
      () => ({ kind: 'Other', apiVersion: 'apiextensions.k8s.io/v1' }),
      (body) => review(body, { uid: 'x' }),
      (body) => review(body, { result: { status: 'Failure' } }),
      (body) => review(body, { convertedObjects: [] }),
      (body) => withLabels(body, 5),
      // The last: what is converted is kept.
      review,
    ]
    for (const answer of answers) {
      next = answer
      await call('GET', path('v2', 'x'))
    }
    const lines = metrics.expose().split('\n')
    const shown = (name: string): readonly string[] =>
      lines.filter((line) => line.startsWith(`apiserver_conversion_webhook_${name}{`))
    const counted = [
      '{failure_type="",result="success"} 1',
      '{failure_type="conversion_webhook_call_failure",result="failure"} 1',
      '{failure_type="conversion_webhook_invalid_converted_object_failure",result="failure"} 1',
      '{failure_type="conversion_webhook_malformed_response_failure",result="failure"} 2',
      '{failure_type="conversion_webhook_partial_response_failure",result="failure"} 1',
    ]
    const version = `crd_name="people.${GROUP}",from_version="v1"`
    assert.deepEqual(
      lines.filter((line) =>
        line.startsWith('apiserver_crd_conversion_webhook_duration_seconds_c'),
      ),
      [
        `apiserver_crd_conversion_webhook_duration_seconds_count{${version},succeeded="false",to_version="v2"} 5`,
        `apiserver_crd_conversion_webhook_duration_seconds_count{${version},succeeded="true",to_version="v2"} 1`,
      ],
    )
    for (const name of ['request_total', 'duration_seconds_count'])
      assert.deepEqual(
        shown(name),
        counted.map((line) => `apiserver_conversion_webhook_${name}${line}`),
      )
  })

  test('objects read and written in the other version', async () => {
    const { call, path, hook, stored } = await setup((body) => review(body))
    await call('POST', path('v1'), person('x', 'Jo'))
    assert.equal(hook.calls.length, 0)
    const read = await call('GET', path('v2', 'x'))
    assert.deepEqual([read.body.apiVersion, read.body.spec], [`${GROUP}/v2`, { name: 'Jo Doe' }])
    const { request } = hook.calls[0]!.body
    assert.deepEqual(
      [hook.calls[0]!.path, request.desiredAPIVersion, request.objects.length],
      ['/convert?timeout=30s', `${GROUP}/v2`, 1],
    )
    const patched = await call('PATCH', path('v2', 'x'), { spec: { name: 'Al Roe' } }, PATCH)
    assert.equal(patched.status, 200, patched.body.message)
    assert.deepEqual(patched.body.spec, { name: 'Al Roe' })
    assert.equal(patched.body.metadata.generation, 2)
    assert.deepEqual(stored(`people.${GROUP}`, 'default/x')?.['spec'], { first: 'Al', last: 'Roe' })
    const created = await call('POST', path('v2'), {
      apiVersion: `${GROUP}/v2`,
      kind: 'Person',
      metadata: { name: 'y' },
      spec: { name: 'Bo Poe', unknown: 1 },
    })
    assert.deepEqual([created.status, created.body.spec], [201, { name: 'Bo Poe' }])
    assert.deepEqual(stored(`people.${GROUP}`, 'default/y')?.['spec'], { first: 'Bo', last: 'Poe' })
  })

  test('a list is one call, with the objects that are not in the version yet', async () => {
    const { call, path, hook, store } = await setup((body) => review(body))
    await call('POST', path('v1'), person('a', 'A'))
    await call('POST', path('v1'), person('b', 'B'))
    await store('v2')
    await call('POST', path('v2'), {
      apiVersion: `${GROUP}/v2`,
      kind: 'Person',
      metadata: { name: 'c' },
      spec: { name: 'C Doe' },
    })
    hook.calls.length = 0
    const { body } = await call('GET', path('v2'))
    assert.deepEqual(
      body.items.map(({ spec }: AnyValue) => spec.name),
      ['A Doe', 'B Doe', 'C Doe'],
    )
    assert.deepEqual(
      hook.calls.map(({ body: { request } }) =>
        request.objects.map((o: AnyValue) => o.metadata.name),
      ),
      [['a', 'b']],
    )
  })

  test('of the metadata only labels and annotations are taken', async () => {
    const { call, path } = await setup((body) => {
      const objects = body.request.objects.map((object: AnyValue) => ({
        ...converted(object, body.request.desiredAPIVersion),
        metadata: { ...object.metadata, labels: { c: 'd' }, generation: 99 },
      }))
      return review(body, { convertedObjects: objects })
    })
    await call('POST', path('v1'), person('x', 'Jo'))
    const { body } = await call('GET', path('v2', 'x'))
    assert.deepEqual([body.metadata.labels, body.metadata.generation], [{ c: 'd' }, 1])
  })

  test('Webhook down: read of the stored version 200, of another 500 with the message above.', async () => {
    const { call, path, hook, store } = await setup((body) => review(body))
    await call('POST', path('v1'), person('x', 'Jo'))
    await hook.stop()
    assert.equal((await call('GET', path('v1', 'x'))).status, 200)
    const { status, body } = await call('GET', path('v2', 'x'))
    assert.deepEqual(
      [status, body.message],
      [
        500,
        `conversion webhook for ${GROUP}/v1, Kind=Person failed: Post "${hook.url}/convert?timeout=30s": dial tcp 127.0.0.1:${hook.port}: connect: connection refused`,
      ],
    )
    await store('v2')
    assert.equal((await call('GET', path('v1', 'x'))).status, 200)
    assert.equal((await call('DELETE', path('v1', 'x'))).status, 500)
  })

  test('a webhook that says nothing is waited for 30 s, and told of in the words of its client', async () => {
    let asked = (): void => {}
    const called = new Promise<void>((resolve) => (asked = resolve))
    const { call, path, hook, clock } = await setup(() => {
      asked()
      return 'silence'
    })
    await call('POST', path('v1'), person('x', 'Jo'))
    const read = call('GET', path('v2', 'x'))
    await called
    await clock.advance(30_000)
    const { status, body } = await read
    const why = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
    assert.deepEqual(
      [status, body.message],
      [
        500,
        `conversion webhook for ${GROUP}/v1, Kind=Person failed: Post "${hook.url}/convert?timeout=30s": ${why}`,
      ],
    )
  })

  test('a bookmark never overtakes the events that a slow webhook still converts', async () => {
    let answer = (): void => {}
    const held = new Promise<void>((resolve) => (answer = resolve))
    let asked = (): void => {}
    const called = new Promise<void>((resolve) => (asked = resolve))
    const { server, call, path, clock } = await setup(async (body) => {
      asked()
      await held
      return review(body)
    })
    const query = `watch=1&resourceVersion=${server.store.revision}&allowWatchBookmarks=true&timeoutSeconds=6`
    const { body: events } = await call('GET', `${path('v2')}?${query}`)
    const written = await call('POST', path('v1'), person('x', 'Jo'))
    await called
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'other' } })
    // Two seconds before its end a watch says how far it has come.
    await clock.advance(4000)
    answer()
    const seen: AnyValue[] = []
    for await (const event of events) {
      seen.push(event)
      if (event.type === 'BOOKMARK') break
    }
    assert.deepEqual(
      seen.map(({ type, object }) => [type, object.spec?.name]),
      [
        ['ADDED', 'Jo Doe'],
        ['BOOKMARK', undefined],
      ],
    )
    const [version, bookmark] = [written.body, seen[1].object].map(({ metadata }) =>
      Number(metadata.resourceVersion),
    )
    assert.ok(bookmark! > version!)
  })

  test('fields are selected in the version that is asked for, on every page, also of what was created meanwhile', async () => {
    const release: (() => void)[] = []
    let slow = false
    const { call, path } = await setup(async (body) => {
      if (slow) await new Promise<void>((resolve) => release.push(resolve))
      return review(body)
    })
    for (const name of ['a', 'b', 'c']) await call('POST', path('v1'), person(name, name))
    const selected = `${path('v2')}?limit=1&fieldSelector=metadata.name!=b`
    const first = await call('GET', selected)
    await call('PATCH', path('v1', 'c'), { spec: { first: 'changed' } }, PATCH)
    const second = await call('GET', `${selected}&continue=${first.body.metadata.continue}`)
    assert.deepEqual(
      [first, second].map(({ body }) => body.items[0].spec.name),
      ['a Doe', 'c Doe'],
    )
    slow = true
    await call('PATCH', path('v1', 'a'), { spec: { first: 'again' } }, PATCH)
    const pending = call('GET', `${path('v2')}?fieldSelector=metadata.name!=b`)
    while (release.length === 0) await turn()
    slow = false
    await call('POST', path('v1'), person('d', 'd'))
    release[0]!()
    const { status, body } = await pending
    assert.deepEqual(
      [status, body.items?.map(({ metadata }: AnyValue) => metadata.name)],
      [200, ['a', 'c']],
    )
  })

  test('who selects by labels is told of what is selected no more, as it was in the version asked for', async () => {
    const { server, call, path } = await setup((body) => review(body))
    await call('POST', path('v1'), person('x', 'Jo'))
    const query = `watch=1&resourceVersion=${server.store.revision}&labelSelector=a%3Db`
    const { body: events } = await call('GET', `${path('v2')}?${query}`)
    await call(
      'PATCH',
      path('v1', 'x'),
      { metadata: { labels: null }, spec: { first: 'Al' } },
      PATCH,
    )
    for await (const { type, object } of events as AsyncIterable<AnyValue>) {
      assert.deepEqual([type, object.spec], ['DELETED', { name: 'Jo Doe' }], object.message)
      break
    }
  })

  test('labels are selected in the version that is asked for, and nothing is left out that cannot be converted', async () => {
    let next: (body: AnyValue) => object = (body) => withLabels(body, { c: 'd' })
    const { call, path } = await setup((body) => next(body))
    await call('POST', path('v1'), person('x', 'Jo'))
    const { body } = await call('GET', `${path('v2')}?labelSelector=c%3Dd`)
    assert.equal(body.items.length, 1)
    next = (asked) => review(asked, { result: { status: 'Failed', message: 'no' } })
    await call('PATCH', path('v1', 'x'), { spec: { first: 'Al' } }, PATCH)
    assert.equal((await call('GET', `${path('v2')}?labelSelector=e%3Df`)).status, 500)
  })

  test('one object is converted each time it is read, what was listed is remembered', async () => {
    const { call, path, hook } = await setup((body) => review(body))
    await call('POST', path('v1'), person('x', 'Jo'))
    for (const asked of [path('v2'), path('v2')]) await call('GET', asked)
    assert.equal(hook.calls.length, 1)
    for (const asked of [path('v2', 'x'), path('v2', 'x')]) await call('GET', asked)
    assert.equal(hook.calls.length, 3)
  })

  test('a review has an empty response, and objects without resourceVersion', async () => {
    const { call, path, hook } = await setup((body) => review(body))
    await call('POST', path('v1'), person('x', 'Jo'))
    const { body } = await call('GET', path('v2', 'x'))
    assert.notEqual(body.metadata.resourceVersion, undefined)
    const asked = hook.calls[0]!.body
    assert.deepEqual(asked.response, { uid: '', convertedObjects: null, result: { metadata: {} } })
    assert.equal('resourceVersion' in asked.request.objects[0].metadata, false)
  })

  test('much is converted with several calls', async () => {
    const { call, path, hook } = await setup((body) => review(body))
    for (const name of ['a', 'b', 'c', 'd'])
      await call('POST', path('v1'), person(name, name.repeat(400_000)))
    const { body } = await call('GET', path('v2'))
    assert.equal(body.items.length, 4)
    assert.deepEqual(
      hook.calls.map((each) => each.body.request.objects.length),
      [2, 2],
    )
  })

  test('what was stored in a version that is gone cannot be read, written or deleted', async () => {
    const { call, path, store } = await setup((body) => review(body))
    await call('POST', path('v1'), person('x', 'Jo'))
    await store('v2')
    const definition = `${DEFINITIONS}/people.${GROUP}`
    await call('PATCH', `${definition}/status`, { status: { storedVersions: ['v2'] } }, PATCH)
    const [, left] = versions('v2')
    await call('PATCH', definition, { spec: { versions: [left] } }, PATCH)
    await served()
    for (const [method, at] of [
      ['GET', path('v2', 'x')],
      ['GET', path('v2')],
      ['DELETE', path('v2', 'x')],
    ] as const) {
      const { status, body } = await call(method, at)
      assert.deepEqual(
        [status, body.message],
        [500, `request to convert CR from an invalid group/version: ${GROUP}/v1`],
      )
    }
  })

  test('instances that cannot be converted keep their definition, which tries again', async () => {
    let fails = true
    const { call, path, clock, store } = await setup((body) =>
      review(body, fails ? { result: { status: 'Failed', message: 'no' } } : {}),
    )
    await call('POST', path('v1'), person('x', 'Jo'))
    await store('v2')
    const definition = `${DEFINITIONS}/people.${GROUP}`
    await call('DELETE', definition)
    const terminating = async (): Promise<unknown> => {
      await served()
      const { status, body } = await call('GET', definition)
      const { reason, message } = body.status?.conditions?.[2] ?? {}
      return status === 404 ? 404 : `${reason}: ${message}`
    }
    const why = `conversion webhook for ${GROUP}/v1, Kind=Person failed: no`
    let told: unknown
    for (let i = 0; i < 50 && !String(told).includes('Failed'); i++) told = await terminating()
    assert.equal(told, `InstanceDeletionFailed: could not list instances: ${why}`)
    fails = false
    await clock.advance(5000)
    for (let i = 0; i < 50 && told !== 404; i++) told = await terminating()
    assert.equal(told, 404)
  })

  test('a deletion that is only tried stores nothing, and converts nothing for that', async () => {
    const { call, path, hook, store } = await setup((body) => review(body))
    await call('POST', path('v1'), person('x', 'Jo'))
    await store('v2')
    await hook.stop()
    assert.equal((await call('DELETE', `${path('v1', 'x')}?dryRun=All`)).status, 200)
  })

  test('admission sees the version that it asks for, and what it changes comes back', async () => {
    let fails = false
    const { call, path, hook } = await setup((body) => {
      if (fails) return review(body, { result: { status: 'Failed', message: 'cannot' } })
      if (body.kind === 'ConversionReview') return review(body)
      const { name } = body.request.object.spec
      const patch = [{ op: 'replace', path: '/spec/name', value: `${name}!` }]
      return admissionReview(body, patchOf(...patch))
    })
    const admission = '/apis/admissionregistration.k8s.io/v1'
    const rule = { apiGroups: [GROUP], apiVersions: ['v2'], resources: ['*'], operations: ['*'] }
    await call('POST', `${admission}/mutatingwebhookconfigurations`, {
      metadata: { name: 'm' },
      webhooks: [
        {
          name: 'm.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Ignore',
          clientConfig: { url: `${hook.url}/admit`, caBundle: hook.caBundle },
          rules: [{ ...rule, operations: ['CREATE'] }],
        },
      ],
    })
    await call('POST', `${admission}/validatingadmissionpolicies`, {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: { resourceRules: [{ ...rule, operations: ['UPDATE'] }] },
        validations: [{ expression: "object.spec.name == 'Al Doe!' && has(oldObject.spec.name)" }],
      },
    })
    await call('POST', `${admission}/validatingadmissionpolicybindings`, {
      metadata: { name: 'b' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    })
    await served()
    const created = await call('POST', path('v1'), person('x', 'Jo'))
    assert.deepEqual([created.status, created.body.spec], [201, { first: 'Jo', last: 'Doe!' }])
    const patch = (first: string) => call('PATCH', path('v1', 'x'), { spec: { first } }, PATCH)
    assert.deepEqual([(await patch('Al')).status, (await patch('Bo')).status], [200, 422])
    fails = true
    const refused = await call('POST', path('v1'), person('y', 'Jo'))
    const why = `conversion webhook for ${GROUP}/v1, Kind=Person failed: cannot`
    assert.deepEqual(
      [refused.status, refused.body.message],
      [500, `Internal error occurred: Internal error occurred: ${why}`],
    )
    const { body } = await patch('Al')
    assert.match(body.message, /denied request: failed to configure binding: failed to convert/)
  })

  test('integers that are no doubles are converted for owners and for admission', async () => {
    const hook = await startWebhook(({ kind, apiVersion, request }) => {
      const { uid, objects, desiredAPIVersion } = request
      if (kind === 'AdmissionReview') return admissionReview({ request }, { allowed: true })
      const convertedObjects = objects.map((object: AnyValue) => ({
        ...object,
        apiVersion: desiredAPIVersion,
      }))
      return {
        kind,
        apiVersion,
        response: { uid, result: { status: 'Success' }, convertedObjects },
      }
    })
    const { call, server } = await startServer()
    stops.push(hook.stop, () => server.stop())
    const integer = { n: { type: 'integer' }, m: { type: 'integer' } }
    const client = { url: hook.url, caBundle: hook.caBundle }
    await definePeople(call, {
      versions: [version('v1', integer, true), version('v2', integer, false)],
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: client },
      },
    })
    await askOfSecondVersion(call, client)
    const n = 9_007_199_254_740_993n
    const people = `/apis/${GROUP}/v1/people`
    const created = await call('POST', people, { ...person('x', ''), spec: { n } })
    assert.equal(created.status, 201, created.body.message)
    const other = `/apis/${GROUP}/v2/people/x`
    const { status, body } = await call('PATCH', other, { spec: { m: 1 } }, PATCH)
    assert.equal(status, 200, body.message)
    assert.equal(body.metadata.managedFields.length, 2)
  })

  test('between versions that nothing converts, admission sees all fields', async () => {
    const hook = await startWebhook((body) => admissionReview(body, { allowed: true }))
    const { call, server } = await startServer()
    stops.push(hook.stop, () => server.stop())
    await definePeople(call, { versions: versions('v1') })
    await askOfSecondVersion(call, { url: hook.url, caBundle: hook.caBundle })
    const created = await call('POST', `/apis/${GROUP}/v1/people`, person('x', 'Jo'))
    assert.equal(created.status, 201, created.body.message)
    const { apiVersion, spec } = hook.calls[0]!.body.request.object
    assert.deepEqual([apiVersion, spec], [`${GROUP}/v2`, { first: 'Jo', last: 'Doe' }])
  })

  test('authorities that are none: a new definition is not served until they are, an old one does not get them', async () => {
    const { call, hook } = await setup((body) => review(body))
    const definition = `${DEFINITIONS}/people.${GROUP}`
    const authorities = (caBundle: string): object => ({
      spec: { conversion: { webhook: { clientConfig: { caBundle } } } },
    })
    const useless = Buffer.from('hello').toString('base64')
    const refused = await call('PATCH', definition, authorities(useless), PATCH)
    assert.deepEqual(
      [refused.status, refused.body.details.causes],
      [
        422,
        [
          {
            reason: 'FieldValueInvalid',
            message: `Invalid value: ${JSON.stringify(useless)}: unable to load root certificates: unable to parse bytes as PEM block`,
            field: 'spec.conversion.webhookClientConfig.caBundle',
          },
        ],
      ],
    )
    const { body } = await call('GET', definition)
    const { metadata: _metadata, status: _status, ...rest } = structuredClone(body)
    Object.assign(rest.spec, { group: `other.${GROUP}` })
    rest.spec.conversion.webhook.clientConfig.caBundle = useless
    const other = `people.other.${GROUP}`
    assert.equal(
      (await call('POST', DEFINITIONS, { ...rest, metadata: { name: other } })).status,
      201,
    )
    const established = async (): Promise<string> => {
      await served()
      const { body: now } = await call('GET', `${DEFINITIONS}/${other}`)
      const { reason, message } = now.status.conditions[1]
      return `${reason}: ${message}`
    }
    const waiting = 'InvalidCABundle: The conversion webhook CABundle is invalid'
    assert.equal(await established(), waiting)
    await call('PATCH', `${DEFINITIONS}/${other}`, { metadata: { labels: { a: 'b' } } }, PATCH)
    assert.equal(await established(), waiting)
    await call('PATCH', `${DEFINITIONS}/${other}`, authorities(hook.caBundle), PATCH)
    assert.equal(await established(), 'InitialNamesAccepted: the initial names have been accepted')
  })

  const failures: readonly (readonly [string, (body: AnyValue) => object, string])[] = [
    [
      'a result that is not Success',
      (body) => review(body, { result: { status: 'Failed', message: 'cannot' } }),
      'failed: cannot',
    ],
    [
      'one without a message',
      (body) => review(body, { result: { status: 'Failed' } }),
      "failed: response.result.status was 'Failed', not 'Success'",
    ],
    [
      'too few objects',
      (body) => review(body, { convertedObjects: [] }),
      'returned 0 objects, expected 1',
    ],
    [
      'the wrong version',
      (body) => review(body, { convertedObjects: body.request.objects }),
      `returned invalid object at index 0: invalid groupVersion (expected ${GROUP}/v2, received ${GROUP}/v1)`,
    ],
    [
      'another name',
      (body) =>
        review(body, {
          convertedObjects: [
            { ...converted(body.request.objects[0], `${GROUP}/v2`), metadata: { name: 'y' } },
          ],
        }),
      'returned invalid object: must have the same name: x != y',
    ],
    [
      'no response',
      (body) => ({ ...review(body), response: null }),
      'failed: no response provided',
    ],
    [
      'no version',
      (body) => ({ ...review(body), apiVersion: undefined }),
      'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=ConversionReview',
    ],
    [
      'another version of the review',
      (body) => ({ ...review(body), apiVersion: 'apiextensions.k8s.io/v1beta1' }),
      'failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion',
    ],
    [
      'a status instead',
      () => ({ kind: 'Status', apiVersion: 'v1', message: 'no' }),
      'failed: converting (v1.Status) to (v1.ConversionReview): unknown conversion',
    ],
    [
      'a result of another type',
      (body) => review(body, { result: 'x' }),
      'failed: json: cannot unmarshal string into Go struct field ConversionResponse.response.result of type v1.Status',
    ],
    [
      'a result with a code that is no integer',
      (body) => review(body, { result: { status: 'Success', code: 1.5 } }),
      'failed: json: cannot unmarshal number 1.5 into Go struct field Status.response.result.code of type int32',
    ],
    [
      'a result with a reason of another type',
      (body) => review(body, { result: { status: 'Success', reason: 3 } }),
      'failed: json: cannot unmarshal number into Go struct field Status.response.result.reason of type v1.StatusReason',
    ],
    [
      'a request of another type',
      (body) => ({ ...review(body), request: 'x' }),
      'failed: json: cannot unmarshal string into Go struct field ConversionReview.request of type v1.ConversionRequest',
    ],
    [
      'a name that is none',
      (body) =>
        review(body, {
          convertedObjects: [
            { ...converted(body.request.objects[0], `${GROUP}/v2`), metadata: { name: 12 } },
          ],
        }),
      'returned invalid object: must have the same name: x != ',
    ],
    ['a conflict', () => ({ status: 409, text: 'x' }), 'failed: the server reported a conflict'],
    ['what is forbidden', () => ({ status: 403, text: 'no entry' }), 'failed: no entry'],
    [
      'an error of the server without a word',
      () => ({ status: 500, text: '' }),
      'failed: an error on the server ("") has prevented the request from succeeding',
    ],
    [
      'nothing but spaces',
      () => ({ status: 200, text: ' ' }),
      'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=',
    ],
    [
      'labels of another type',
      (body) => withLabels(body, 'x'),
      'returned invalid metadata: invalid metadata.labels of type string in converted object',
    ],
    [
      'a label that is a number',
      (body) => withLabels(body, { a: 5 }),
      'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
    ],
    [
      'a label that is no label',
      (body) => withLabels(body, { 'a b': 'c' }),
      "returned invalid metadata: metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ]

  test('what is no object is refused without the name of the webhook', async () => {
    for (const [given, why] of [
      [null, 'unexpected end of JSON input'],
      ['x', 'json: cannot unmarshal string into Go value of type map[string]interface {}'],
      [{}, "Object 'Kind' is missing in '{}'"],
    ] as const) {
      const { call, path } = await setup((body) => review(body, { convertedObjects: [given] }))
      await call('POST', path('v1'), person('x', 'Jo'))
      const { status, body } = await call('GET', path('v2', 'x'))
      assert.deepEqual([status, body.message], [500, why])
    }
  })

  test('of several objects the first that is not converted is told, as if it had been alone', async () => {
    const { call, path } = await setup((body) => review(body, { convertedObjects: [] }))
    for (const name of ['a', 'b']) await call('POST', path('v1'), person(name, name))
    const { status, body } = await call('GET', path('v2'))
    assert.deepEqual(
      [status, body.message],
      [500, `conversion webhook for ${GROUP}/v1, Kind=Person returned 0 objects, expected 1`],
    )
  })

  test('labels that are null or empty are none', async () => {
    for (const labels of [null, {}]) {
      const { call, path } = await setup((body) => withLabels(body, labels))
      await call('POST', path('v1'), person('x', 'Jo'))
      const { body } = await call('GET', path('v2', 'x'))
      assert.equal('labels' in body.metadata, false)
    }
  })

  for (const [title, answer, why] of failures) {
    test(title, async () => {
      const { call, path } = await setup(answer)
      await call('POST', path('v1'), person('x', 'Jo'))
      const { status, body } = await call('GET', path('v2', 'x'))
      assert.deepEqual(
        [status, body.message],
        [500, `conversion webhook for ${GROUP}/v1, Kind=Person ${why}`],
      )
    })
  }
})
