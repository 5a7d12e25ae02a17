import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { machineNetwork } from './machine-network.ts'

const HOST = '127.0.0.1'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The status line and the body that a raw request is answered with. */
async function asked(port: number, head: string): Promise<readonly [string, string]> {
  const socket = connect(port, HOST)
  socket.end(`${head} HTTP/1.0\r\n\r\n`)
  let text = ''
  for await (const chunk of socket.setEncoding('utf8')) text += chunk as string
  const [top = '', body = ''] = text.split('\r\n\r\n', 2)
  return [top.split('\r\n', 1)[0]!, body.trim()]
}

test('whatever path is asked for over HTTP is passed on without its query, and none of them ends the process', async (t) => {
  const port = await freePort()
  const listening = await machineNetwork.listenHttp(HOST, port, ({ method, path }) => {
    if (path === '/fails') throw new Error('a mistake')
    return { status: 200, value: `${method} ${path}` }
  })
  t.after(() => listening.close())
  for (const [target, path] of [
    ['/', '/'],
    ['/machines/node-1?a=b?c', '/machines/node-1'],
    ['//', '//'],
    ['//[', '//['],
  ])
    assert.deepEqual(await asked(port, `GET ${target}`), [
      'HTTP/1.1 200 OK',
      JSON.stringify(`GET ${path}`),
    ])
  assert.deepEqual(await asked(port, 'GET /fails'), ['', ''])
})
