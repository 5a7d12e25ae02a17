import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../../testing/test-server.ts'

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const EVENTS = '/api/v1/namespaces/default/events'

const otherVersion = (sent: string, expected: string): string =>
  `the API version in the data (${sent}) does not match the expected API version (${expected})`

/** What kube-apiserver 1.36 answered with 400. */
const REFUSALS: readonly (readonly [
  path: string,
  apiVersion: string,
  kind: string,
  why: string,
])[] = [
  [DEPLOYMENTS, 'apps/v1beta2', 'Deployment', otherVersion('apps/v1beta2', 'apps/v1')],
  [DEPLOYMENTS, 'extensions/v1beta1', 'Deployment', otherVersion('extensions/v1beta1', 'apps/v1')],
  [EVENTS, 'events.k8s.io/v1', 'Event', otherVersion('events.k8s.io/v1', 'v1')],
  [
    DEPLOYMENTS,
    'apps/v1beta1',
    'DeploymentList',
    'DeploymentList in version "v1beta1" cannot be handled as a Deployment: converting (v1beta1.DeploymentList) to (apps.Deployment): unknown conversion',
  ],
  [
    DEPLOYMENTS,
    'v1',
    'List',
    'List in version "v1" cannot be handled as a Deployment: converting (v1.List) to (apps.Deployment): unknown conversion',
  ],
  [
    DEFINITIONS,
    'nope.io/v9',
    'Status',
    'Status in version "v9" cannot be handled as a CustomResourceDefinition: converting (v1.Status) to (apiextensions.CustomResourceDefinition): unknown conversion',
  ],
  [
    DEPLOYMENTS,
    'apps/v1alpha1',
    'Deployment',
    'Deployment in version "v1alpha1" cannot be handled as a Deployment: no kind "Deployment" is registered for version "apps/v1alpha1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    DEFINITIONS,
    'v1',
    'ConfigMap',
    'ConfigMap in version "v1" cannot be handled as a CustomResourceDefinition: no kind "ConfigMap" is registered for version "v1" in scheme "pkg/apiserver/apiserver.go:55"',
  ],
  [
    DEFINITIONS,
    'apiextensions.k8s.io/v1beta1',
    'CustomResourceDefinition',
    otherVersion('apiextensions.k8s.io/v1beta1', 'apiextensions.k8s.io/v1'),
  ],
  [
    API_SERVICES,
    'v1',
    'Status',
    'Status in version "v1" cannot be handled as a APIService: converting (v1.Status) to (apiregistration.APIService): unknown conversion',
  ],
  [
    API_SERVICES,
    'apiregistration.k8s.io/v2',
    'APIService',
    'APIService in version "v2" cannot be handled as a APIService: no kind "APIService" is registered for version "apiregistration.k8s.io/v2" in scheme "pkg/apiserver/scheme/scheme.go:28"',
  ],
]

test('bodies of versions that were served once are known, and two groups know only their own kinds', async () => {
  const { request } = await createTestServer()
  for (const [path, apiVersion, kind, why] of REFUSALS) {
    const { status, value } = await request('POST', path, {
      apiVersion,
      kind,
      metadata: { name: 'a' },
    })
    assert.deepEqual([status, value.message], [400, why], `${apiVersion} ${kind}`)
  }
})

test('a body of another version is read in its own before it is refused', async () => {
  const { request } = await createTestServer()
  const autoscaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'a' },
    spec: { maxReplicas: 2, targetCPUUtilizationPercentage: 5 },
  }
  const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
  const told = async (fieldValidation: string, body: object) => {
    const answer = await request('POST', `${path}?fieldValidation=${fieldValidation}`, body)
    return [answer.value.message, answer.headers['warning']]
  }
  const unknown = 'unknown field "spec.targetCPUUtilizationPercentage"'
  const frame =
    'HorizontalPodAutoscaler in version "v2" cannot be handled as a HorizontalPodAutoscaler'
  const refused = otherVersion('autoscaling/v2', 'autoscaling/v1')
  assert.deepEqual(await told('Strict', autoscaler), [
    `${frame}: strict decoding error: ${unknown}`,
    undefined,
  ])
  assert.deepEqual(await told('Warn', autoscaler), [
    refused,
    [`299 - "${unknown.replaceAll('"', '\\"')}"`],
  ])
  assert.deepEqual(await told('Ignore', autoscaler), [refused, undefined])
  assert.deepEqual(await told('Ignore', { ...autoscaler, spec: { maxReplicas: 'x' } }), [
    `${frame}: json: cannot unmarshal string into Go struct field HorizontalPodAutoscalerSpec.spec.maxReplicas of type int32`,
    undefined,
  ])
})
