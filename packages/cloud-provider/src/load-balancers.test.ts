import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '@gyropilot/api'
import { defaultLoadBalancerName } from './load-balancers.ts'

const cases: readonly (readonly [uid: string, name: string])[] = [
  ['7f2e1d9c-1111-4222-8333-444455556666', 'a7f2e1d9c11114222833344445555666'],
  ['u-1', 'au1'],
]

for (const [uid, name] of cases) {
  test(`the default load balancer name of a Service of uid ${uid} is ${name}`, () => {
    const service = (metadata: object): Service =>
      ({ apiVersion: 'v1', kind: 'Service', metadata, spec: {} }) as Service
    assert.equal(defaultLoadBalancerName(service({ name: 'web', uid })), name)
    assert.equal(defaultLoadBalancerName(service({ name: 'other', uid })), name)
    assert.ok(name.length <= 32)
  })
}
