/** Watches of large objects: a turn of the server fills what a socket may hold back many times over, and its reader is not slow. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { get } from 'node:https'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import { listenOnLoopback, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const OBJECTS = 30
const DATA = 'x'.repeat(500_000)
const ADMINISTRATOR = { authorization: 'Bearer admin-token' }

let world: TestServer
let port = 0
/** Before the objects were made. */
let emptyVersion = ''

before(async () => {
  world = await startServer()
  port = await listenOnLoopback(world)
  await world.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } })
  emptyVersion = String(world.server.store.revision)
  for (let index = 0; index < OBJECTS; index++)
    await world.call('POST', MAPS, { metadata: { name: `m-${index}` }, data: { DATA } })
})
after(() => world.server.stop(0))

/** Types of the events that lines tell, until there are as many. */
async function typesOf(lines: AsyncIterable<string>, count: number): Promise<string[]> {
  const types: string[] = []
  for await (const line of lines) {
    types.push(/"type":"(\w+)"/.exec(line)![1]!)
    if (types.length === count) break
  }
  return types
}

async function overHttp1(path: string): Promise<Readable> {
  const options = {
    host: '127.0.0.1',
    port,
    path,
    headers: ADMINISTRATOR,
    rejectUnauthorized: false,
  }
  return new Promise((resolve, reject) => get(options, resolve).on('error', reject))
}

const ALL = Array.from({ length: OBJECTS }, () => 'ADDED')
const STREAMED = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

for (const query of [STREAMED, 'resourceVersion=0', 'resourceVersion=before']) {
  const path = (): string => `${MAPS}?watch=true&${query.replace('before', emptyVersion)}`
  const expected = query === STREAMED ? [...ALL, 'BOOKMARK'] : ALL

  test(`${query}: whole over HTTP/1.1`, async () => {
    const body = await overHttp1(path())
    assert.deepEqual(await typesOf(createInterface({ input: body }), expected.length), expected)
    body.destroy()
  })

  test(`${query}: whole over HTTP/2`, async () => {
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const stream = session.request({ ':path': path(), ...ADMINISTRATOR })
    assert.deepEqual(await typesOf(createInterface({ input: stream }), expected.length), expected)
    session.destroy()
  })

  test(`${query}: whole over WebSocket`, async () => {
    const url = `wss://127.0.0.1:${port}${path()}`
    const socket = new WebSocket(url, {
      headers: { ...ADMINISTRATOR, origin: 'https://dashboard.example' },
      rejectUnauthorized: false,
    })
    const types: string[] = []
    await new Promise<void>((resolve) => {
      socket.once('close', resolve)
      socket.on('message', (data: Buffer) => {
        types.push(/"type":"(\w+)"/.exec(data.toString('latin1'))![1]!)
        if (types.length === expected.length) resolve()
      })
    })
    assert.deepEqual(types, expected)
    socket.terminate()
  })
}

test('who watches hears of all that are deleted at once', async () => {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  const path = `${MAPS}?watch=true&resourceVersion=${world.server.store.revision}`
  const stream = session.request({ ':path': path, ...ADMINISTRATOR })
  await once(stream, 'response')
  const body = await overHttp1(path)
  await world.call('DELETE', MAPS)
  const expected = ALL.map(() => 'DELETED')
  for (const input of [stream, body])
    assert.deepEqual(await typesOf(createInterface({ input }), OBJECTS), expected)
  session.destroy()
  body.destroy()
})
