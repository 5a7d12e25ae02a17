import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from '@gyropilot/foundation/testing'
import { ApiClient } from './api-client.ts'
import { ResourceLookup, discover } from './discovery.ts'
import { fakeTransport, jsonAnswer, statusAnswer } from './testing/index.ts'
import type { TransportRequest, TransportResponse } from './transport.ts'

function clientOf(
  answer: (path: string, request: TransportRequest) => TransportResponse,
): ApiClient {
  const transport = fakeTransport([(request) => answer(request.path, request)], {
    repeatLast: true,
  })
  return new ApiClient({ transport, clock: virtualClock(), qps: -1 })
}

const list = (items: unknown[]): unknown => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  items,
})
const verbs = ['create', 'delete', 'get', 'list', 'watch']
const podsEntry = {
  resource: 'pods',
  responseKind: { group: '', version: '', kind: 'Pod' },
  scope: 'Namespaced',
  singularResource: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  verbs,
  subresources: [
    {
      subresource: 'eviction',
      responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      verbs: ['create'],
    },
  ],
}
const autoscalers = (): unknown => ({
  resource: 'horizontalpodautoscalers',
  responseKind: { group: '', version: '', kind: 'HorizontalPodAutoscaler' },
  scope: 'Namespaced',
  singularResource: 'horizontalpodautoscaler',
  verbs,
})
const only = (name: string, kind: string): unknown => ({
  resource: name,
  responseKind: { group: '', version: '', kind },
  scope: 'Cluster',
  singularResource: '',
  verbs: ['get'],
})

const aggregated = clientOf((path, { headers }) => {
  assert.match(
    String(headers['accept']),
    /^application\/json;g=apidiscovery\.k8s\.io;v=v2;as=APIGroupDiscoveryList/,
  )
  if (path === '/api')
    return jsonAnswer(
      list([
        {
          metadata: {},
          versions: [{ version: 'v1', freshness: 'Current', resources: [podsEntry] }],
        },
      ]),
    )
  return jsonAnswer(
    list([
      {
        metadata: { name: 'autoscaling' },
        versions: [
          { version: 'v2', freshness: 'Current', resources: [autoscalers()] },
          { version: 'v1', freshness: 'Current', resources: [autoscalers(), only('olds', 'Old')] },
        ],
      },
      {
        metadata: { name: 'metrics.k8s.io' },
        versions: [
          { version: 'v1beta1', freshness: 'Stale', resources: [only('nodes', 'NodeMetrics')] },
          { version: 'v1alpha1', freshness: 'Current', resources: [] },
        ],
      },
    ]),
  )
})

test('aggregated discovery: two requests, core first, kinds filled in, stale versions told and left out', async () => {
  const discovered = await discover(aggregated)
  assert.deepEqual(discovered.resources[0], {
    group: '',
    version: 'v1',
    resource: 'pods',
    singular: 'pod',
    kind: 'Pod',
    namespaced: true,
    shortNames: ['po'],
    categories: ['all'],
    verbs,
    subresources: [
      { name: 'eviction', verbs: ['create'], kind: 'Eviction', group: 'policy', version: 'v1' },
    ],
  })
  assert.deepEqual(
    [...discovered.versions],
    [
      ['', ['v1']],
      ['autoscaling', ['v2', 'v1']],
      ['metrics.k8s.io', ['v1alpha1']],
    ],
  )
  assert.ok(!discovered.resources.some(({ group }) => group === 'metrics.k8s.io'))
  assert.deepEqual(
    [...discovered.failed],
    [['metrics.k8s.io/v1beta1', 'stale GroupVersion discovery: metrics.k8s.io/v1beta1']],
  )
})

test('lookups answer the preferred version, or the one asked for', async () => {
  const lookup = new ResourceLookup(await discover(aggregated))
  assert.deepEqual(lookup.forKind('', 'Pod'), {
    group: '',
    version: 'v1',
    resource: 'pods',
    kind: 'Pod',
    namespaced: true,
  })
  assert.equal(lookup.forKind('autoscaling', 'HorizontalPodAutoscaler')?.version, 'v2')
  assert.equal(lookup.forKind('autoscaling', 'HorizontalPodAutoscaler', 'v1')?.version, 'v1')
  assert.equal(lookup.forKind('autoscaling', 'Old')?.version, 'v1')
  assert.equal(lookup.forResource('autoscaling', 'olds')?.kind, 'Old')
  assert.equal(lookup.forKind('autoscaling', 'Nope'), undefined)
  assert.throws(() => lookup.requireKind('a.b', 'Nope', 'v1'), {
    code: 'DISCOVERY_FAILED',
    message: 'no matches for kind "Nope" in version "a.b/v1"',
  })
  assert.deepEqual(
    lookup
      .preferred(['list', 'watch', 'delete'])
      .map(({ resource, version }) => `${resource}/${version}`),
    ['pods/v1', 'horizontalpodautoscalers/v2'],
  )
})

test('legacy discovery: subresources join their parent, the preferred version is first, one broken group does not hide the rest', async () => {
  const discovered = await discover(
    clientOf((path) => {
      if (path === '/api') return jsonAnswer({ kind: 'APIVersions', versions: ['v1'] })
      if (path === '/apis') {
        const versions = [{ version: 'v1beta1' }, { version: 'v1' }]
        return jsonAnswer({
          kind: 'APIGroupList',
          groups: [
            { name: 'apps', versions, preferredVersion: { version: 'v1' } },
            { name: 'down.example.com', versions: [{ version: 'v1' }] },
          ],
        })
      }
      if (path === '/apis/down.example.com/v1')
        return statusAnswer(503, 'ServiceUnavailable', 'backend is down')
      if (path === '/api/v1')
        return jsonAnswer({ resources: [{ name: 'pods', kind: 'Pod', namespaced: true, verbs }] })
      return jsonAnswer({
        resources: [
          {
            name: 'deployments',
            singularName: 'deployment',
            kind: 'Deployment',
            namespaced: true,
            verbs,
          },
          {
            name: 'deployments/scale',
            kind: 'Scale',
            group: 'autoscaling',
            version: 'v1',
            verbs: ['get'],
          },
          { name: 'deployments/status', kind: 'Deployment', verbs: ['get'] },
        ],
      })
    }),
  )
  assert.deepEqual(discovered.versions.get('apps'), ['v1', 'v1beta1'])
  assert.deepEqual([...discovered.failed], [['down.example.com/v1', 'backend is down']])
  const deployments = new ResourceLookup(discovered).forResource('apps', 'deployments')
  assert.equal(deployments?.version, 'v1')
  assert.deepEqual(deployments?.subresources, [
    { name: 'scale', verbs: ['get'], kind: 'Scale', group: 'autoscaling', version: 'v1' },
    { name: 'status', verbs: ['get'], kind: 'Deployment', group: 'apps', version: 'v1' },
  ])
})

test('a core group that cannot be read is an error', async () => {
  const broken = clientOf((path) =>
    path === '/api'
      ? statusAnswer(500, 'InternalError', 'broken')
      : jsonAnswer({ kind: 'APIGroupList', groups: [] }),
  )
  await assert.rejects(discover(broken), /broken/)
  const brokenVersion = clientOf((path) => {
    if (path === '/api') return jsonAnswer({ kind: 'APIVersions', versions: ['v1'] })
    if (path === '/api/v1') return statusAnswer(500, 'InternalError', 'broken')
    return jsonAnswer({ kind: 'APIGroupList', groups: [] })
  })
  await assert.rejects(discover(brokenVersion), /broken/)
})
