/** As kube-apiserver 1.36.2 answered, which leads no changed object back from the version that a mutating policy saw. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../../bootstrap/fixtures.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const LABEL = {
  patchType: 'ApplyConfiguration',
  applyConfiguration: {
    expression: 'Object{metadata: Object.metadata{labels: {"seen": object.kind}}}',
  },
}
const NOTHING = {
  patchType: 'JSONPatch',
  jsonPatch: {
    expression: '[JSONPatch{op: "test", path: "/kind", value: "x"}].filter(each, false)',
  },
}

const scaler = {
  metadata: { name: 'a' },
  spec: {
    maxReplicas: 3,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
  },
}
const core = { involvedObject: { namespace: 'default' }, metadata: { name: 'a' } }
const newer = {
  metadata: { name: 'a' },
  regarding: { namespace: 'default' },
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'do',
  reason: 'r',
  type: 'Normal',
}
const SCALERS = 'namespaces/default/horizontalpodautoscalers'
const EVENTS = 'namespaces/default/events'
const unsuitable = (version: string): string =>
  `v1.Event is not suitable for converting to "${version}" in scheme "pkg/api/legacyscheme/scheme.go:30"`

for (const [group, version, mutation, path, body, wanted] of [
  ['autoscaling', 'v1', LABEL, `/apis/autoscaling/v1/${SCALERS}`, scaler, undefined],
  [
    'autoscaling',
    'v1',
    LABEL,
    `/apis/autoscaling/v2/${SCALERS}`,
    scaler,
    'converting (v1.HorizontalPodAutoscaler) to (v2.HorizontalPodAutoscaler): unknown conversion',
  ],
  [
    'autoscaling',
    'v2',
    NOTHING,
    `/apis/autoscaling/v1/${SCALERS}`,
    scaler,
    'converting (v2.HorizontalPodAutoscaler) to (v1.HorizontalPodAutoscaler): unknown conversion',
  ],
  ['', 'v1', LABEL, `/api/v1/${EVENTS}`, core, undefined],
  ['', 'v1', LABEL, `/apis/events.k8s.io/v1/${EVENTS}`, newer, unsuitable('events.k8s.io/v1')],
  ['events.k8s.io', 'v1', LABEL, `/api/v1/${EVENTS}`, core, unsuitable('v1')],
] as const) {
  test(`a policy for ${group}/${version} and ${path}: ${wanted ?? 'it mutates'}`, async () => {
    const { server, call } = await startServer()
    const resourceRules = [
      { apiGroups: [group], apiVersions: [version], operations: ['CREATE'], resources: ['*'] },
    ]
    const spec = {
      matchConstraints: { resourceRules },
      reinvocationPolicy: 'Never',
      mutations: [mutation],
    }
    const policies = `${GROUP}/mutatingadmissionpolicies`
    const made = await call('POST', policies, { metadata: { name: 'p' }, spec })
    assert.equal(made.status, 201)
    const binding = { metadata: { name: 'b' }, spec: { policyName: 'p' } }
    await call('POST', `${GROUP}/mutatingadmissionpolicybindings`, binding)
    const answer = await call('POST', path, body)
    if (wanted === undefined) assert.equal(answer.body.metadata.labels?.seen, answer.body.kind)
    else {
      assert.equal(answer.status, 403)
      const refusal = `policy 'p' with binding 'b' denied request: ${wanted}`
      assert.equal(answer.body.details.causes[0].message, refusal)
    }
    // Who does not mind failures is not refused.
    const mild = { metadata: made.body.metadata, spec: { ...spec, failurePolicy: 'Ignore' } }
    assert.equal((await call('PUT', `${policies}/p`, mild)).status, 200)
    const second = { ...body, metadata: { name: 'second' } }
    assert.equal((await call('POST', path, second)).status, 201)
    await server.stop()
  })
}
