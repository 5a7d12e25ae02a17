import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { standardEvaluators } from '@gyropilot/api'
import type { UsageEvaluator } from '@gyropilot/api'
import type { AdmissionRequest } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { quotasAfter } from './judge.ts'
import type { Judged, LimitedResource } from './judge.ts'

const evaluatorOf = (resource: string): UsageEvaluator =>
  standardEvaluators().find((each) => each.resource.resource === resource)!

function asked(resource: string, object: Stored, oldObject?: Stored, subresource = ''): Judged {
  const operation = oldObject === undefined ? 'CREATE' : 'UPDATE'
  const info = { group: '', resource, kind: '', namespaced: true }
  const request = {
    operation,
    resource: info,
    subresource,
    namespace: 'a',
    name: 'x',
    object,
    oldObject,
  }
  return {
    request: request as unknown as AdmissionRequest,
    evaluator: evaluatorOf(resource),
    facts: { nowMs: 0 },
  }
}
const quota = (name: string, hard: Stored, used: Stored, spec: Stored = {}): Stored => ({
  metadata: { name },
  spec,
  status: { hard, used },
})
const pod = (cpu?: string, spec: Stored = {}): Stored => ({
  metadata: {},
  spec: { containers: [{ name: 'c', resources: cpu ? { requests: { cpu } } : {} }], ...spec },
})
const service = (type: string, ...ports: number[]): Stored => ({
  metadata: {},
  spec: { type, ports: ports.map((port) => ({ port })) },
})
const claim = (storage: string): Stored => ({
  metadata: {},
  spec: { resources: { requests: { storage } } },
})
const usedAfter = (
  quotas: readonly Stored[],
  judged: Judged,
  limited?: readonly LimitedResource[],
) => quotasAfter(quotas, judged, limited).map(({ status }) => status.used)
const refusalOf = (
  quotas: readonly Stored[],
  judged: Judged,
  limited?: readonly LimitedResource[],
) => {
  try {
    quotasAfter(quotas, judged, limited)
  } catch (error) {
    return (error as Error).message.replace(/^.* is forbidden: /, '')
  }
  return 'allowed'
}

describe('Given requests below, above, dry-run, old-object, negative, limited, then admission allows or denies with the messages above', () => {
  test('below and at the limit', () => {
    const quotas = [quota('q', { pods: '2', cpu: '3' }, { pods: '1', cpu: '1' })]
    assert.deepEqual(usedAfter(quotas, asked('pods', pod('2'))), [{ pods: '2', cpu: '3' }])
  })

  test('above: sorted, only exceeded ones; the first refusal by name of the quota', () => {
    const quotas = [
      quota('a', { services: '1' }, { services: '0' }),
      quota('b', { pods: '5', memory: '1', cpu: '1' }, { pods: '1', memory: '0', cpu: '500m' }),
    ]
    const asking = pod('600m')
    asking['spec'].containers[0].resources.requests.memory = '2'
    assert.equal(
      refusalOf(quotas, asked('pods', asking)),
      'exceeded quota: b, requested: cpu=600m,memory=2, used: cpu=500m,memory=0, limited: cpu=1,memory=1',
    )
  })

  test('a resource that was exceeded before refuses only who asks for more of it', () => {
    const quotas = [quota('q', { cpu: '1', pods: '5' }, { cpu: '4', pods: '1' })]
    assert.deepEqual(usedAfter(quotas, asked('pods', pod('0'))), [{ cpu: '4', pods: '2' }])
    assert.match(
      refusalOf(quotas, asked('pods', pod('1m'))),
      /^exceeded quota: q, requested: cpu=1m/,
    )
  })

  test('old object: the difference per resource, never below zero', () => {
    const quotas = [
      quota(
        'q',
        { services: '1', 'services.nodeports': '3' },
        { services: '1', 'services.nodeports': '1' },
      ),
    ]
    const grown = asked('services', service('NodePort', 1, 2, 3), service('NodePort', 1))
    assert.deepEqual(usedAfter(quotas, grown), [{ services: '1', 'services.nodeports': '3' }])
    const shrunk = asked('services', service('ClusterIP', 1), service('NodePort', 1))
    assert.equal(quotasAfter(quotas, shrunk)[0], quotas[0], 'not written')
  })

  test('old object that the quota did not match: full usage', () => {
    const quotas = [
      quota('new', { pods: '5', cpu: '5' }, { pods: '0', cpu: '0' }, { scopes: ['Terminating'] }),
      quota('old', { pods: '5' }, { pods: '1' }, { scopes: ['NotTerminating'] }),
    ]
    const moved = asked('pods', pod('1', { activeDeadlineSeconds: 5 }), pod('1'))
    assert.deepEqual(usedAfter(quotas, moved), [{ pods: '1', cpu: '1' }, { pods: '1' }])
  })

  test('negative', () => {
    const quotas = [quota('q', { 'requests.storage': '1Gi' }, { 'requests.storage': '0' })]
    assert.equal(
      refusalOf(quotas, asked('persistentvolumeclaims', claim('-1'))),
      'quota usage is negative for resource(s): requests.storage',
    )
  })

  test('not enforced for subresource `status`, but counted', () => {
    const quotas = [quota('q', { 'requests.storage': '1Gi' }, { 'requests.storage': '1Gi' })]
    const status = { allocatedResources: { storage: '3Gi' } }
    const grown = { ...claim('1Gi'), status }
    const judged = asked('persistentvolumeclaims', grown, claim('1Gi'), 'status')
    assert.deepEqual(usedAfter(quotas, judged), [{ 'requests.storage': '3Gi' }])
  })

  const limitedBy = (limited: Partial<LimitedResource>): LimitedResource[] => [
    { group: '', resource: 'pods', ...limited },
  ]

  test('limited: what is consumed must be covered by a quota that matches', () => {
    const limited = limitedBy({ matchContains: ['cpu', 'example.com/'] })
    const elsewhere = quota('q', { cpu: '5' }, { cpu: '0' }, { scopes: ['Terminating'] })
    assert.equal(
      refusalOf([elsewhere], asked('pods', pod('1')), limited),
      'insufficient quota to consume: cpu,requests.cpu',
    )
    assert.equal(refusalOf([], asked('pods', pod()), limited), 'allowed')
    const hard = { cpu: '5', 'requests.cpu': '5' }
    const covering = quota('q', hard, { cpu: '0', 'requests.cpu': '0' })
    assert.equal(refusalOf([covering], asked('pods', pod('1')), limited), 'allowed')
  })

  test('limited: matched scopes must be covered', () => {
    const scope = { scopeName: 'PriorityClass', operator: 'In', values: ['high'] }
    const limited = limitedBy({ matchScopes: [scope] })
    const high = asked('pods', pod('1', { priorityClassName: 'high' }))
    assert.equal(
      refusalOf([quota('q', { pods: '5' }, { pods: '0' })], high, limited),
      'insufficient quota to match these scopes: [{PriorityClass In [high]}]',
    )
    const spec = { scopeSelector: { matchExpressions: [scope] } }
    assert.equal(
      refusalOf([quota('q', { pods: '5' }, { pods: '0' }, spec)], high, limited),
      'allowed',
    )
    assert.equal(refusalOf([], asked('pods', pod('1')), limited), 'allowed')
  })
})

test('A quota is judged by its status.hard; without, it says nothing', () => {
  const fresh = { metadata: { name: 'q' }, spec: { hard: { pods: '0' } }, status: {} }
  assert.deepEqual(quotasAfter([fresh], asked('pods', pod())), [fresh])
})
