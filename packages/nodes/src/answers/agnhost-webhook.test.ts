import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judged, webhookPage } from './agnhost-webhook.ts'

const PODS = { group: '', version: 'v1', resource: 'pods' }
const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const ALLOWED = { allowed: true }
const pod = (labels: object, name = 'p', container = 'c') => ({
  metadata: { name, labels },
  spec: { containers: [{ name: container }] },
})
const data = (value: object) => ({ data: value })
const patch = (op: string, path: string, value: unknown) => ({
  allowed: true,
  patch: [{ op, path, value }],
})
const no = (message: string) => ({ allowed: false, status: { message } })
const because = (reason: string) => ({ allowed: false, status: { reason } })
const DISALLOWED = { 'webhook-e2e-test': 'webhook-disallow' }
const KEPT = { 'webhook-e2e-test': 'webhook-nondeletable' }
const attach = (object: object, name = 'to-be-attached-pod') => ({
  resource: PODS,
  subResource: 'attach',
  name,
  object,
})

for (const [path, asked, expected] of [
  ['/always-deny', {}, no('this webhook denies all requests')],
  [
    '/add-label',
    { object: { metadata: {} } },
    patch('add', '/metadata/labels', { 'added-label': 'yes' }),
  ],
  [
    '/add-label',
    { object: { metadata: { labels: { a: 'b' } } } },
    patch('add', '/metadata/labels/added-label', 'yes'),
  ],
  [
    '/add-label',
    { object: { metadata: { labels: { 'added-label': 'no' } } } },
    patch('replace', '/metadata/labels/added-label', 'yes'),
  ],
  ['/add-label', { object: { metadata: { labels: { 'added-label': 'yes' } } } }, ALLOWED],
  ['/pods', { resource: PODS, object: pod({ a: 'b' }) }, ALLOWED],
  [
    '/pods',
    { resource: PODS, object: pod(DISALLOWED, 'p', 'webhook-disallow-1') },
    no('the pod contains unwanted label; the pod contains unwanted container name;'),
  ],
  ['/pods', { resource: MAPS, object: pod(DISALLOWED) }, no('expect resource to be { v1 pods}')],
  [
    '/pods',
    { resource: PODS, object: pod({ 'webhook-e2e-test': 'wait-forever' }) },
    { allowed: false, isMute: true },
  ],
  [
    '/pods/attach',
    attach({ stdin: true, container: 'container1' }),
    no("attaching to pod 'to-be-attached-pod' is not allowed"),
  ],
  ['/pods/attach', attach({ stdout: true, container: 'container1' }), ALLOWED],
  ['/pods/attach', attach({ stdin: true, container: 'container1' }, 'other'), ALLOWED],
  [
    '/mutating-pods',
    { resource: PODS, object: pod({}, 'webhook-to-be-mutated') },
    patch('add', '/spec/initContainers', [
      { image: 'webhook-added-image', name: 'webhook-added-init-container', resources: {} },
    ]),
  ],
  ['/mutating-pods', { resource: PODS, object: pod({}) }, ALLOWED],
  [
    '/configmaps',
    { resource: MAPS, operation: 'CREATE', object: data(DISALLOWED) },
    because('the configmap contains unwanted key and value'),
  ],
  [
    '/configmaps',
    { resource: MAPS, operation: 'DELETE', oldObject: data(KEPT) },
    because('the configmap cannot be deleted because it contains unwanted key and value'),
  ],
  ['/configmaps', { resource: MAPS, operation: 'DELETE', oldObject: data(DISALLOWED) }, ALLOWED],
  [
    '/custom-resource',
    { operation: 'UPDATE', object: data(DISALLOWED) },
    because('the custom resource contains unwanted data'),
  ],
  [
    '/mutating-custom-resource',
    { object: data({ 'mutation-start': 'yes' }) },
    patch('add', '/data/mutation-stage-1', 'yes'),
  ],
  [
    '/mutating-configmaps',
    { resource: MAPS, object: data({ 'mutation-start': 'yes', 'mutation-stage-1': 'yes' }) },
    patch('add', '/data/mutation-stage-2', 'yes'),
  ],
  ['/mutating-configmaps', { resource: MAPS, object: {} }, ALLOWED],
  ['/crd', { object: { metadata: { labels: DISALLOWED } } }, no('the crd contains unwanted label')],
] as const)
  test(`${path} of ${JSON.stringify(asked)}`, () => {
    assert.deepEqual(judged(path, asked), expected)
  })

test('a sidecar is added with the image of the flag, without one nobody is let in', () => {
  const asked = { resource: PODS, object: pod({}) }
  const value = { image: 'side:1', name: 'webhook-added-sidecar', resources: {} }
  const path = '/mutating-pods-sidecar'
  assert.deepEqual(judged(path, asked, 'side:1'), patch('add', '/spec/containers/-', value))
  assert.equal(judged(path, asked).allowed, false)
})

const WEBHOOK = ['/agnhost', 'webhook', '--port=8444']

async function said(
  path: string,
  body: unknown,
  words: readonly string[] = WEBHOOK,
  pause: (delayMs: number) => Promise<void> = async () => {},
) {
  const request = {
    method: 'POST',
    port: 8444,
    path,
    contentType: 'application/json',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }
  const page = await webhookPage(words, request, pause)
  if (page === undefined) return undefined
  const text = Buffer.from(page.body).toString()
  return [page.status, page.type === 'application/json' ? JSON.parse(text) : text]
}

for (const version of ['v1', 'v1beta1'])
  test(`a review of ${version} is answered with its uid, and what is to be changed as JSON patch`, async () => {
    const apiVersion = `admission.k8s.io/${version}`
    const review = { kind: 'AdmissionReview', apiVersion }
    const [status, answer] = (await said('/add-label?timeout=1s', {
      ...review,
      request: { uid: 'u', object: { metadata: {} } },
    }))!
    const operations = [{ op: 'add', path: '/metadata/labels', value: { 'added-label': 'yes' } }]
    const text = Buffer.from(JSON.stringify(operations)).toString('base64')
    assert.equal(status, 200)
    assert.deepEqual(answer, {
      ...review,
      response: { uid: 'u', allowed: true, patch: text, patchType: 'JSONPatch' },
    })
  })

test('what is no review is refused, other pages are not there, other programs are not asked', async () => {
  assert.deepEqual(await said('/readyz', ''), [200, 'ok'])
  assert.deepEqual(await said('/nosuch', ''), [404, '404 page not found\n'])
  assert.equal((await said('/pods', '{'))![0], 400)
  assert.deepEqual(await said('/pods', { kind: 'Pod', apiVersion: 'v1' }), [
    400,
    'Unsupported group version kind: v1, Kind=Pod\n',
  ])
  assert.equal(await said('/pods', '', ['/agnhost', 'webhook']), undefined)
  assert.equal(await said('/pods', '', ['/agnhost', 'netexec', '--http-port=8444']), undefined)
})

test('it takes its time where it is asked to, and for ever where it never answers', async () => {
  const waits: number[] = []
  const pause = async (delayMs: number): Promise<void> => void waits.push(delayMs)
  const review = (object: object) => ({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: { uid: 'u', resource: PODS, object },
  })
  const [, answer] = (await said('/always-allow-delay-5s', review({}), WEBHOOK, pause))!
  assert.deepEqual(answer.response, { uid: 'u', allowed: true })
  await said('/pods', review(pod({ 'webhook-e2e-test': 'wait-forever' })), WEBHOOK, pause)
  assert.deepEqual(waits, [5_000, Infinity])
})

const V1 = 'stable.example.com/v1'
const V2 = 'stable.example.com/v2'
const CONVERTER = ['/agnhost', 'crd-conversion-webhook', '--port', '8444']

async function converted(desiredAPIVersion: string, ...objects: readonly object[]) {
  const review = { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' }
  const request = { uid: 'u', desiredAPIVersion, objects }
  const [status, answer] = (await said('/crdconvert', { ...review, request }, CONVERTER))!
  assert.equal(status, 200)
  assert.equal(answer.response.uid, 'u')
  const { result, convertedObjects } = answer.response
  return result.status === 'Success' ? convertedObjects : result.message
}

test('a custom resource is converted from either version to the other, and back', async () => {
  const one = { apiVersion: V1, metadata: { name: 'a' }, hostPort: 'h:80' }
  const two = { apiVersion: V2, metadata: { name: 'a' }, host: 'h', port: '80' }
  assert.deepEqual(await converted(V2, one, { apiVersion: V1, x: 1 }), [
    two,
    { apiVersion: V2, x: 1 },
  ])
  assert.deepEqual(await converted(V1, two, { apiVersion: V2, host: 'h' }), [
    one,
    { apiVersion: V1, hostPort: 'h:' },
  ])
})

test('what cannot be converted is told', async () => {
  assert.equal(
    await converted(V1, { apiVersion: V1 }),
    `conversion from a version to itself should not call the webhook: ${V1}`,
  )
  assert.equal(await converted('x/v3', { apiVersion: V1 }), 'unexpected conversion version "x/v3"')
  assert.equal(await converted(V1, { apiVersion: 'x/v3' }), 'unexpected conversion version "x/v3"')
  assert.equal(
    await converted(V2, { apiVersion: V1, hostPort: 'a:b:c' }),
    'invalid hostPort value `a:b:c`',
  )
  assert.deepEqual(await said('/other', '', CONVERTER), [404, '404 page not found\n'])
})
