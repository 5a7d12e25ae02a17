import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '@gyropilot/api'
import { healthCheckAnswer } from './health-check-port.ts'

const slice = (nodeName: string, conditions: object): EndpointSlice => ({
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.1.0.1'], nodeName, conditions }],
})
const READY = { ready: true, serving: true, terminating: false }
const ENDING = { ready: false, serving: true, terminating: true }

function answer(slices: readonly EndpointSlice[]) {
  const service = { metadata: { namespace: 'shop', name: 'web' } }
  const [head = '', body = ''] = Buffer.from(healthCheckAnswer(service, slices, 'near'))
    .toString()
    .split('\r\n\r\n')
  return { head: head.split('\r\n'), body: JSON.parse(body) as unknown, length: body.length }
}

test('endpoints that are ready on the node make it healthy', () => {
  const { head, body, length } = answer([
    slice('near', READY),
    slice('near', READY),
    slice('far', READY),
  ])
  assert.deepEqual(head, [
    'HTTP/1.1 200 OK',
    'Content-Type: application/json',
    'X-Content-Type-Options: nosniff',
    'X-Load-Balancing-Endpoint-Weight: 2',
    `Content-Length: ${length}`,
    'Connection: close',
  ])
  assert.deepEqual(body, {
    service: { namespace: 'shop', name: 'web' },
    localEndpoints: 2,
    serviceProxyHealthy: true,
  })
})

test('those of other nodes, those that end, and those that kube-proxy leaves alone do not', () => {
  const left = { metadata: { labels: { 'service.kubernetes.io/headless': '' } } }
  const { head } = answer([
    slice('far', READY),
    slice('near', ENDING),
    { ...slice('near', READY), ...left },
  ])
  assert.equal(head[0], 'HTTP/1.1 503 Service Unavailable')
  assert.equal(head[3], 'X-Load-Balancing-Endpoint-Weight: 0')
})
