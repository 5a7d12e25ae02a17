/** Orders that kube-controller-manager wrote for these ports. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inSliceOrder, inSubsetOrder } from './port-order.ts'

const PORTS = [
  { name: 'web', port: 80, protocol: 'TCP', appProtocol: 'http' },
  { name: 'grpc', port: 9090, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' },
  { name: 'metrics', port: 9100, protocol: 'TCP' },
  { name: 'dns', port: 53, protocol: 'UDP' },
  { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  { name: 'sctp', port: 7000, protocol: 'SCTP' },
] as const
const LETTERS = [
  { name: 'a', port: 1, protocol: 'TCP' },
  { name: 'b', port: 2 },
  { name: 'c', port: 3 },
  { name: 'd', port: 4, protocol: 'UDP' },
] as const

const names = (ports: readonly { readonly name?: string }[]): string =>
  ports.map(({ name }) => name).join(' ')

test('ports stand where upstream puts them, however they were said', () => {
  for (const [ports, subset, slice] of [
    [PORTS, 'metrics grpc dns-tcp dns web sctp', 'web dns grpc metrics dns-tcp sctp'],
    [LETTERS, 'c d b a', 'd b c a'],
  ] as const) {
    for (const said of [ports, ports.toReversed()]) {
      assert.equal(names(inSubsetOrder(said)), subset)
      assert.equal(names(inSliceOrder(said)), slice)
    }
  }
})

test('one port, and none, stay as they are', () => {
  const one = [{ port: 80 }]
  assert.equal(inSubsetOrder(one), one)
  assert.deepEqual(inSliceOrder([]), [])
})
