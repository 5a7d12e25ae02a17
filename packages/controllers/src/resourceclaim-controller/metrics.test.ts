import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceClaim } from '@gyropilot/api'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { claim, pod } from './fixtures.ts'
import { claimsMetric } from './metrics.ts'

function exposed(metrics: PrometheusRegistry): readonly string[] {
  return metrics
    .expose()
    .split('\n')
    .filter((line) => line.startsWith('resourceclaim_controller_resource_claims'))
    .map((line) => line.slice('resourceclaim_controller_resource_claims'.length))
}

test('Given claims of several kinds, then the gauge labels match.', () => {
  let claims: readonly ResourceClaim[] = [
    claim('a'),
    claim('b', { owner: pod(), allocated: true }),
    claim('c', { owner: pod() }),
    claim('d', { owner: pod() }),
    claim('e', { extended: true, allocated: true }),
    claim('f', { adminAccess: true }),
    claim('g', { metadata: { annotations: { 'resource.kubernetes.io/pod-claim-name': '' } } }),
  ]
  const metrics = new PrometheusRegistry()
  claimsMetric(metrics, () => claims)
  assert.deepEqual(exposed(metrics), [
    '{admin_access="false",allocated="false",source=""} 2',
    '{admin_access="false",allocated="false",source="resource_claim_template"} 2',
    '{admin_access="false",allocated="true",source="extended_resource"} 1',
    '{admin_access="false",allocated="true",source="resource_claim_template"} 1',
    '{admin_access="true",allocated="false",source=""} 1',
  ])
  claims = [claim('a')]
  assert.deepEqual(
    exposed(metrics).map((line) => line.at(-1)),
    ['1', '0', '0', '0', '0'],
  )
})
