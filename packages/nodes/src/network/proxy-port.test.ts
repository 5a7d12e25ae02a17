import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proxyAnswer } from './proxy-port.ts'

const nowMs = Date.UTC(2026, 0, 2)

function told(port: number, path: string, isFromNode: boolean): string | undefined {
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  const answer = proxyAnswer({ port, isFromNode, request, nowMs })
  if (answer === undefined) return undefined
  const [head = '', body = ''] = Buffer.from(answer).toString().split('\r\n\r\n')
  return `${head.split(' ')[1]} ${body}`
}

const TIME = '"2026-01-02T00:00:00.000Z"'

for (const [port, path, isFromNode, expected] of [
  [
    10_256,
    '/healthz',
    false,
    `200 {"lastUpdated": ${TIME},"currentTime": ${TIME}, "nodeEligible": true}`,
  ],
  [10_256, '/proxyMode', true, '404 404 page not found\n'],
  [10_249, '/proxyMode', true, '200 iptables'],
  [10_249, '/healthz?verbose', true, '200 ok'],
  [10_249, '/other', true, '404 404 page not found\n'],
  [10_249, '/proxyMode', false, undefined],
  [10_250, '/healthz', true, undefined],
] as const)
  test(`kube-proxy at ${port}${path}, asked from ${isFromNode ? 'its node' : 'elsewhere'}`, () => {
    assert.equal(told(port, path, isFromNode), expected)
  })
