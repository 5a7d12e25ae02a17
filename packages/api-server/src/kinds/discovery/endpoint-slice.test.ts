/** Addresses of EndpointSlices, as kube-apiserver judged them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { context } from '../fixtures.ts'
import { endpointSlice } from './endpoint-slice.ts'

const sliceOf = (addressType: 'FQDN' | 'IPv4' | 'IPv6', address: string) => ({
  addressType,
  endpoints: [{ addresses: [address] }],
  ports: [],
})

function refused(addressType: 'IPv4' | 'IPv6', address: string): readonly string[] {
  const errors = new FieldErrors()
  endpointSlice.validate?.(sliceOf(addressType, address), errors, context)
  return errors.list.map(({ field, message }) => `${field}: ${message}`)
}

test('an IPv6 address is in canonical form, and is told of nothing else', () => {
  const canonical = (address: string, form: string): readonly string[] => [
    `endpoints[0].addresses[0]: Invalid value: "${address}": must be in canonical form ("${form}")`,
  ]
  assert.deepEqual(refused('IPv6', 'fd00::1'), [])
  assert.deepEqual(refused('IPv6', 'FD00::0001'), canonical('FD00::0001', 'fd00::1'))
  assert.deepEqual(refused('IPv6', 'FE80::1'), canonical('FE80::1', 'fe80::1'))
  assert.deepEqual(refused('IPv6', '::0'), canonical('::0', '::'))
  assert.deepEqual(refused('IPv6', 'fd00::1.2.3.4'), canonical('fd00::1.2.3.4', 'fd00::102:304'))
})

test('an address of the other family is told of that, in whatever form', () => {
  const list = (address: string): string =>
    `endpoints[0].addresses: Invalid value: "${address}": must be an IPv4 address`
  assert.deepEqual(refused('IPv4', 'FD00::0001'), [list('FD00::0001')])
  assert.deepEqual(refused('IPv4', '::0'), [
    list('::0'),
    'endpoints[0].addresses[0]: Invalid value: "::0": may not be unspecified (::0)',
  ])
})

test('names are warned of when a slice is created', () => {
  const names = sliceOf('FQDN', 'a.example')
  assert.deepEqual(endpointSlice.warnings?.(names, undefined), [
    'spec.addressType: FQDN endpoints are deprecated',
  ])
  assert.deepEqual(endpointSlice.warnings?.(names, names), [])
  assert.deepEqual(endpointSlice.warnings?.(sliceOf('IPv4', '10.0.0.1'), undefined), [])
})
