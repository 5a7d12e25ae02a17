import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { NodeLifecycleMetrics } from './metrics.ts'

function exposed(record: (metrics: NodeLifecycleMetrics) => void): readonly string[] {
  const registry = new PrometheusRegistry()
  record(new NodeLifecycleMetrics(registry))
  return registry
    .expose()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
}

test('a zone shows its nodes and how many percent of them are ready; without nodes all is well', () => {
  const gauges = (size: number, notReady: number) =>
    exposed((metrics) => metrics.zone('z', { size, notReady })).filter((line) =>
      line.includes('zone="z"'),
    )
  assert.deepEqual(gauges(4, 1), [
    'node_collector_unhealthy_nodes_in_zone{zone="z"} 1',
    'node_collector_zone_health{zone="z"} 75',
    'node_collector_zone_size{zone="z"} 4',
  ])
  assert.deepEqual(
    exposed((metrics) => metrics.zone('z')).filter((line) => line.includes('zone="z"')),
    gauges(0, 0),
  )
  assert.ok(gauges(0, 0)[1]?.endsWith(' 100'))
})

test('a new zone is shown with no taints', () => {
  const evictions = (record: (metrics: NodeLifecycleMetrics) => void) =>
    exposed(record).filter((line) => line.includes('evictions_total'))
  assert.deepEqual(
    evictions((metrics) => metrics.tainted('z', 0)),
    ['node_collector_evictions_total{zone="z"} 0'],
  )
  assert.deepEqual(
    evictions((metrics) => metrics.tainted('z')),
    ['node_collector_evictions_total{zone="z"} 1'],
  )
})

for (const [what, name, firstBucket, last, record] of [
  ['one node', 'update_node_health', '0.001', '16.384', 'nodeTook'],
  ['all nodes', 'update_all_nodes_health', '0.01', '163.84', 'passTook'],
] as const) {
  test(`a look at ${what} is measured in seconds, in eight buckets that grow fourfold`, () => {
    const series = `node_collector_${name}_duration_seconds`
    const lines = exposed((metrics) => metrics[record](2_000)).filter((line) =>
      line.startsWith(series),
    )
    assert.ok(lines.includes(`${series}_sum 2`))
    const bounds = lines.flatMap((line) => /le="([^"]+)"/.exec(line)?.[1] ?? [])
    assert.equal(bounds.length, 9)
    assert.deepEqual([bounds[0], bounds[7]], [firstBucket, last])
  })
}
