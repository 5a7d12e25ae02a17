/** In which state webhooks see what is written and deleted, and how often. Each sentence observed on kube-apiserver 1.36. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { makeNamespace, PATCH, pod, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'
import type { AnyValue } from '../../testing/test-server.ts'
import { askedAbout, review, startWebhook } from '../../testing/webhook-server.ts'
import type { WebhookServer } from '../../testing/webhook-server.ts'

/** What others do while somebody is asked. */
let meanwhile: ((request: AnyValue) => Promise<void>) | undefined
const ns = '/api/v1/namespaces/a'
let hook: WebhookServer
let server: TestServer
let call: TestServer['call']

before(async () => {
  hook = await startWebhook(async (body: AnyValue) => {
    await meanwhile?.(body.request)
    return review(body, { allowed: true })
  })
  server = await startServer()
  call = server.call
  await makeNamespace(server, 'a', { team: 'x' })
  for (const kind of ['mutating', 'validating']) {
    await call('POST', `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`, {
      metadata: { name: kind },
      webhooks: [
        askedAbout(
          hook,
          { resources: ['*/*'], operations: ['*'] },
          { name: `${kind}.example.com`, path: `/${kind}` },
        ),
      ],
    })
  }
  hook.calls.splice(0)
})
after(async () => {
  await hook.stop()
  await server.server.stop()
})
afterEach(() => hook.calls.splice(0))

/** The requests of one operation, as those saw them who may change or who judge. */
function seen(kind: 'mutating' | 'validating', operation: string): AnyValue[] {
  return hook.calls
    .filter(({ path, body }) => path.includes(kind) && body.request.operation === operation)
    .map(({ body }) => body.request)
}

const graceOf = (request: AnyValue): unknown => [
  request.options.gracePeriodSeconds,
  request.oldObject.metadata.deletionGracePeriodSeconds,
]

describe('a deletion', () => {
  test('tells of the grace period that the pod gets, and is asked about again when the pod goes at once', async () => {
    await call('POST', `${ns}/pods`, pod('p'))
    await call('DELETE', `${ns}/pods/p`)
    assert.deepEqual(seen('mutating', 'DELETE').map(graceOf), [
      [0, undefined],
      [0, 0],
    ])
    assert.deepEqual(seen('validating', 'DELETE').map(graceOf), [
      [0, undefined],
      [0, 0],
    ])
    assert.equal((await call('GET', `${ns}/pods/p`)).status, 404)
  })

  test('of a dry run is asked about once', async () => {
    await call('POST', `${ns}/pods`, pod('d'))
    await call('DELETE', `${ns}/pods/d?dryRun=All`)
    assert.deepEqual(seen('validating', 'DELETE').map(graceOf), [[0, undefined]])
  })

  test('that does not shorten a grace period that runs is nobody asked about', async () => {
    await call('POST', `${ns}/pods`, pod('g'))
    await call('POST', `${ns}/pods/g/binding`, {
      metadata: { name: 'g' },
      target: { kind: 'Node', name: 'n' },
    })
    await call('DELETE', `${ns}/pods/g`)
    await call('DELETE', `${ns}/pods/g?gracePeriodSeconds=50`)
    await call('DELETE', `${ns}/pods/g`)
    assert.deepEqual(seen('validating', 'DELETE').map(graceOf), [[30, undefined]])
    await call('DELETE', `${ns}/pods/g?gracePeriodSeconds=5`)
    assert.deepEqual(seen('validating', 'DELETE').map(graceOf), [
      [30, undefined],
      [5, 30],
    ])
  })

  test('that takes the last finalizer away is asked about twice', async () => {
    await call('POST', `${ns}/configmaps`, { metadata: { name: 'c', finalizers: ['orphan'] } })
    await call('DELETE', `${ns}/configmaps/c?propagationPolicy=Background`)
    const finalizers = seen('validating', 'DELETE').map(
      (each) => each.oldObject.metadata.finalizers,
    )
    assert.deepEqual(finalizers, [['orphan'], ['orphan']])
    assert.equal((await call('GET', `${ns}/configmaps/c`)).status, 404)
  })

  /** While a deletion is asked about for the second time. */
  function whileAskedAgain(act: () => Promise<unknown>): void {
    meanwhile = async ({ operation }) => {
      if (operation !== 'DELETE' || seen('mutating', 'DELETE').length < 2) return
      meanwhile = undefined
      await act()
    }
  }

  test('that is asked about again keeps to its preconditions, whoever has the name by then', async () => {
    const { uid } = (await call('POST', `${ns}/pods`, pod('n'))).body.metadata
    let namesake = ''
    whileAskedAgain(async () => {
      await call('DELETE', `${ns}/pods/n`)
      namesake = (await call('POST', `${ns}/pods`, pod('n'))).body.metadata.uid
    })
    const refused = await call('DELETE', `${ns}/pods/n`, { preconditions: { uid } })
    assert.equal(refused.status, 409)
    assert.equal((await call('GET', `${ns}/pods/n`)).body.metadata.uid, namesake)
  })

  test('that is asked about again leaves what somebody keeps by then', async () => {
    await call('POST', `${ns}/configmaps`, { metadata: { name: 'k', finalizers: ['orphan'] } })
    const kept = { metadata: { finalizers: ['orphan', 'example.com/keep'] } }
    whileAskedAgain(() => call('PATCH', `${ns}/configmaps/k`, kept, PATCH))
    await call('DELETE', `${ns}/configmaps/k?propagationPolicy=Background`)
    const left = (await call('GET', `${ns}/configmaps/k`)).body.metadata
    assert.deepEqual(left.finalizers, ['example.com/keep'])
    assert.ok(left.deletionTimestamp)
  })

  test('of a definition names its uid, and another one is refused in words of its own', async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const made = await call('POST', path, {
      metadata: { name: 'as.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'as', kind: 'A' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
        ],
      },
    })
    const { uid } = made.body.metadata
    const refused = await call('DELETE', `${path}/as.example.com`, { preconditions: { uid: 'x' } })
    assert.equal(
      refused.body.message,
      `Operation cannot be fulfilled on customresourcedefinitions.apiextensions.k8s.io "as.example.com": Precondition failed: UID in precondition: x, UID in object meta: ${uid}`,
    )
    assert.equal((await call('DELETE', `${path}/as.example.com`)).status, 200)
    assert.deepEqual(seen('validating', 'DELETE').at(-1).options.preconditions, { uid })
  })
})

describe('what is created', () => {
  test('has no uid, time or link of the client', async () => {
    await call('POST', `${ns}/configmaps`, {
      metadata: { name: 'u', uid: 'x', creationTimestamp: '2020-01-01T00:00:00Z', selfLink: '/x' },
    })
    const { metadata } = seen('mutating', 'CREATE')[0]!.object
    assert.deepEqual(
      [metadata.uid, metadata.creationTimestamp, metadata.selfLink],
      [undefined, undefined, undefined],
    )
  })

  test('is judged without what reading it from the store will add', async () => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
    const job = await call('POST', '/apis/batch/v1/namespaces/a/jobs', {
      metadata: { name: 'j' },
      spec: { template },
    })
    const claim = await call('POST', `${ns}/persistentvolumeclaims`, {
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } },
    })
    assert.equal(job.body.metadata.labels['job-name'], 'j')
    assert.equal(claim.body.status.phase, 'Pending')
    const [sawJob, sawClaim] = seen('validating', 'CREATE').map(({ object }) => object)
    assert.equal(sawJob.metadata.labels, undefined)
    assert.equal(sawJob.spec.template.metadata.labels['job-name'], 'j')
    assert.deepEqual(sawClaim.status, {})
  })

  test('a generated name of a namespace is in its labels for those who judge', async () => {
    await call('POST', '/api/v1/namespaces', { metadata: { generateName: 'g-' } })
    const { metadata } = seen('validating', 'CREATE')[0]!.object
    assert.equal(metadata.labels['kubernetes.io/metadata.name'], metadata.name)
  })

  test('reviews that are wrong are judged by nobody, and evictions with the dry run of their query', async () => {
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    assert.equal((await call('POST', reviews, { spec: {} })).status, 422)
    assert.deepEqual(
      [seen('mutating', 'CREATE').length, seen('validating', 'CREATE').length],
      [1, 0],
    )
    await call('POST', `${ns}/pods`, pod('e'))
    await call('POST', `${ns}/pods/e/eviction?dryRun=All`, {
      metadata: { name: 'e' },
      deleteOptions: { gracePeriodSeconds: 1 },
    })
    const options = (kind: 'mutating' | 'validating'): unknown =>
      seen(kind, 'CREATE').at(-1).object.deleteOptions
    assert.deepEqual(
      [options('mutating'), options('validating')],
      [{ gracePeriodSeconds: 1 }, { gracePeriodSeconds: 1, dryRun: ['All'] }],
    )
  })
})

test('of a Scale those who may change it see who owns its replicas, those who judge do not', async () => {
  const path = '/apis/apps/v1/namespaces/a/deployments'
  await call('POST', `${path}?fieldManager=one`, {
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
  await call('PATCH', `${path}/d/scale?fieldManager=two`, { spec: { replicas: 3 } }, PATCH)
  const owners = ({ metadata }: AnyValue): unknown =>
    metadata.managedFields?.map((entry: AnyValue) => ({ ...entry, time: '' }))
  const entry = {
    time: '',
    operation: 'Update',
    apiVersion: 'autoscaling/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  }
  const [mutating] = seen('mutating', 'UPDATE')
  assert.deepEqual(owners(mutating.oldObject), [{ manager: 'one', ...entry }])
  assert.deepEqual(owners(mutating.object), [{ manager: 'two', ...entry, subresource: 'scale' }])
  const [judging] = seen('validating', 'UPDATE')
  assert.deepEqual([owners(judging.oldObject), owners(judging.object)], [undefined, undefined])
})

test('a link to itself is shown by dry runs of changes as it was sent, and is written nowhere', async () => {
  await call('POST', `${ns}/configmaps`, { metadata: { name: 's' } })
  const link = { metadata: { name: 's', selfLink: '/x' } }
  const path = `${ns}/configmaps/s`
  const linkOf = async (method: string, at: string, ...rest: AnyValue[]): Promise<unknown> =>
    (await call(method, at, link, ...rest)).body.metadata.selfLink
  assert.equal(await linkOf('PUT', `${path}?dryRun=All`), '/x')
  assert.equal(await linkOf('PATCH', `${path}?dryRun=All`, PATCH), '/x')
  assert.equal(await linkOf('PATCH', path, PATCH), undefined)
  assert.equal(await linkOf('POST', `${ns}/configmaps?dryRun=All`), undefined)
})
