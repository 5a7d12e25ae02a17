import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeHost } from '@gyropilot/foundation/testing'
import { SystemClock } from '@gyropilot/foundation'
import { TransportPool } from '../auth/connect.ts'
import { fakeTransport, jsonAnswer } from '../testing/index.ts'
import type { TransportRequest, TransportResponse } from '../transport.ts'
import { LoopbackServer } from './loopback-server.ts'
import { followingRedirects } from './redirects.ts'
import { ServerTransports } from './server-transports.ts'
import * as certificates from './test-certificates.ts'

const SERVER = 'https://a:6443/prefix/'
const TO_B = 'https://b:6443/apis/x?y=1'

const answer = (status: number, location?: string): TransportResponse => ({
  ...jsonAnswer({}, status),
  headers: location === undefined ? {} : { location },
})

const write = (method: 'PUT' | 'POST' | 'DELETE' = 'PUT'): TransportRequest => ({
  method,
  path: '/api/v1/things/t?timeout=5s',
  headers: { accept: 'application/json', 'content-type': 'application/json', authorization: 'own' },
  body: { json: { kind: 'Thing' } },
})

/** What is sent after one answer, for a request of `method`. */
async function second(
  method: TransportRequest['method'],
  status: number,
  location: string,
): Promise<TransportRequest> {
  const inner = fakeTransport([() => answer(status, location), () => jsonAnswer({})])
  const { body, ...head } = write()
  const request = method === 'GET' ? { ...head, method } : { ...head, body, method }
  const response = await followingRedirects(inner, SERVER).send(request)
  assert.equal(response.status, 200)
  assert.equal(inner.requests.length, 2)
  return inner.requests[1]!
}

for (const status of [301, 302, 303, 307, 308])
  test(`${status}: a read goes on to the other server as it is, with where it came from`, async () => {
    const { server, path, method, headers } = await second('GET', status, TO_B)
    assert.deepEqual(
      { server, path, method },
      { server: 'https://b:6443', path: '/apis/x?y=1', method: 'GET' },
    )
    assert.equal(headers['referer'], 'https://a:6443/prefix/api/v1/things/t?timeout=5s')
    assert.equal(headers['accept'], 'application/json')
  })

for (const status of [301, 302, 303])
  test(`${status}: a write becomes a read without a body`, async () => {
    for (const method of ['PUT', 'POST', 'DELETE'] as const) {
      const next = await second(method, status, TO_B)
      assert.equal(next.method, 'GET')
      assert.equal(next.body, undefined)
      assert.equal(next.headers['content-type'], undefined)
    }
  })

for (const status of [307, 308])
  test(`${status}: a write goes on as it is`, async () => {
    const next = await second('PUT', status, TO_B)
    assert.equal(next.method, 'PUT')
    assert.deepEqual(next.body, write().body)
    assert.equal(next.headers['content-type'], 'application/json')
  })

const PLACES: readonly (readonly [string, string, string, string])[] = [
  ['a path', '/b', 'https://a:6443', '/b'],
  ['a path beside', 'u', 'https://a:6443', '/prefix/api/v1/things/u'],
  ['a path above', '../w', 'https://a:6443', '/prefix/api/v1/w'],
  ['a query', '?z', 'https://a:6443', '/prefix/api/v1/things/t?z'],
  ['a server', '//c', 'https://c', '/'],
  ['an address with a fragment', 'https://c/d#e', 'https://c', '/d'],
]
for (const [title, location, server, path] of PLACES)
  test(`where it points is ${title}`, async () => {
    const next = await second('GET', 302, location)
    assert.deepEqual([next.server, next.path], [server, path])
  })

const HOMES: readonly (readonly [to: string, isSent: boolean])[] = [
  ['https://a/x', true],
  ['http://a:1/x', true],
  ['https://b.a/x', true],
  ['https://ba/x', false],
  ['https://b/x', false],
]
for (const [to, isSent] of HOMES)
  test(`the authorization of a request ${isSent ? 'goes' : 'does not go'} along to ${to}`, async () => {
    assert.equal(
      (await second('PUT', 307, to)).headers['authorization'],
      isSent ? 'own' : undefined,
    )
  })

test('what was left behind elsewhere is not taken up at home', async () => {
  const inner = fakeTransport([
    () => answer(307, 'https://b/x'),
    () => answer(307, 'https://a:6443/y'),
    () => jsonAnswer({}),
  ])
  await followingRedirects(inner, SERVER).send(write())
  assert.equal(inner.requests[2]!.headers['authorization'], undefined)
})

test('plain text is not told where a request came from', async () => {
  const next = await second('GET', 302, 'http://b/x')
  assert.equal(next.server, 'http://b')
  assert.equal(next.headers['referer'], undefined)
})

test('each leads on from where the last one pointed', async () => {
  const inner = fakeTransport([
    () => answer(307, 'https://b/x/y'),
    () => answer(303, 'z'),
    () => answer(307, '/w'),
    () => jsonAnswer({}),
  ])
  await followingRedirects(inner, SERVER).send(write())
  assert.deepEqual(
    inner.requests.map(({ method, server, path, headers }) => [
      method,
      server,
      path,
      headers['referer'],
    ]),
    [
      ['PUT', undefined, '/api/v1/things/t?timeout=5s', undefined],
      ['PUT', 'https://b', '/x/y', 'https://a:6443/prefix/api/v1/things/t?timeout=5s'],
      ['GET', 'https://b', '/x/z', 'https://b/x/y'],
      ['GET', 'https://b', '/w', 'https://b/x/z'],
    ],
  )
})

for (const status of [300, 304, 305, 306])
  test(`${status} is an answer like any other`, async () => {
    const inner = fakeTransport([() => answer(status, TO_B)])
    assert.equal((await followingRedirects(inner, SERVER).send(write())).status, status)
  })

for (const location of [undefined, ''])
  test(`without a place to go to (${JSON.stringify(location)}) it is an answer like any other`, async () => {
    const inner = fakeTransport([() => answer(307, location)])
    assert.equal((await followingRedirects(inner, SERVER).send(write())).status, 307)
  })

test('after ten requests it is given up', async () => {
  const inner = fakeTransport([() => answer(307, '')], { repeatLast: true })
  const loop = fakeTransport([() => answer(307, '/loop')], { repeatLast: true })
  assert.equal((await followingRedirects(inner, SERVER).send(write())).status, 307)
  await assert.rejects(followingRedirects(loop, SERVER).send(write()), {
    name: 'TransportError',
    code: 'REDIRECT_REFUSED',
    message: 'PUT https://a:6443/loop: stopped after 10 redirects',
    notProcessed: false,
  })
  assert.equal(loop.requests.length, 10)
})

test('a place that is no address, or not of http, is refused', async () => {
  await assert.rejects(
    second('PUT', 307, 'https://[::1'),
    /^TransportError: PUT https:\/\/a:6443\/prefix\/api\/v1\/things\/t: failed to parse Location header "https:\/\/\[::1"$/,
  )
  await assert.rejects(
    second('PUT', 307, 'ftp://b/x'),
    /: redirected to "ftp:\/\/b\/x": unsupported protocol scheme "ftp"$/,
  )
})

for (const http1 of [false, true])
  test(`over ${http1 ? 'HTTP/1.1' : 'HTTP/2'}: the other server gets the request with the credentials, by one connection`, async () => {
    const seen: unknown[] = []
    await using stack = new AsyncDisposableStack()
    const target = await LoopbackServer.start(
      (incoming, response) => {
        const { method, url, headers } = incoming
        seen.push([method, url, headers['authorization'], headers['impersonate-user']])
        response.end('done')
      },
      { http1 },
    )
    stack.defer(() => target.stop())
    const first = await LoopbackServer.start(
      (incoming, response) => {
        const location = `https://localhost:${target.port}${incoming.url}`
        response.writeHead(308, { location })
        response.end('a page that says so')
      },
      { http1 },
    )
    stack.defer(() => first.stop())
    const pool = new TransportPool({ host: new FakeHost(), clock: new SystemClock() })
    stack.defer(() => pool.close())
    const transport = pool.transport({
      server: first.url,
      tls: { caData: certificates.authority },
      bearerToken: 't',
      impersonate: { user: 'bob', groups: [], extra: {} },
    })
    for (let i = 0; i < 2; i++) {
      const response = await transport.send({ ...write(), path: `/x/${i}`, headers: {} })
      assert.equal(response.status, 200)
      assert.equal(response.body.kind, 'bytes')
      if (response.body.kind === 'bytes') for await (const _ of response.body.chunks);
    }
    assert.deepEqual(seen, [
      ['PUT', '/x/0', 'Bearer t', 'bob'],
      ['PUT', '/x/1', 'Bearer t', 'bob'],
    ])
    assert.equal(target.accepted, 1)
    assert.equal(first.accepted, 1)
  })

test('one transport for each server; the own one where no path stands in front', async () => {
  const made: string[] = []
  const closed: string[] = []
  const make = (server: string) => {
    made.push(server)
    return {
      send: async () => answer(200),
      close: async () => void closed.push(server),
    }
  }
  const plain = new ServerTransports('https://a:443', make)
  for (const server of [undefined, 'https://a', 'https://b', 'https://b'])
    await plain.send({ ...write(), ...(server === undefined ? {} : { server }) })
  assert.deepEqual(made.splice(0), ['https://a:443', 'https://b'])
  await plain.close()
  assert.deepEqual(new Set(closed), new Set(['https://a:443', 'https://b']))
  const prefixed = new ServerTransports('https://a/p', make)
  for (const server of [undefined, 'https://a'])
    await prefixed.send({ ...write(), ...(server === undefined ? {} : { server }) })
  assert.deepEqual(made, ['https://a/p', 'https://a'])
})
