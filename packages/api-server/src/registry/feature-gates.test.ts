import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, type AnyValue } from '../testing/test-server.ts'
import { dropDisabledFields, featureEnabled } from './feature-gates.ts'

const on = (): boolean => true

function podSpec(): AnyValue {
  return {
    schedulingGroup: { podGroupName: 'g' },
    containers: [{ name: 'a', image: 'a' }],
    volumes: [
      { name: 'empty', emptyDir: {} },
      {
        name: 'trust',
        projected: {
          sources: [
            { clusterTrustBundle: { path: 'a' }, secret: { name: 's' } },
            { podCertificate: { signerName: 'a/b' }, secret: { name: 's' } },
          ],
        },
      },
    ],
  }
}

test('fields whose gate is off are dropped from pods, and from templates wherever a kind has them', () => {
  const template = () => ({ template: { spec: podSpec() } })
  const rows: readonly (readonly [string, AnyValue, (object: AnyValue) => AnyValue])[] = [
    ['Pod', { spec: podSpec() }, (object) => object.spec],
    ['PodTemplate', template(), (object) => object.template.spec],
    ['Deployment', { spec: template() }, (object) => object.spec.template.spec],
    [
      'CronJob',
      { spec: { jobTemplate: { spec: template() } } },
      (object) => object.spec.jobTemplate.spec.template.spec,
    ],
  ]
  for (const [kind, object, specOf] of rows) {
    dropDisabledFields(kind, object, undefined, featureEnabled)
    const spec = specOf(object)
    assert.equal(spec.schedulingGroup, undefined, kind)
    assert.deepEqual(
      spec.volumes[1].projected.sources,
      [{ secret: { name: 's' } }, { secret: { name: 's' } }],
      kind,
    )
  }
})

test('a field that is stored already stays, and one whose gate is on', () => {
  const stored = { spec: podSpec() }
  const draft = { spec: podSpec() }
  dropDisabledFields('Pod', draft, stored, featureEnabled)
  assert.deepEqual(draft, stored)
  dropDisabledFields('Pod', draft, undefined, on)
  assert.deepEqual(draft, stored)
  const other = { spec: { ...podSpec(), schedulingGroup: undefined } }
  dropDisabledFields('Pod', draft, other, featureEnabled)
  assert.deepEqual(
    [draft.spec.schedulingGroup, draft.spec.volumes],
    [undefined, podSpec().volumes],
    'each field is judged by itself',
  )
})

test('the server drops a data source of another namespace, and keeps one of its own', async () => {
  const { request } = await createTestServer()
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
  const claim = (name: string, dataSourceRef: object) => ({
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      dataSourceRef,
    },
  })
  const source = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' }
  const far = await request('POST', claims, claim('far', { ...source, namespace: 'other' }))
  const near = await request('POST', claims, claim('near', source))
  assert.deepEqual([far.status, far.value.spec.dataSourceRef], [201, undefined])
  assert.deepEqual([near.status, near.value.spec.dataSourceRef], [201, source])
})

test('a server that is told so keeps a field whose gate is off by default', async () => {
  const { request } = await createTestServer({ featureGates: { GenericWorkload: true } })
  const schedulingGroup = { podGroupName: 'g' }
  const spec = { schedulingGroup, containers: [{ name: 'a', image: 'a' }] }
  const template = { metadata: { name: 't' }, template: { spec } }
  const answer = await request('POST', '/api/v1/namespaces/default/podtemplates', template)
  assert.deepEqual(
    [answer.status, answer.value.template.spec.schedulingGroup],
    [201, schedulingGroup],
  )
})

test('a lifecycle of a stop signal alone goes with it, and pods warn only when they are made', async () => {
  const { request } = await createTestServer()
  const pods = '/api/v1/namespaces/default/pods'
  await request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  })
  const lifecycle = { stopSignal: 'SIGTERM' }
  const volumes = [{ name: 'v', flocker: { datasetName: 'd' } }]
  const made = await request('POST', pods, {
    metadata: { name: 'p' },
    spec: { os: { name: 'linux' }, volumes, containers: [{ name: 'a', image: 'a', lifecycle }] },
  })
  assert.equal(made.status, 201)
  assert.equal(made.value.spec.containers[0].lifecycle, undefined)
  assert.ok(made.headers['warning'] !== undefined)
  const labelled = await request('PUT', `${pods}/p`, {
    ...made.value,
    metadata: { ...made.value.metadata, labels: { a: 'b' } },
  })
  assert.deepEqual([labelled.status, labelled.headers['warning']], [200, undefined])
})

const STATEFUL_SETS = '/apis/apps/v1/namespaces/default/statefulsets'
const statefulSet = (name: string, updateStrategy?: object) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
    updateStrategy,
  },
})

test('with MaxUnavailableStatefulSet maxUnavailable is kept, is 1 where nobody says, and is judged; without it it goes', async () => {
  const rolling = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%' } }
  const none = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } }
  const on = await createTestServer({ featureGates: { MaxUnavailableStatefulSet: true } })
  const created = async (server: typeof on, name: string, strategy?: object) =>
    (await server.request('POST', STATEFUL_SETS, statefulSet(name, strategy))).value
  const strategies = [
    (await created(on, 'half', rolling)).spec.updateStrategy,
    (await created(on, 'silent')).spec.updateStrategy,
    (await created(on, 'by-hand', { type: 'OnDelete' })).spec.updateStrategy,
  ]
  assert.deepEqual(strategies, [
    { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%', partition: 0 } },
    { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, partition: 0 } },
    { type: 'OnDelete' },
  ])
  assert.match(
    (await created(on, 'none', none)).message,
    /rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0$/,
  )
  const off = await createTestServer()
  assert.deepEqual((await created(off, 'half', rolling)).spec.updateStrategy, {
    type: 'RollingUpdate',
    rollingUpdate: { partition: 0 },
  })
})

test('with HPAScaleToZero minReplicas may be 0 where a metric of no pod is looked at', async () => {
  const server = await createTestServer({ featureGates: { HPAScaleToZero: true } })
  const external = {
    type: 'External',
    external: { metric: { name: 'q' }, target: { type: 'Value', value: '1' } },
  }
  const answer = async (name: string, minReplicas: number, metrics?: object[]) => {
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
    const spec = { scaleTargetRef, minReplicas, maxReplicas: 3, metrics }
    const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
    const { status, value } = await server.request('POST', path, { metadata: { name }, spec })
    return status === 201 ? value.spec.minReplicas : value.message.replace(/.* is invalid: /, '')
  }
  assert.equal(await answer('zero', 0, [external]), 0)
  assert.equal(
    await answer('of-pods', 0),
    'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
  )
  assert.equal(
    await answer('less', -1, [external]),
    'spec.minReplicas: Invalid value: -1: must be greater than or equal to 0',
  )
})

test('ephemeral containers lose a stop signal too, which would be refused', async () => {
  const { request } = await createTestServer()
  const pods = '/api/v1/namespaces/default/pods'
  await request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  })
  const made = await request('POST', pods, {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  })
  const helper = { name: 'e', image: 'i', lifecycle: { stopSignal: 'SIGTERM' } }
  const added = await request('PUT', `${pods}/p/ephemeralcontainers`, {
    ...made.value,
    spec: { ...made.value.spec, ephemeralContainers: [helper] },
  })
  assert.equal(added.status, 200, added.value.message)
  const [container] = added.value.spec.ephemeralContainers
  assert.deepEqual([container.name, container.lifecycle], ['e', undefined])
})
