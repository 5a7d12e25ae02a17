import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agnhostDatagram, agnhostMayFail, agnhostPage } from './agnhost-server.ts'

const run = {
  hostname: 'web-0',
  ranForMs: 10_000,
  isEnding: false,
  nowMs: Date.UTC(2026, 0, 2),
  environment: new Map([
    ['SERVE_PORT_80', 'foo'],
    ['SERVE_TCP_PORT_81', 'bar'],
    ['SERVE_TLS_PORT_443', '<a href="/x">secret</a>'],
  ]),
}

function answer(line: string, port: number, path: string, ranForMs = 0): string {
  const request = { method: 'PUT', port, path }
  const page = agnhostPage(line.split(' '), { ...run, ranForMs }, request)
  if (page === undefined) return ''
  return `${page.status} ${page.location ?? Buffer.from(page.body)}`
}

for (const [line, port, path, expected] of [
  ['/agnhost serve-hostname', 9376, '/any', '200 web-0'],
  ['/agnhost serve-hostname', 80, '/', ''],
  ['/agnhost serve-hostname --port=80', 80, '/', '200 web-0'],
  ['/agnhost netexec', 8080, '/', '200 NOW: 2026-01-02T00:00:00.000Z'],
  ['agnhost netexec --http-port=90', 90, '/hostName', '200 web-0'],
  ['agnhost netexec --http-port 90 --udp-port 91', 90, '/hostname', '200 web-0'],
  ['/agnhost netexec --http-port=90', 8080, '/hostname', ''],
  ['/agnhost netexec', 8080, '/healthz', '200 '],
  ['/agnhost netexec', 8080, '/readyz', '200 '],
  ['/agnhost netexec', 8080, '/clientip', ''],
  ['/agnhost netexec', 8080, '/serverport', '200 8080'],
  ['/agnhost netexec', 8080, '/echo?msg=a%20b', '200 a b'],
  ['/agnhost netexec', 8080, '/echo?msg=a&code=503', '503 a'],
  ['/agnhost netexec', 8080, '/redirect?location=/echo&code=307', '307 /echo'],
  ['/agnhost netexec', 8080, '/dial?host=x', ''],
  ['/agnhost porter', 80, '/', '200 foo'],
  ['/agnhost porter', 81, '/x', '200 bar'],
  ['/agnhost porter', 82, '/', ''],
  ['/agnhost porter', 443, '/', '200 <a href="/x">secret</a>'],
  ['/agnhost porter --json-response', 80, '/', '200 {"Method":"PUT","Body":"foo"}'],
  ['/agnhost liveness', 8080, '/healthz', '200 ok'],
  ['/agnhost liveness', 8080, '/started', '200 0s'],
  ['/agnhost liveness', 8080, '/other', '404 404 page not found\n'],
  ['/agnhost liveness', 8080, '/redirect?loc=%2Fhealthz', '302 /healthz'],
  ['/agnhost pause', 80, '/', ''],
  ['sh netexec', 8080, '/', ''],
] as const)
  test(`${line} at ${port}${path}`, () => assert.equal(answer(line, port, path), expected))

test('what looks like HTML is said to be, as servers in Go say it', () => {
  const typeAt = (port: number): string | undefined =>
    agnhostPage(['/agnhost', 'porter'], run, { method: 'GET', port, path: '/' })?.type
  assert.equal(typeAt(443), 'text/html; charset=utf-8')
  assert.equal(typeAt(80), 'text/plain; charset=utf-8')
})

test('liveness is well for ten seconds', () => {
  assert.equal(answer('/agnhost liveness', 8080, '/healthz', 10_000), '200 ok')
  assert.equal(answer('/agnhost liveness', 8080, '/healthz', 10_500), '500 error: 10.5')
  assert.equal(agnhostMayFail(['/agnhost', 'liveness']), true)
  assert.equal(agnhostMayFail(['/agnhost', 'netexec']), true)
  assert.equal(agnhostMayFail(['/agnhost', 'serve-hostname']), false)
  assert.equal(agnhostMayFail([]), false)
})

for (const [line, port, text, expected] of [
  ['/agnhost netexec', 8081, 'hostName\n', 'web-0'],
  ['/agnhost netexec --udp-port=80', 80, 'ECHO a b', 'a b'],
  ['/agnhost netexec --udp-port=80', 80, 'clientip', '10.0.0.1:5'],
  ['/agnhost netexec --udp-port=80', 8081, 'hostname', undefined],
  ['/agnhost netexec', 8081, 'nothing', undefined],
  ['/agnhost serve-hostname --http=false --tcp --udp', 9376, 'x', 'web-0'],
  ['/agnhost serve-hostname --udp --port=5', 5, '', 'web-0'],
  ['/agnhost serve-hostname --udp', 5, 'x', undefined],
  ['/agnhost serve-hostname', 9376, 'x', undefined],
  ['/agnhost liveness', 8081, 'hostname', undefined],
  ['nginx', 8081, 'hostname', undefined],
] as const)
  test(`${line} by UDP at ${port}: ${text}`, () => {
    const asked = { bytes: Buffer.from(text), port, protocol: 'UDP', from: '10.0.0.1:5' } as const
    const run = { hostname: 'web-0', environment: new Map() }
    assert.equal(agnhostDatagram(line.split(' '), run, asked), expected)
  })

test('agnhost porter answers by UDP and SCTP at the ports that its environment names', () => {
  const environment = new Map([
    ['SERVE_UDP_PORT_80', 'foo'],
    ['SERVE_SCTP_PORT_81', 'bar'],
  ])
  const at = (port: number, protocol: 'UDP' | 'SCTP', words = ['/agnhost', 'porter']) =>
    agnhostDatagram(words, { hostname: 'p', environment }, { port, protocol, bytes: Buffer.of() })
  assert.deepEqual([at(80, 'UDP'), at(81, 'SCTP')], ['foo', 'bar'])
  assert.deepEqual(
    [at(80, 'SCTP'), at(81, 'UDP'), at(82, 'UDP')],
    [undefined, undefined, undefined],
  )
  assert.equal(at(8081, 'SCTP', ['/agnhost', 'netexec']), undefined)
})
