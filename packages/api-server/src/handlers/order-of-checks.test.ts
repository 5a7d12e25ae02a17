import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dnsSubdomain } from '@gyropilot/schema/validation/names'
import { createTestServer, type TestServer } from '../testing/test-server.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const NAMELESS = { metadata: {} }
const message = ({ status, value }: { status: number; value: { message?: string } }) => [
  status,
  value.message ?? value,
]

let shared: Promise<TestServer> | undefined
const server = () => (shared ??= createTestServer())

test('Given POST to a missing namespace with an invalid name in the body, then 404 for the namespace; with truncated JSON, then 400', async () => {
  const { request } = await server()
  const path = '/api/v1/namespaces/missing/configmaps'
  assert.deepEqual(message(await request('POST', path, { metadata: { name: 'BAD NAME' } })), [
    404,
    'namespaces "missing" not found',
  ])
  const truncated = await request('POST', path, '{')
  assert.deepEqual(message(truncated), [
    400,
    "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({)",
  ])
})

test('Given `GET /api/v1/pods/x`, then 404 `the server could not find the requested resource`; `POST /api/v1/pods`: 405', async () => {
  const { request } = await server()
  const missing = await request('GET', '/api/v1/pods/x')
  assert.deepEqual(message(missing), [404, 'the server could not find the requested resource'])
  assert.deepEqual(missing.value.details, {})
  assert.deepEqual(message(await request('POST', '/api/v1/pods', {})), [
    405,
    'the server does not allow this method on the requested resource',
  ])
})

test('Given `GET /apis/foo`, then plain-text 404; `GET /apis/apps/v9`: Status 404', async () => {
  const { request } = await server()
  const plain = await request('GET', '/apis/foo')
  assert.deepEqual(
    [plain.status, plain.value, plain.headers['x-content-type-options']],
    [404, '404 page not found\n', 'nosniff'],
  )
  assert.equal((await request('GET', '/apis/apps/v9')).value.kind, 'Status')
})

test('slashes at the end of a path do not count, but for paths that are no collections', async () => {
  const { request } = await server()
  for (const [path, status] of [
    [`${MAPS}///`, 200],
    ['/api/v1//', 200],
    ['/api/v1/namespaces/default/status//', 200],
    ['/apis/apps//', 200],
    ['/version//', 200],
    ['/apis/', 200],
    ['/apis//', 404],
    ['/index.html/', 404],
    ['/metrics/', 404],
    ['/healthz/', 404],
    ['/api/v1/watch//', 500],
  ] as const)
    assert.equal((await request('GET', path)).status, status, path)
})

test('Given a user without rights asking for an unknown resource, then 403, not 404', async () => {
  const { request } = await server()
  const anonymous = { authorization: undefined }
  assert.equal((await request('GET', '/api/v1/nonsense', undefined, anonymous)).status, 403)
  assert.equal((await request('GET', '/apis/foo', undefined, anonymous)).status, 403)
  const unnamed = await request('GET', '/api/v1//x', undefined, anonymous)
  assert.deepEqual(
    [unnamed.value.message, unnamed.value.details],
    [
      'forbidden: User "system:anonymous" cannot get resource "" in API group "" at the cluster scope',
      { name: 'x' },
    ],
  )
})

test('a collection that a selector pins to one name is listed by that name, and deleted by none', async () => {
  const { request } = await server()
  const named = async (method: string, path = MAPS): Promise<string> => {
    const pinned = `${path}?fieldSelector=metadata.name%3Da`
    const { value } = await request(method, pinned, undefined, { authorization: undefined })
    return value.message.split(' is forbidden')[0]
  }
  assert.deepEqual([await named('GET'), await named('DELETE')], ['configmaps "a"', 'configmaps'])
  assert.equal(await named('GET', '/api/v1/watch/namespaces/default/configmaps'), 'configmaps')
})

test('what can be listed alone is judged as a list before its watch is refused', async () => {
  const { request } = await server()
  const watched = '/api/v1/componentstatuses?watch=true'
  assert.equal((await request('GET', `${watched}&limit=x`)).status, 400)
  assert.equal((await request('GET', watched, undefined, { accept: 'text/html' })).status, 406)
  const refused = await request('GET', watched)
  assert.deepEqual(message(refused), [
    405,
    'watch is not supported on resources of kind "componentstatuses"',
  ])
  assert.ok(refused.headers['warning'])
})

test('Given no credentials, then `/version` 200, `/apis` 403 as system:anonymous; a wrong bearer token: 401 everywhere', async () => {
  const { request } = await server()
  assert.equal(
    (await request('GET', '/version', undefined, { authorization: undefined })).status,
    200,
  )
  const refused = await request('GET', '/apis', undefined, { authorization: undefined })
  assert.deepEqual(message(refused), [
    403,
    'forbidden: User "system:anonymous" cannot get path "/apis"',
  ])
  for (const path of ['/version', '/apis', '/api/v1/pods']) {
    assert.equal(
      (await request('GET', path, undefined, { authorization: 'Bearer wrong' })).status,
      401,
    )
  }
})

test('an unreadable URL stops before authentication, a bad timeout before it too', async () => {
  const { request } = await server()
  const wrong = { authorization: 'Bearer wrong' }
  const unreadable = await request('GET', '/api/v1/watch', undefined, wrong)
  assert.equal(unreadable.status, 500)
  assert.match(
    unreadable.value,
    /^Internal Server Error: "\/api\/v1\/watch": failed to create RequestInfo: unable to determine kind and namespace from url, \/api\/v1\/watch/,
  )
  assert.deepEqual(message(await request('GET', `${MAPS}?timeout=abc`, undefined, wrong)), [
    400,
    'invalid timeout specified in the request URL - time: invalid duration "abc"',
  ])
  assert.equal((await request('GET', `${MAPS}?timeout=1.5s`)).status, 200)
})

test('Given `?timeout=abc` on a list, then 400; on a watch, ignored', async () => {
  const { request, watch } = await server()
  assert.equal((await request('GET', `${MAPS}?timeout=abc`)).status, 400)
  const seen = await watch(`${MAPS}?watch=true&timeout=abc`)
  assert.equal(seen.ended(), false)
  await request('POST', MAPS, { metadata: { name: 'seen-in-spite-of-timeout' } })
  assert.ok(seen.events.some(({ object }) => object.metadata.name === 'seen-in-spite-of-timeout'))
  seen.stop()
})

test('Given Accept text/html, then 406 with the list of representations; `text/html, */*`: 200 JSON', async () => {
  const { request } = await server()
  assert.deepEqual(message(await request('GET', MAPS, undefined, { accept: 'text/html' })), [
    406,
    '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  ])
  assert.equal((await request('GET', MAPS, undefined, { accept: 'text/html, */*' })).status, 200)
})

test('Accept is judged before the body, the content type before the options, the options before the body', async () => {
  const { request } = await server()
  assert.equal(
    (
      await request('POST', `${MAPS}?dryRun=Foo`, '{', {
        accept: 'text/html',
        'content-type': 'text/plain',
      })
    ).status,
    406,
  )
  assert.equal(
    (await request('POST', `${MAPS}?dryRun=Foo`, '{', { 'content-type': 'text/plain' })).status,
    415,
  )
  assert.equal((await request('POST', `${MAPS}?dryRun=Foo`, '{')).status, 422)
  assert.equal((await request('POST', MAPS, '{')).status, 400)
  assert.equal((await request('POST', MAPS, NAMELESS)).status, 422)
  // A deletion without a body has no type of it.
  for (const [body, status] of [
    ['', 404],
    ['{}', 415],
    ['x'.repeat(3_145_729), 413],
  ] as const) {
    const deleted = await request('DELETE', `${MAPS}/no`, body, { 'content-type': 'text/plain' })
    assert.equal(deleted.status, status)
  }
})

test('Given PATCH with Content-Type application/json, then 415 `415: Unsupported Media Type`', async () => {
  const { request } = await server()
  const answer = await request('PATCH', `${MAPS}/x`, {}, { 'content-type': 'application/json' })
  assert.deepEqual(message(answer), [415, '415: Unsupported Media Type'])
  assert.deepEqual(answer.value.details, {})
})

test('Given a body of 3 MiB + 1, then 413', async () => {
  const { request } = await server()
  const answer = await request('POST', MAPS, 'x'.repeat(3_145_729))
  assert.deepEqual(message(answer), [413, 'Request entity too large: limit is 3145728'])
})

test('Given a body with an unknown field and a duplicate, then Ignore accepts silently, no directive accepts with two Warning headers, Strict is 400 with both listed', async () => {
  const { request } = await server()
  const body = (name: string) => `{"metadata":{"name":"${name}"},"foo":1,"data":{"a":"1","a":"2"}}`
  const ignored = await request('POST', `${MAPS}?fieldValidation=Ignore`, body('ignore'))
  assert.deepEqual([ignored.status, ignored.headers['warning']], [201, undefined])
  const warned = await request('POST', MAPS, body('warn'))
  assert.deepEqual(
    [warned.status, warned.headers['warning']],
    [201, ['299 - "unknown field \\"foo\\""', '299 - "duplicate field \\"data.a\\""']],
  )
  assert.deepEqual(warned.value.data, { a: '2' })
  assert.deepEqual(
    message(await request('POST', `${MAPS}?fieldValidation=Strict`, body('strict'))),
    [
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "foo", duplicate field "data.a"',
    ],
  )
})

test('of YAML, repeated keys are told in lines, and unknown fields by their names', async () => {
  const { request } = await server()
  const body = 'zeta: 1\nmetadata:\n  name: a\n  name: b\nalpha: 1\ndata:\n  a: p\n  a: q\n'
  const yaml = { 'content-type': 'application/yaml' }
  assert.deepEqual(message(await request('POST', `${MAPS}?fieldValidation=Strict`, body, yaml)), [
    400,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 4: key "name" already set in map\n  line 8: key "a" already set in map, unknown field "alpha", unknown field "zeta"',
  ])
})

test('Given DELETE with a body and `?dryRun=All`, then the query is ignored and the object is deleted', async () => {
  const { request } = await server()
  await request('POST', MAPS, { metadata: { name: 'victim' } })
  assert.equal((await request('DELETE', `${MAPS}/victim?dryRun=All`)).status, 200)
  assert.equal((await request('GET', `${MAPS}/victim`)).status, 200)
  assert.equal((await request('DELETE', `${MAPS}/victim?dryRun=All`, { foo: 1 })).status, 200)
  assert.equal((await request('GET', `${MAPS}/victim`)).status, 404)
})

test('Given DELETE with preconditions.uid of another object, then 409 whose details.kind is the Kind', async () => {
  const { request } = await server()
  await request('POST', MAPS, { metadata: { name: 'guarded' } })
  const answer = await request('DELETE', `${MAPS}/guarded`, { preconditions: { uid: 'other' } })
  assert.deepEqual([answer.status, answer.value.details.kind], [409, 'ConfigMap'])
})

test('Given two writers with the same RV, then one 200 and one 409; given two PATCHes of different fields at once, then both 200 and both visible', async () => {
  const { request } = await server()
  const { value } = await request('POST', MAPS, { metadata: { name: 'contended' } })
  const put = (data: object) =>
    request('PUT', `${MAPS}/contended`, {
      metadata: { name: 'contended', resourceVersion: value.metadata.resourceVersion },
      data,
    })
  const puts = await Promise.all([put({ a: '1' }), put({ b: '1' })])
  assert.deepEqual(puts.map(({ status }) => status).sort(), [200, 409])
  const patch = (data: object) =>
    request(
      'PATCH',
      `${MAPS}/contended`,
      { data },
      { 'content-type': 'application/merge-patch+json' },
    )
  const patches = await Promise.all([patch({ c: '1' }), patch({ d: '1' })])
  assert.deepEqual(
    patches.map(({ status }) => status),
    [200, 200],
  )
  const { data } = (await request('GET', `${MAPS}/contended`)).value
  assert.deepEqual([data.c, data.d], ['1', '1'])
})

test('Given generateName of 70 characters, then a name of 63 with the first 58 kept', async () => {
  const { request } = await server()
  const prefix = 'p'.repeat(70)
  const { value } = await request('POST', MAPS, { metadata: { generateName: prefix } })
  assert.match(value.metadata.name, /^p{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  assert.equal(value.metadata.generateName, prefix)
})

test('Given an object with a finalizer, when deleted, then 200, deletionTimestamp, grace 0; when the finalizer is removed, then 200 and DELETED whose object still has the finalizer', async () => {
  const { request, watch } = await server()
  const { value } = await request('POST', MAPS, {
    metadata: { name: 'kept', finalizers: ['a.b/c'] },
  })
  const seen = await watch(
    `${MAPS}?watch=true&fieldSelector=metadata.name%3Dkept&resourceVersion=${value.metadata.resourceVersion}`,
  )
  const deleted = await request('DELETE', `${MAPS}/kept`)
  assert.equal(deleted.status, 200)
  assert.deepEqual(
    [deleted.value.metadata.deletionTimestamp, deleted.value.metadata.deletionGracePeriodSeconds],
    ['2026-01-01T00:00:00Z', 0],
  )
  const again = await request('POST', MAPS, { metadata: { name: 'kept' } })
  assert.deepEqual(message(again), [
    409,
    'object is being deleted: configmaps "kept" already exists',
  ])
  const patch = { metadata: { finalizers: null }, data: { a: 'new' } }
  const last = await request('PATCH', `${MAPS}/kept`, patch, {
    'content-type': 'application/merge-patch+json',
  })
  assert.deepEqual(
    [last.status, last.value.data, last.value.metadata.finalizers],
    [200, { a: 'new' }, undefined],
  )
  assert.equal(last.value.metadata.resourceVersion, deleted.value.metadata.resourceVersion)
  assert.deepEqual(
    seen.events.map(({ type }) => type),
    ['MODIFIED', 'DELETED'],
  )
  assert.deepEqual(seen.events[1]!.object.metadata.finalizers, ['a.b/c'])
  assert.equal(seen.events[1]!.object.data, undefined)
})

test('Given Foreground and then Background deletion of an object without other finalizers, then the second removes it', async () => {
  const { request } = await server()
  await request('POST', MAPS, { metadata: { name: 'owner' } })
  const first = await request('DELETE', `${MAPS}/owner`, { propagationPolicy: 'Foreground' })
  assert.deepEqual(first.value.metadata.finalizers, ['foregroundDeletion'])
  const repeated = await request('DELETE', `${MAPS}/owner`, { propagationPolicy: 'Foreground' })
  assert.equal(repeated.value.metadata.resourceVersion, first.value.metadata.resourceVersion)
  assert.equal(
    (await request('DELETE', `${MAPS}/owner`, { propagationPolicy: 'Background' })).value.status,
    'Success',
  )
  assert.equal((await request('GET', `${MAPS}/owner`)).status, 404)
})

test('Given If-None-Match with the current ETag on aggregated discovery, then 304', async () => {
  const { request } = await server()
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const first = await request('GET', '/apis', undefined, { accept })
  assert.deepEqual([first.status, first.headers['content-type']], [200, accept])
  assert.match(String(first.headers['etag']), /^"[0-9A-F]+"$/)
  const again = await request('GET', '/apis', undefined, {
    accept,
    'if-none-match': first.headers['etag'],
  })
  assert.deepEqual([again.status, again.value], [304, ''])
  // With a slash the path has the list alone.
  const listed = await request('GET', '/apis/', undefined, { accept: `${accept},application/json` })
  assert.equal(listed.value.kind, 'APIGroupList')
  assert.equal((await request('GET', '/apis/', undefined, { accept })).status, 406)
})

test('the version has one method, whatever is accepted of it', async () => {
  const { request } = await server()
  const accept = 'text/html'
  assert.equal((await request('GET', '/version', undefined, { accept })).status, 406)
  assert.equal((await request('POST', '/version', undefined, { accept })).status, 405)
})

test('Given an OpenAPI v3 URL with a stale hash, then 301 to the current one', async () => {
  const { request } = await server()
  const { serverRelativeURL } = JSON.parse((await request('GET', '/openapi/v3')).value).paths[
    'apis/apps/v1'
  ]
  const stale = await request('GET', '/openapi/v3/apis/apps/v1?hash=STALE')
  assert.deepEqual([stale.status, stale.headers['location']], [301, serverRelativeURL])
  const current = await request('GET', serverRelativeURL)
  assert.deepEqual([current.status, current.headers['cache-control']], [200, 'public, immutable'])
})

test('Given the tag or the time of an OpenAPI v3 document, then 304; a tag that is another one counts before the time', async () => {
  const { request } = await server()
  const path = '/openapi/v3/apis/apps/v1'
  const first = await request('GET', path)
  const time = first.headers['last-modified']
  assert.match(String(time), / GMT$/)
  const statusWith = async (headers: Record<string, string>): Promise<number> =>
    (await request('GET', path, undefined, headers)).status
  assert.equal(await statusWith({ 'if-none-match': String(first.headers['etag']) }), 304)
  assert.equal(await statusWith({ 'if-modified-since': String(time) }), 304)
  assert.equal(await statusWith({ 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }), 200)
  assert.equal(await statusWith({ 'if-none-match': '"X"', 'if-modified-since': String(time) }), 200)
  assert.match(String((await request('GET', '/openapi/v3')).headers['last-modified']), / GMT$/)
})

test('Given any access to Endpoints, then the deprecation Warning, also on 400 and on watches', async () => {
  const { request, watch } = await server()
  const text = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
  assert.deepEqual((await request('GET', '/api/v1/endpoints')).headers['warning'], [text])
  assert.deepEqual((await request('GET', '/api/v1/endpoints?limit=x')).headers['warning'], [text])
  const seen = await watch('/api/v1/endpoints?watch=true')
  assert.deepEqual(seen.headers['warning'], [text])
  seen.stop()
})

test('Given Endpoints and a type of body or answer that no route knows, then 415 before 406, and no deprecation Warning', async () => {
  const { request } = await server()
  const path = '/api/v1/namespaces/default/endpoints/none'
  const patch = { 'content-type': 'text/plain', accept: 'text/html' }
  for (const [method, headers, status] of [
    ['PATCH', patch, 415],
    ['PATCH', { ...patch, 'content-type': 'application/merge-patch+json' }, 406],
    ['GET', { accept: 'text/html' }, 406],
  ] as const) {
    const answer = await request(method, path, method === 'GET' ? undefined : {}, headers)
    assert.deepEqual([answer.status, answer.headers['warning']], [status, undefined])
  }
})

test("Given a Table list with includeObject=None, then rows without object and `metadata.resourceVersion` equal to the list's", async () => {
  const { request } = await server()
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
  const { value } = await request('GET', `${MAPS}?includeObject=None`, undefined, { accept })
  assert.equal(value.kind, 'Table')
  assert.ok(
    value.rows.length > 0 && value.rows.every((row: { object: unknown }) => row.object === null),
  )
  assert.equal(
    value.metadata.resourceVersion,
    (await request('GET', MAPS)).value.metadata.resourceVersion,
  )
  const wrong = await request('GET', `${MAPS}?includeObject=Foo`, undefined, { accept })
  assert.deepEqual(message(wrong), [
    400,
    `Unable to convert to Table as requested: includeObject: Invalid value: "Foo": must be 'Metadata', 'Object', 'None', or empty`,
  ])
  assert.equal((await request('GET', `${MAPS}/nope`, undefined, { accept })).value.kind, 'Status')
})

test('`__proto__` is data like any other key', async () => {
  const { request } = await server()
  const { status, value } = await request(
    'POST',
    MAPS,
    '{"metadata":{"name":"proto"},"data":{"__proto__":"x"}}',
  )
  assert.deepEqual([status, message({ status, value })[1]], [201, value])
  assert.deepEqual(Object.entries(value.data), [['__proto__', 'x']])
})

test('a document nested too deep is refused, not followed', async () => {
  const { request } = await server()
  assert.equal((await request('POST', MAPS, '['.repeat(500_000))).status, 400)
  assert.equal(
    (await request('POST', MAPS, `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)).status,
    400,
  )
})

test('YAML goes in and comes out', async () => {
  const { request } = await server()
  const made = await request('POST', MAPS, 'metadata:\n  name: yaml\ndata:\n  a: "1"\n', {
    'content-type': 'application/yaml',
  })
  assert.deepEqual([made.status, made.value.data], [201, { a: '1' }])
  const shown = await request('GET', `${MAPS}/yaml`, undefined, {
    accept: 'application/yaml, application/json',
  })
  assert.equal(shown.headers['content-type'], 'application/yaml')
  assert.match(shown.value, /^apiVersion: v1\ndata:\n {2}a: "1"\nkind: ConfigMap\n/)
})

test('a whole number written with a fraction is no integer in JSON; YAML, patches and custom types pass it through a float', async () => {
  const { request } = await server()
  const lease = (seconds: string): string =>
    `{"metadata":{"name":"n"},"spec":{"leaseDurationSeconds":${seconds}}}`
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
  const refused = await request('POST', leases, lease('3.0'))
  assert.deepEqual(
    [refused.status, refused.value.message],
    [
      400,
      'Lease in version "v1" cannot be handled as a Lease: json: cannot unmarshal number 3.0 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32',
    ],
  )
  const yaml = { 'content-type': 'application/yaml' }
  assert.equal((await request('POST', leases, lease('3.0'), yaml)).status, 201)
  const patched = await request('PATCH', `${leases}/n`, '{"spec":{"leaseDurationSeconds":4e0}}', {
    'content-type': 'application/strategic-merge-patch+json',
  })
  assert.deepEqual([patched.status, patched.value.spec.leaseDurationSeconds], [200, 4])
})

test('dry runs go through everything and store nothing', async () => {
  const { server: apiServer, request } = await server()
  const before = apiServer.store.revision
  const made = await request('POST', `${MAPS}?dryRun=All`, { metadata: { generateName: 'dry-' } })
  assert.deepEqual([made.status, made.value.metadata.resourceVersion], [201, undefined])
  assert.match(made.value.metadata.name, /^dry-/)
  assert.ok(made.value.metadata.uid)
  assert.equal(
    (await request('POST', `${MAPS}?dryRun=All`, { metadata: { name: 'yaml' } })).status,
    409,
  )
  assert.equal(apiServer.store.revision, before)
})

test('Given an empty name before something else, then nothing is done to the collection', async () => {
  const { request } = await createTestServer()
  await request('POST', MAPS, { metadata: { name: 'kept' } })
  const pods = '/api/v1/namespaces/default/pods'
  const cases: readonly (readonly [string, string, number, string])[] = [
    ['DELETE', `${MAPS}//kept`, 404, 'the server could not find the requested resource'],
    ['POST', `${MAPS}//kept`, 404, 'the server could not find the requested resource'],
    ['DELETE', `${MAPS}/kept//x`, 404, 'the server could not find the requested resource'],
    ['GET', `${pods}/x//status`, 404, 'the server could not find the requested resource'],
    ['GET', '/api/v1/watch/pods/x', 404, 'the server could not find the requested resource'],
    [
      'DELETE',
      '/api/v1/nodes//status',
      405,
      'the server does not allow this method on the requested resource',
    ],
    ['GET', `${pods}//status`, 400, 'name must be provided'],
    ['PUT', `${pods}//status`, 400, 'name must be provided'],
    ['GET', `${pods}//log`, 400, 'name must be provided'],
    [
      'DELETE',
      '/api/v1/namespaces//nodes',
      404,
      'the server could not find the requested resource',
    ],
  ]
  for (const [method, path, status, text] of cases)
    assert.deepEqual(message(await request(method, path)), [status, text], `${method} ${path}`)
  assert.equal((await request('GET', `${MAPS}/kept`)).status, 200)
})

test('Given an empty namespace, then what is asked is judged as far as that, and nothing is done', async () => {
  const { request } = await createTestServer()
  const maps = '/api/v1/namespaces//configmaps'
  assert.equal((await request('DELETE', `${maps}?labelSelector=nobody`)).status, 200)
  await request('POST', MAPS, { metadata: { name: 'kept' } })
  const named = { metadata: { name: 'a' } }
  const required = 'Namespace parameter required.'
  const reviews = '/apis/authorization.k8s.io/v1/namespaces//localsubjectaccessreviews'
  const cases: readonly (readonly [string, string, object | undefined, number, string])[] = [
    ['GET', `${maps}/a?resourceVersion=x`, undefined, 400, required],
    ['PUT', `${maps}/a`, named, 400, required],
    ['PUT', `${maps}/a`, { metadata: { name: 'a', namespace: 'default' } }, 400, required],
    [
      'PUT',
      `${maps}/b`,
      named,
      400,
      'the name of the object (a) does not match the name on the URL (b)',
    ],
    ['DELETE', `${maps}/a`, undefined, 400, required],
    ['DELETE', maps, undefined, 400, required],
    ['DELETE', `${maps}?limit=x`, undefined, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['POST', maps, named, 422, 'ConfigMap "a" is invalid: metadata.namespace: Required value'],
    ['GET', '/api/v1/namespaces//pods/x/log', undefined, 400, required],
    ['POST', '/api/v1/namespaces//serviceaccounts/x/token', { spec: {} }, 400, required],
    [
      'POST',
      '/api/v1/namespaces//pods/x/eviction',
      named,
      400,
      'name in URL does not match name in Eviction object',
    ],
    [
      'POST',
      reviews,
      { spec: { user: 'u', resourceAttributes: {} } },
      400,
      'namespace is required on this type: ',
    ],
    [
      'POST',
      reviews,
      { spec: { user: 'u', resourceAttributes: { namespace: 'default' } } },
      422,
      '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "default": must match metadata.namespace',
    ],
    [
      'POST',
      '/api/v1/namespaces//events',
      { involvedObject: {} },
      422,
      `Event "" is invalid: namespace: Invalid value: "": ${dnsSubdomain('')[0]}`,
    ],
  ]
  for (const [method, path, body, status, text] of cases)
    assert.deepEqual(
      message(await request(method, path, body)),
      [status, text],
      `${method} ${path}`,
    )
  assert.equal((await request('GET', maps)).value.kind, 'ConfigMapList')
})

test('who may not do what a path with doubled slashes would ask for hears that, and others that there is none', async () => {
  const { request } = await createTestServer()
  const path = '//apis/apps/v1/namespaces/n/deployments'
  const { status, value } = await request('POST', path, {}, { 'impersonate-user': 'u' })
  assert.deepEqual(
    [status, value.message],
    [
      403,
      'deployments.apps is forbidden: User "u" cannot create resource "deployments" in API group "apps" in the namespace "n"',
    ],
  )
  const answer = await request('POST', path, {})
  assert.deepEqual([answer.status, answer.value], [404, '404 page not found\n'])
})
