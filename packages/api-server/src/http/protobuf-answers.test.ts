import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { after, before, test } from 'node:test'
import { SystemClock, SystemRandom, VirtualClock } from '@gyropilot/foundation'
import { decodeProtobuf } from '@gyropilot/protobuf'
import { createTestServer, turn, type TestServer } from '../testing/test-server.ts'
import { createClusterCertificates } from '../tls/index.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const EXPECTED = { group: '', version: 'v1', kind: 'ConfigMap' }

let server: TestServer
let session: ClientHttp2Session

before(async () => {
  const certificates = createClusterCertificates({
    clock: new SystemClock(),
    random: new SystemRandom(),
  })
  server = await createTestServer({
    clock: new VirtualClock({ settle: turn, startMs: new SystemClock().nowMs() }),
    clientAuthorityPem: certificates.authority.certificatePem,
  })
  const { certificatePem, privateKeyPem: keyPem } = certificates.serving
  const { port } = await server.server.listen({
    host: '127.0.0.1',
    port: 0,
    certificatePem,
    keyPem,
  })
  session = connect(`https://127.0.0.1:${port}`, { ca: certificates.authority.certificatePem })
})
after(async () => {
  session.destroy()
  await server.server.stop(0)
})

async function call(path: string, accept: string, method = 'GET', body?: object) {
  const stream = session.request({
    ':path': path,
    ':method': method,
    authorization: 'Bearer test-token',
    accept,
  })
  stream.end(body && JSON.stringify(body))
  const [head] = (await once(stream, 'response')) as [Record<string, string>]
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return {
    status: Number(head[':status']),
    type: head['content-type'],
    bytes: Buffer.concat(chunks),
  }
}

const get = (path: string, accept = PROTOBUF) => call(path, accept)

async function create(metadata: object, data = {}) {
  const { status, bytes } = await call(MAPS, 'application/json', 'POST', { metadata, data })
  assert.equal(status, 201)
  return JSON.parse(bytes.toString())
}

test('who takes protobuf alone reads objects, lists and refusals in it', async () => {
  const body = await create({ name: 'a', labels: { of: 'protobuf' } }, { key: 'value' })
  const one = await get(`${MAPS}/a`)
  assert.equal(one.type, PROTOBUF)
  assert.deepEqual(await decodeProtobuf(one.bytes, EXPECTED), body)

  const list = await get(`${MAPS}?labelSelector=of%3Dprotobuf`)
  const { kind: _kind, apiVersion: _apiVersion, ...item } = body
  const expected = { ...EXPECTED, kind: 'ConfigMapList' }
  const { items } = (await decodeProtobuf(list.bytes, expected)) as { items: unknown }
  assert.deepEqual(items, [item])

  const missing = await get(`${MAPS}/nosuch`)
  const refusal = await decodeProtobuf(missing.bytes, { ...EXPECTED, kind: 'Status' })
  assert.deepEqual(
    [missing.status, missing.type, (refusal as { message: string }).message],
    [404, PROTOBUF, 'configmaps "nosuch" not found'],
  )
  assert.equal((await get(`${MAPS}/a`, `${PROTOBUF},application/json`)).type, 'application/json')
})

test('a watch sends frames of protobuf', async () => {
  await create({ name: 'watched' })
  const stream = session.request({
    ':path': `${MAPS}?watch=true&fieldSelector=metadata.name%3Dwatched`,
    authorization: 'Bearer test-token',
    accept: PROTOBUF,
  })
  const [head] = (await once(stream, 'response')) as [Record<string, string>]
  assert.equal(head['content-type'], `${PROTOBUF};stream=watch`)
  let bytes = Buffer.alloc(0)
  for await (const chunk of stream) {
    bytes = Buffer.concat([bytes, chunk as Buffer])
    if (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE(0)) break
  }
  assert.equal(bytes.toString('latin1', 6, 11), 'ADDED')
  const envelope = bytes.subarray(bytes.indexOf('k8s\0'), 4 + bytes.readUInt32BE(0))
  const object = (await decodeProtobuf(envelope, EXPECTED)) as { metadata: { name: string } }
  assert.equal(object.metadata.name, 'watched')
})
