import assert from 'node:assert/strict'
import { request as ask } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:tls'
import { once } from 'node:events'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeHost, RecordingLogger, settle, virtualClock } from '@gyropilot/foundation/testing'
import { generateKeyPair, issueCertificate, privateKeyPem } from '@gyropilot/foundation/x509'
import { httpServer } from './http-server.ts'
import type { HttpServerOptions } from './http-server.ts'

type Answering = Parameters<typeof httpServer>[1]

function serving(t: TestContext, answer: Answering, more: Partial<HttpServerOptions> = {}) {
  const logger = new RecordingLogger()
  const server = httpServer({ port: 0, host: '127.0.0.1', logger, ...more }, answer)
  const stop = new AbortController()
  const ended = server.start(stop.signal)
  t.after(() => stop.abort())
  return { logger, port: server.port, stop: () => stop.abort(), ended }
}

async function fetched(port: number, path: string, method = 'GET', body?: string) {
  const request = ask({ host: '127.0.0.1', port, path, method })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const text = (await response.toArray()).join('')
  const { statusCode, headers } = response
  return { status: statusCode, type: headers['content-type'], connection: headers.connection, text }
}

test('a request is answered with what the function says; 404 where that is nothing, 500 where it throws', async (t) => {
  const { port, logger } = serving(t, async ({ method, target, body }) => {
    if (target === '/nothing') return undefined
    if (target === '/throws') throw new Error('broken')
    return { status: 201, contentType: 'text/x', body: `${method} ${target} ${body}` }
  })
  const at = await port
  const posted = await fetched(at, '/a?b=c', 'POST', 'ü')
  assert.deepEqual([posted.status, posted.type, posted.text], [201, 'text/x', 'POST /a?b=c ü'])
  assert.equal((await fetched(at, '/nothing')).status, 404)
  const failed = await fetched(at, '/throws')
  assert.deepEqual([failed.status, failed.text], [500, 'internal server error: broken\n'])
  assert.equal(logger.lines.length, 1)
  assert.equal((await fetched(at, '/', 'POST', 'x'.repeat((7 << 20) + 1))).status, 413)
  assert.equal((await fetched(at, '/', 'POST', 'x'.repeat(7 << 20))).status, 201)
})

test('a port that is taken is the error of the start', async (t) => {
  const { port } = serving(t, () => undefined)
  const second = serving(t, () => undefined, { port: await port })
  await assert.rejects(second.ended, { code: 'EADDRINUSE' })
  await assert.rejects(second.port, { code: 'EADDRINUSE' })
})

test('a certificate that cannot be read, or is none, is the error of the start and of the port', async (t) => {
  const clock = virtualClock()
  const host = new FakeHost({})
  for (const [readTextFile, error] of [
    [() => Promise.reject(new Error('ENOENT: no such file')), /ENOENT/],
    [async () => 'no certificate', /PEM|no start line/i],
  ] as const) {
    host.readTextFile = readTextFile
    const tls = { certFile: '/cert', keyFile: '/key', host, clock }
    const { port, ended } = serving(t, () => undefined, { tls })
    await assert.rejects(ended, error)
    await assert.rejects(port, error)
  }
})

test('it stops when what is under way has its answer', async (t) => {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const { port, stop, ended } = serving(t, async () => {
    asked.resolve()
    await answer.promise
    return { status: 200, contentType: 'text/plain', body: 'late' }
  })
  const response = fetched(await port, '/')
  await asked.promise
  let stopped = false
  void ended.then(() => (stopped = true))
  stop()
  await settle()
  assert.equal(stopped, false)
  answer.resolve()
  const { text, connection } = await response
  assert.deepEqual([text, connection], ['late', 'close'])
  await ended
})

function pair(commonName: string) {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName }
  const serialNumber = Uint8Array.from({ length: 16 }, (_, i) => i + 1)
  // The handshake goes by the machine's clock: 2020 to 2050.
  const lifetime = { notBeforeMs: 1_577_836_800_000, notAfterMs: 2_524_608_000_000 }
  const usage = 'server' as const
  const request = { subject, publicKey, usage, dnsNames: ['localhost'], serialNumber, ...lifetime }
  return {
    cert: issueCertificate(request, { subject, privateKey }),
    key: privateKeyPem(privateKey),
  }
}

test('a certificate that is replaced is shown within 10 s; while it does not fit its key the former one is', async (t) => {
  const [first, second] = [pair('first'), pair('second')]
  const files: Record<string, string> = { '/cert': first.cert, '/key': first.key }
  const host = new FakeHost({})
  host.readTextFile = async (path) => files[path]!
  const clock = virtualClock()
  const tls = { certFile: '/cert', keyFile: '/key', host, clock }
  const { port, logger } = serving(t, () => undefined, { tls })
  const shown = async (): Promise<unknown> => {
    const socket = connect({ host: '127.0.0.1', port: await port, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { subject } = socket.getPeerCertificate()
    socket.destroy()
    return subject.CN
  }
  const name = async (): Promise<unknown> => {
    await clock.advance(10_000)
    await settle()
    return shown()
  }
  assert.equal(await shown(), 'first')
  files['/cert'] = second.cert
  assert.equal(await name(), 'first')
  assert.equal(logger.lines.length, 1)
  files['/key'] = second.key
  assert.equal(await name(), 'second')
})
