import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordingMetrics, drive } from '@gyropilot/runtime/testing'
import { answers, node } from '../cloud-support/fixtures.ts'
import { service } from './fixtures.ts'
import { BalancerMemory } from './memory.ts'
import { serviceLbMetrics } from './metrics.ts'
import { syncNodes } from './node-sync.ts'

function run(memory: BalancerMemory) {
  const metrics = new RecordingMetrics()
  const nodes = [node('a')]
  const sync = {
    clusterName: 'c',
    memory,
    metrics: serviceLbMetrics(metrics),
    backends: () => nodes,
  }
  const onOutside = answers({ 'loadBalancers.updateLoadBalancer': undefined })
  return { ...drive(syncNodes('ns/s', sync), { onOutside }), metrics }
}

function remembering(given: Parameters<typeof service>[0]): BalancerMemory {
  const memory = new BalancerMemory()
  memory.remember('ns/s', service(given))
  return memory
}

test('a Service that is not remembered is left', () => {
  const memory = new BalancerMemory()
  memory.rememberBackends('ns/s', [])
  assert.deepEqual(run(memory).effects, [])
})

test('a Service that the provider was never given is being ensured: it is left, and its nodes are not remembered', () => {
  const memory = remembering({})
  assert.deepEqual(run(memory).effects, [])
  assert.equal(memory.backendsOf('ns/s'), undefined)
})

test('a Service that was forgotten and comes again is being ensured: its former nodes are forgotten too', () => {
  const memory = remembering({})
  memory.rememberBackends('ns/s', [])
  memory.forget('ns/s')
  memory.remember('ns/s', service({}))
  assert.deepEqual(run(memory).effects, [])
})

test('a Service that wants no balancer any more is left', () => {
  const memory = remembering({ type: 'ClusterIP' })
  memory.rememberBackends('ns/s', [])
  assert.deepEqual(run(memory).effects, [])
})

test('new nodes are handed over and remembered, and it is measured', () => {
  const memory = remembering({})
  memory.rememberBackends('ns/s', [])
  const { effects, metrics } = run(memory)
  const calls = effects.flatMap((effect) => (effect.effect === 'outside' ? [effect.call] : []))
  assert.deepEqual(calls, [
    { name: 'loadBalancers.updateLoadBalancer', arguments: ['c', service(), [node('a')]] },
  ])
  assert.deepEqual(memory.backendsOf('ns/s'), [node('a')])
  const latency = 'service_controller_update_loadbalancer_host_latency_seconds'
  assert.deepEqual(metrics.observed(latency), [0])
  assert.deepEqual(run(memory).effects, [])
})
