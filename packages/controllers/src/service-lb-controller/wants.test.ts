import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '@gyropilot/api'
import { service } from './fixtures.ts'
import type { ServiceOptions } from './fixtures.ts'
import { isRelevantChange, needsCleanup, wantsLoadBalancer } from './wants.ts'
import { nodeWatch, serviceWatch } from './watches.ts'
import { node } from '../cloud-support/fixtures.ts'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'

test('a Service of type LoadBalancer without a class wants a balancer', () => {
  assert.equal(wantsLoadBalancer(service()), true)
  assert.equal(wantsLoadBalancer(service({ loadBalancerClass: 'c' })), false)
  assert.equal(wantsLoadBalancer(service({ type: 'NodePort' })), false)
})

const cleanups: readonly (readonly [ServiceOptions, boolean])[] = [
  [{}, false],
  [{ isDeleted: true }, false],
  [{ type: 'ClusterIP' }, false],
  [{ isHeld: true }, false],
  [{ isHeld: true, loadBalancerClass: 'c' }, false],
  [{ isHeld: true, isDeleted: true }, true],
  [{ isHeld: true, type: 'ClusterIP' }, true],
  [{ finalizers: ['other'], isDeleted: true }, false],
]

test('Given finalizer and deletion combinations, then needs-cleanup matches', () => {
  for (const [options, expected] of cleanups)
    assert.equal(needsCleanup(service(options)), expected, JSON.stringify(options))
})

const port = { port: 80, name: 'a', protocol: 'TCP' as const, nodePort: 1, targetPort: 2 }
const changes: readonly (readonly [ServiceOptions, ServiceOptions, boolean])[] = [
  [{}, {}, false],
  [{ type: 'ClusterIP' }, { type: 'ClusterIP', externalIPs: ['1.1.1.1'] }, false],
  [{ type: 'ClusterIP' }, {}, true],
  [{}, { type: 'ClusterIP' }, true],
  [{}, { loadBalancerClass: 'c' }, true],
  [{}, { loadBalancerSourceRanges: ['10.0.0.0/8'] }, true],
  [{ ports: [port] }, { ports: [{ ...port, name: 'b' }] }, true],
  [{ ports: [port] }, { ports: [{ ...port, protocol: 'UDP' }] }, true],
  [{ ports: [port] }, { ports: [{ ...port, port: 81 }] }, true],
  [{ ports: [port] }, { ports: [{ ...port, nodePort: 3 }] }, true],
  [{ ports: [port] }, { ports: [{ ...port, targetPort: 'http' }] }, true],
  [{ ports: [port] }, { ports: [{ ...port, appProtocol: 'http' }] }, true],
  [{ ports: [port] }, { ports: [port, { ...port, port: 81 }] }, true],
  [{ ports: [port, { port: 81 }] }, { ports: [{ port: 81 }, port] }, true],
  [{}, { sessionAffinity: 'ClientIP' }, true],
  [{}, { sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } }, true],
  [{}, { loadBalancerIP: '1.1.1.1' }, true],
  [{}, { externalIPs: ['1.1.1.1'] }, true],
  [{ externalIPs: ['1.1.1.1', '2.2.2.2'] }, { externalIPs: ['2.2.2.2', '1.1.1.1'] }, true],
  [{}, { annotations: { any: 'x' } }, true],
  [{}, { uid: 'other' }, true],
  [{}, { externalTrafficPolicy: 'Local' }, true],
  [{}, { healthCheckNodePort: 30_000 }, true],
  [{ ipFamilies: ['IPv4'] }, { ipFamilies: ['IPv4', 'IPv6'] }, true],
  [{ ipFamilies: ['IPv4'] }, { ipFamilies: ['IPv6'] }, false],
  [{}, { internalTrafficPolicy: 'Local' }, false],
  [{}, { selector: { a: 'b' } }, false],
  [{}, { isHeld: true }, false],
  [{}, { ingress: [{ ip: '1.1.1.1' }] }, false],
]

test('Given each field change, then relevant change matches', () => {
  for (const [before, after, expected] of changes)
    assert.equal(
      isRelevantChange(service(before), service(after)),
      expected,
      JSON.stringify([before, after]),
    )
})

test('Services are looked at when they want a balancer or need cleanup, and resyncs only for cleanup', () => {
  assert.deepEqual([...serviceWatch.onAdd!(service())], ['ns/s'])
  assert.deepEqual([...serviceWatch.onAdd!(service({ type: 'NodePort' }))], [])
  const held = service({ isHeld: true, isDeleted: true })
  assert.deepEqual([...serviceWatch.onAdd!(held)], ['ns/s'])
  // Of another type by now, while no controller ran.
  const former = service({ type: 'ClusterIP', isHeld: true })
  assert.deepEqual([...serviceWatch.onAdd!(former)], ['ns/s'])
  assert.deepEqual([...serviceWatch.onUpdate!(held, held)], ['ns/s'])
  assert.deepEqual([...serviceWatch.onUpdate!(service(), service())], [])
  assert.deepEqual(
    [...serviceWatch.onUpdate!(service(), service({ externalIPs: ['1.1.1.1'] }))],
    ['ns/s'],
  )
  assert.equal(serviceWatch.onDelete, undefined)
  assert.deepEqual([serviceWatch.resyncPeriodMs, nodeWatch.resyncPeriodMs], [30_000, 100_000])
})

test('nodes that come and go, and those whose place among the backends changes, are one change together', () => {
  const keys = new Set([
    ...nodeWatch.onAdd!(node('n')),
    ...nodeWatch.onAdd!(node('m')),
    ...nodeWatch.onDelete!(node('n')),
    ...nodeWatch.onDelete!(new DeletedFinalStateUnknown('n', undefined)),
    ...nodeWatch.onUpdate!(node('n'), node('n', { providerId: 'x' })),
  ])
  assert.equal(keys.size, 1)
  assert.deepEqual([...nodeWatch.onUpdate!(node('n'), node('n'))], [])
})

const twoValues: readonly (readonly [keyof NonNullable<Service['spec']>, unknown, unknown])[] = [
  ['loadBalancerSourceRanges', ['10.0.0.0/8'], ['11.0.0.0/8']],
  ['sessionAffinity', 'None', 'ClientIP'],
  [
    'sessionAffinityConfig',
    { clientIP: { timeoutSeconds: 1 } },
    { clientIP: { timeoutSeconds: 2 } },
  ],
  ['loadBalancerIP', '1.2.3.4', '1.2.3.5'],
  ['externalIPs', ['1.2.3.4'], ['1.2.3.5']],
  ['externalTrafficPolicy', 'Cluster', 'Local'],
  ['healthCheckNodePort', 30_001, 30_002],
]
for (const [field, one, other] of twoValues) {
  test(`another ${field} may ask something of the balancer, the same one does not`, () => {
    const having = (value: unknown): Service => {
      const { spec, ...rest } = service()
      return { ...rest, spec: { ...spec, type: 'LoadBalancer', [field]: value } }
    }
    assert.ok(isRelevantChange(having(one), having(other)))
    assert.ok(isRelevantChange(having(undefined), having(one)))
    assert.ok(!isRelevantChange(having(one), having(structuredClone(one))))
  })
}

test('other annotations may ask something of it too', () => {
  const annotated = (size: string): Service => service({ annotations: { size } })
  assert.ok(isRelevantChange(annotated('small'), annotated('large')))
  assert.ok(!isRelevantChange(annotated('small'), annotated('small')))
})
