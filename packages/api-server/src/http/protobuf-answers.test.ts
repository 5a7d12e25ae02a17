import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { after, before, test } from 'node:test'
import { SystemClock, SystemRandom, VirtualClock } from '@gyropilot/foundation'
import { decodeProtobuf, protobufAnswers, type AnsweredObject } from '@gyropilot/protobuf'
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
    etag: head['etag'],
    bytes: Buffer.concat(chunks),
  }
}

const get = (path: string, accept = PROTOBUF) => call(path, accept)

async function create(metadata: object, data = {}) {
  const { status, bytes } = await call(MAPS, 'application/json', 'POST', { metadata, data })
  assert.equal(status, 201)
  return JSON.parse(bytes.toString())
}

test('who takes protobuf first reads objects, lists and refusals in it', async () => {
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
  const again = await get(`${MAPS}/a`, `${PROTOBUF},application/json`)
  assert.equal(again.type, PROTOBUF)
  assert.deepEqual(again.bytes, one.bytes)
  assert.equal((await get(`${MAPS}/a`, `application/json,${PROTOBUF}`)).type, 'application/json')
})

test('what is kept of an object is that of its last state', async () => {
  const { metadata } = await create({ name: 'changed' }, { key: '1' })
  await get(`${MAPS}/changed`)
  const changed = await call(`${MAPS}/changed`, PROTOBUF, 'PUT', { metadata, data: { key: '2' } })
  for (const { bytes } of [changed, await get(`${MAPS}/changed`)]) {
    const { data } = (await decodeProtobuf(bytes, EXPECTED)) as { data: object }
    assert.deepEqual(data, { key: '2' })
  }
  const list = await get(`${MAPS}?fieldSelector=metadata.name%3Dchanged`)
  const expected = { ...EXPECTED, kind: 'ConfigMapList' }
  const { items } = (await decodeProtobuf(list.bytes, expected)) as { items: { data: object }[] }
  assert.deepEqual(
    items.map(({ data }) => data),
    [{ key: '2' }],
  )
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

const AGGREGATED = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** What the answer in JSON is in protobuf. */
async function inProtobuf(path: string, parameters = ''): Promise<Buffer> {
  const { bytes } = await get(path, `application/json${parameters}`)
  const { encodeAnswer } = await protobufAnswers()
  return Buffer.from(encodeAnswer(JSON.parse(bytes.toString()) as AnsweredObject))
}

test('documents of discovery come in protobuf to who takes nothing else', async () => {
  for (const path of ['/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1']) {
    const answer = await get(path)
    assert.deepEqual([answer.status, answer.type], [200, PROTOBUF], path)
    assert.deepEqual(answer.bytes, await inProtobuf(path), path)
  }
})

test('the aggregated form comes in the first type that is accepted, and all types have one tag', async () => {
  for (const path of ['/api', '/apis']) {
    const json = await get(path, `application/json;${AGGREGATED}`)
    for (const type of [PROTOBUF, 'application/yaml']) {
      const accept = `${type};${AGGREGATED},application/json;${AGGREGATED},application/json`
      const answer = await get(path, accept)
      assert.equal(answer.type, `${type};${AGGREGATED}`)
      assert.equal(answer.etag, json.etag)
      if (type === PROTOBUF)
        assert.deepEqual(answer.bytes, await inProtobuf(path, `;${AGGREGATED}`))
      else assert.match(answer.bytes.toString(), /^apiVersion: apidiscovery\.k8s\.io\/v2\nitems:\n/)
    }
  }
})

test('a version of the aggregated form that is not served leaves the plain one, if that is accepted', async () => {
  const old = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'
  const plain = await get('/apis', `${old},application/json`)
  assert.equal(plain.type, 'application/json')
  assert.equal(JSON.parse(plain.bytes.toString()).kind, 'APIGroupList')
  assert.equal((await get('/apis', old)).status, 406)
  const strange = await get('/api', `application/cbor;${AGGREGATED}`)
  assert.equal(strange.status, 406)
  assert.match(JSON.parse(strange.bytes.toString()).message, /^406: Not Acceptable\n\nAvailable/)
})
