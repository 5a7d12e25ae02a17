import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '@gyropilot/api'
import { ofFamily } from './address-owners.ts'

test('a connection goes on in the family of the address that it was made to', () => {
  const types = ['IPv4', 'IPv6', 'FQDN'] as const
  const slices = types.map((addressType): EndpointSlice => ({ addressType, endpoints: [] }))
  const followed = (address: string): unknown =>
    ofFamily(slices, address).map(({ addressType }) => addressType)
  assert.deepEqual(followed('10.0.0.1'), ['IPv4', 'FQDN'])
  assert.deepEqual(followed('fd00::1'), ['IPv6', 'FQDN'])
})
