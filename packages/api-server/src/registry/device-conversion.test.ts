/** As kube-apiserver 1.36.2 showed objects in v1 and v1beta1. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rememberEmpty } from '@gyropilot/schema/given-value'
import type { Stored } from '@gyropilot/schema/objects'
import { deviceConversions } from './device-conversion.ts'

const claim = (requests: readonly Stored[] | null): Stored => ({ spec: { devices: { requests } } })
const slice = (devices: readonly Stored[]): Stored => ({ spec: { driver: 'd', devices } })

/** v1beta1, then v1. */
const SAME: readonly (readonly [string, string, Stored, Stored])[] = [
  [
    'a request',
    'resourceclaims',
    claim([{ name: 'a', deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 }]),
    claim([
      { name: 'a', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 } },
    ]),
  ],
  [
    'alternatives',
    'resourceclaims',
    claim([{ name: 'a', deviceClassName: '', firstAvailable: [{ name: 'b' }] }]),
    claim([{ name: 'a', firstAvailable: [{ name: 'b' }] }]),
  ],
  [
    'both, which are refused later',
    'resourceclaims',
    claim([{ name: 'a', deviceClassName: 'c', firstAvailable: [{ name: 'b' }] }]),
    claim([{ name: 'a', exactly: { deviceClassName: 'c' }, firstAvailable: [{ name: 'b' }] }]),
  ],
  ['no requests', 'resourceclaims', claim(null), claim(null)],
  ['nothing', 'resourceclaims', {}, {}],
  [
    'a template',
    'resourceclaimtemplates',
    {
      spec: {
        metadata: { labels: { l: 'm' } },
        spec: claim([{ name: 'a', deviceClassName: 'c' }])['spec'],
      },
    },
    {
      spec: {
        metadata: { labels: { l: 'm' } },
        spec: claim([{ name: 'a', exactly: { deviceClassName: 'c' } }])['spec'],
      },
    },
  ],
  [
    'devices',
    'resourceslices',
    slice([
      { name: 'a', basic: { attributes: { x: { int: 1 } }, nodeName: 'n' } },
      { name: 'b', basic: {} },
    ]),
    slice([{ name: 'a', attributes: { x: { int: 1 } }, nodeName: 'n' }, { name: 'b' }]),
  ],
]
for (const [title, resource, beta, stored] of SAME) {
  test(`${title}: to v1, and back`, () => {
    const { toStored, fromStored } = deviceConversions[resource]!
    assert.deepEqual(toStored(beta), stored)
    assert.deepEqual(fromStored(stored), beta)
  })
}

test('a device without basic has one in the answer', () => {
  const { toStored, fromStored } = deviceConversions['resourceslices']!
  const stored = toStored(slice([{ name: 'a' }, { name: 'b', basic: null }]))
  assert.deepEqual(stored, slice([{ name: 'a' }, { name: 'b' }]))
  assert.deepEqual(
    fromStored(stored),
    slice([
      { name: 'a', basic: {} },
      { name: 'b', basic: {} },
    ]),
  )
})

test('what asks for something, but no class, has no defaults; what asks for nothing is no request', () => {
  const { toStored, fromStored } = deviceConversions['resourceclaims']!
  const exactlyOf = (request: Stored): unknown => {
    const [stored] = toStored(claim([request]))['spec'].devices.requests
    const again = toStored(fromStored(claim([stored])))['spec'].devices.requests[0]
    assert.deepEqual(again, stored)
    return stored.exactly
  }
  const without = { deviceClassName: '', allocationMode: '' }
  assert.equal(exactlyOf({ name: 'a', deviceClassName: '' }), undefined)
  assert.deepEqual(exactlyOf({ name: 'a', adminAccess: false }), { ...without, adminAccess: false })
  assert.deepEqual(exactlyOf({ name: 'a', capacity: {} }), { ...without, capacity: {} })
  assert.deepEqual(exactlyOf({ name: 'a', count: 2 }), { ...without, count: 2 })
  const mode = { name: 'a', deviceClassName: '', allocationMode: 'All' }
  assert.deepEqual(exactlyOf(mode), { deviceClassName: '', allocationMode: 'All' })
  const listed = { name: 'a', deviceClassName: '' }
  rememberEmpty(listed, 'selectors', [])
  assert.deepEqual(exactlyOf(listed), without)
})
