import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ClientRequest } from 'node:http'
import { request } from 'node:https'
import { PassThrough } from 'node:stream'
import { connect } from 'node:tls'
import { after, before, describe, test } from 'node:test'
import { SystemClock } from '@gyropilot/foundation'
import { WebSocket } from 'ws'
import { listenOnLoopback, makeNamespace, pod, PATCH, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { CommandEnd, ContainerCommand, Kubelet } from '../kubelets/kubelet.ts'
import { upgrade } from './upgrade.ts'

const ADMINISTRATOR = { authorization: 'Bearer admin-token' }

/** Says what it was asked, repeats its input in capitals, ends with the code that the first word names. */
const kubelet: Kubelet = {
  logs: ({ tailLines }) => (tailLines === 1 ? brokenLines() : lines('one\n', 'two\n')),
  exec: (asked: ContainerCommand) =>
    asked.command[0] === 'absent'
      ? undefined
      : async ({ stdin, stdout, stderr }): Promise<CommandEnd> => {
          await stdout(Buffer.from(`${asked.container}: ${asked.command.join(' ')}\n`))
          if (asked.command[0] === 'deaf') {
            const { value } = await stdin[Symbol.asyncIterator]().next()
            await stdout(Buffer.from(`read ${Buffer.from(value!).toString()}`))
            return { exitCode: 3 }
          }
          if (asked.command[0] === 'slow') return readSlowly(stdin)
          for await (const chunk of stdin)
            await stdout(Buffer.from(Buffer.from(chunk).toString().toUpperCase()))
          await stderr(Buffer.from('warned'))
          if (asked.command[0] === 'broken') throw new Error('the runtime is broken')
          return { exitCode: Number(asked.command[1] ?? 0) }
        },
  attach: () => undefined,
  async forward(_, forwarded, { input, output }) {
    if (forwarded !== 80) return 'nothing listens'
    for await (const chunk of input) {
      await output(Buffer.from(`got ${Buffer.from(chunk).toString()}`))
      return undefined
    }
    return undefined
  },
  usage: () => ({ node: { cpuNanoCores: 0, memoryBytes: 0 }, pods: [] }),
}

const mostWaiting = { bytes: 0, total: 0 }

/** Takes one piece per turn of the loop, and looks at what has piled up behind it. */
async function readSlowly(stdin: AsyncIterable<Uint8Array>): Promise<CommandEnd> {
  const queue = stdin as AsyncIterable<Uint8Array> & { readonly waitingBytes: number }
  for await (const chunk of stdin) {
    mostWaiting.total += chunk.length
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
    mostWaiting.bytes = Math.max(mostWaiting.bytes, queue.waitingBytes)
  }
  return { exitCode: 0 }
}

async function* brokenLines(): AsyncGenerator<string> {
  yield 'one\n'
  throw new Error('the file cannot be read')
}

async function* lines(...texts: string[]): AsyncGenerator<string> {
  for (const text of texts) yield text
}

describe('streams over the network', () => {
  let given: TestServer & { ns: string }
  let port = 0
  before(async () => {
    const server = await startServer({
      // Clients that say nothing are waited for: nobody moves a virtual clock here.
      clock: new SystemClock(),
      kubelets: { kubeletOf: (node) => (node === 'n1' ? kubelet : undefined) },
    })
    given = { ...server, ns: await makeNamespace(server, 'a') }
    for (const [index, name] of ['n1', 'down'].entries()) {
      await given.call('POST', '/api/v1/nodes', { metadata: { name } })
      const addresses = [{ type: 'InternalIP', address: `10.9.9.${index}` }]
      await given.call('PATCH', `/api/v1/nodes/${name}/status`, { status: { addresses } }, PATCH)
    }
    await given.call('POST', `${given.ns}/pods`, pod('p', { nodeName: 'n1' }))
    await given.call('POST', `${given.ns}/pods`, pod('lost', { nodeName: 'down' }))
    port = await listenOnLoopback(given)
  })
  after(() => given.server.stop(0))

  interface Spoken {
    readonly protocol: string
    readonly channels: Readonly<Record<number, string>>
    readonly code: number
  }

  function open(
    path: string,
    protocol: string,
    headers: Record<string, string> = ADMINISTRATOR,
  ): WebSocket {
    return new WebSocket(`wss://127.0.0.1:${port}${given.ns}/pods/${path}`, protocol || [], {
      rejectUnauthorized: false,
      headers,
    })
  }

  async function speak(path: string, protocol: string, frames: readonly Buffer[]): Promise<Spoken> {
    const socket = open(path, protocol)
    const channels: Record<number, string> = {}
    socket.on('message', (message: Buffer) => {
      channels[message[0]!] = (channels[message[0]!] ?? '') + message.subarray(1).toString()
    })
    await once(socket, 'open')
    for (const frame of frames) socket.send(frame)
    const [code] = (await once(socket, 'close')) as [number]
    return { protocol: socket.protocol, channels, code }
  }

  async function refusal(
    socket: WebSocket,
  ): Promise<{ status: number; phrase: string; message: string }> {
    const [, response] = await once(socket, 'unexpected-response')
    let text = ''
    for await (const chunk of response) text += String(chunk)
    const { statusCode: status, statusMessage: phrase } = response
    return { status, phrase, message: JSON.parse(text).message }
  }

  const stdin = (text: string): Buffer => Buffer.concat([Buffer.from([0]), Buffer.from(text)])
  const closeStdin = Buffer.from([255, 0])
  const all = 'stdin=true&stdout=true&stderr=true'

  test('v5: channels of one byte, half-closed input, the exit code as a status, a normal close', async () => {
    const path = `p/exec?command=run&command=3&${all}`
    const said = await speak(path, 'v5.channel.k8s.io', [stdin('abc'), closeStdin])
    assert.deepEqual(said, {
      protocol: 'v5.channel.k8s.io',
      channels: {
        1: 'c: run 3\nABC',
        2: 'warned',
        3: JSON.stringify({
          metadata: {},
          status: 'Failure',
          message: 'command terminated with non-zero exit code: exit status 3',
          reason: 'NonZeroExitCode',
          details: { causes: [{ reason: 'ExitCode', message: '3' }] },
        }),
      },
      code: 1000,
    })
  })

  const failed = 'command terminated with non-zero exit code: exit status 3'
  for (const [protocol, base64, end] of [
    ['v4.channel.k8s.io', false, /"reason":"ExitCode","message":"3"/],
    ['v4.base64.channel.k8s.io', true, /"reason":"ExitCode","message":"3"/],
    ['channel.k8s.io', false, new RegExp(`^${failed}$`)],
    ['base64.channel.k8s.io', true, new RegExp(`^${failed}$`)],
    ['', false, new RegExp(`^${failed}$`)],
  ] as const) {
    test(`exec over WebSocket by protocol ${JSON.stringify(protocol)}`, async () => {
      // Without a half-close the command ends when the client goes: one that reads nothing ends by itself.
      const path = 'p/exec?command=deaf&command=3&stdin=true&stdout=true&stderr=true'
      const socket = open(path, protocol)
      const channels: Record<number, string> = {}
      const kinds = new Set<boolean>()
      socket.on('message', (message: Buffer, binary: boolean) => {
        kinds.add(binary)
        const channel = base64 ? Number(String.fromCharCode(message[0]!)) : message[0]!
        const bytes = base64
          ? Buffer.from(message.subarray(1).toString(), 'base64')
          : message.subarray(1)
        channels[channel] = (channels[channel] ?? '') + bytes.toString()
      })
      await once(socket, 'open')
      socket.send(base64 ? `0${Buffer.from('abc').toString('base64')}` : stdin('abc'))
      const [code] = (await once(socket, 'close')) as [number]
      assert.deepEqual([...kinds], [!base64])
      assert.equal(socket.protocol, protocol)
      assert.equal(channels[1], 'c: deaf 3\nread abc')
      assert.match(channels[3]!, end)
      assert.equal(code, 1000)
    })
  }

  test('older protocols say nothing of success, and are refused as the kubelet refuses', async () => {
    const said = await speak('p/exec?command=run&stdout=true', 'channel.k8s.io', [])
    assert.deepEqual(said.channels, { 1: 'c: run\n' })
    const socket = open('p/exec?command=absent&stdout=true', 'v4.channel.k8s.io')
    const [, response] = await once(socket, 'unexpected-response')
    let text = ''
    for await (const chunk of response) text += String(chunk)
    assert.deepEqual([response.statusCode, text], [500, 'container not found ("c")'])
  })

  test('what is asked for is asked for by anything but 0 and false, as Go reads it', async () => {
    for (const word of ['True', 'yes', 'TRUE', '1', '']) {
      const said = await speak(`p/exec?command=run&stdout=${word}`, 'v4.channel.k8s.io', [])
      assert.equal(said.channels[1], 'c: run\n', `stdout=${word}`)
    }
    for (const word of ['False', '0', 'false']) {
      const path = `p/exec?command=run&stderr=true&stdout=${word}`
      const said = await speak(path, 'v4.channel.k8s.io', [])
      assert.deepEqual(Object.keys(said.channels), ['2', '3'], `stdout=${word}`)
    }
  })

  /** What a client that reads the socket sees: what TLS unpacks at once. */
  async function records(path: string, protocol: string): Promise<readonly Buffer[]> {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
    const seen: Buffer[] = []
    socket.on('data', (bytes: Buffer) => seen.push(bytes))
    socket.write(
      [
        `GET ${given.ns}/pods/${path} HTTP/1.1`,
        'host: localhost',
        'connection: Upgrade',
        'upgrade: websocket',
        'sec-websocket-version: 13',
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
        `sec-websocket-protocol: ${protocol}`,
        `authorization: ${ADMINISTRATOR.authorization}`,
        '\r\n',
      ].join('\r\n'),
    )
    // The last record is the server's close frame.
    while ((seen.at(-1)?.[0] ?? 0) !== 0x88) await once(socket, 'data')
    socket.destroy()
    return seen
  }

  test('frames of stdout, status and close travel in TLS records of their own', async () => {
    const seen = await records('p/exec?command=run&stdout=true&stderr=true', 'v4.channel.k8s.io')
    assert.match(seen[0]!.toString(), /^HTTP\/1.1 101 /)
    const frames = seen.slice(1)
    for (const frame of frames)
      assert.equal(frame.length, 2 + frame[1]!, `one frame: ${frame.toString('latin1')}`)
    assert.deepEqual(
      frames.map((frame) => frame[2]),
      [1, 1, 2, 3, 1000 >> 8],
    )
  })

  const twoBytes = (number: number): string => String.fromCharCode(number & 255, number >> 8)

  test('port-forward by channels: data and error for each port, which begin with its number', async () => {
    const frame = Buffer.concat([Buffer.from([0]), Buffer.from('ping')])
    const said = await speak('p/portforward?ports=80,8080', 'v4.channel.k8s.io', [frame])
    assert.deepEqual(said.channels, {
      0: `${twoBytes(80)}got ping`,
      1: twoBytes(80),
      2: Buffer.from(twoBytes(8080), 'latin1').toString(),
      3: `${Buffer.from(twoBytes(8080), 'latin1').toString()}nothing listens`,
    })
    assert.equal(said.code, 1000)
    const none = open('p/portforward', 'v4.channel.k8s.io')
    assert.equal((await refusal(none)).message, 'query parameter "port" is required')
  })

  test('port-forward by base64 channels', async () => {
    const socket = open('p/portforward?ports=80', 'v4.base64.channel.k8s.io')
    const said: string[] = []
    socket.on('message', (message: Buffer) => said.push(message.toString()))
    await once(socket, 'open')
    socket.send(`0${Buffer.from('ping').toString('base64')}`)
    await once(socket, 'close')
    const number = Buffer.from([80, 0]).toString('base64')
    const answer = Buffer.from('got ping').toString('base64')
    assert.deepEqual(said, [`0${number}`, `1${number}`, `0${answer}`])
  })

  test('a log over WebSocket: one message for each piece, as bytes or base64', async () => {
    for (const protocol of ['', 'binary.k8s.io', 'base64.binary.k8s.io']) {
      const socket = open('p/log', protocol)
      const said: string[] = []
      socket.on('message', (message: Buffer) => said.push(message.toString()))
      const [code] = await once(socket, 'close')
      const coded = protocol.startsWith('base64')
      const wanted = ['one\n', 'two\n']
      assert.deepEqual(
        said,
        coded ? wanted.map((text) => Buffer.from(text).toString('base64')) : wanted,
      )
      assert.deepEqual([socket.protocol, code], [protocol, 1000])
    }
  })

  test('a log that breaks off ends its connection, and nothing else', async () => {
    const socket = open('p/log?tailLines=1', '')
    const said: string[] = []
    socket.on('message', (message: Buffer) => said.push(message.toString()))
    const [code] = await once(socket, 'close')
    assert.deepEqual([said, code], [['one\n'], 1000])
  })

  test('a client that sends faster than the command reads is not read from until it does', async () => {
    const socket = open('p/exec?command=slow&stdin=true&stdout=true', 'v5.channel.k8s.io')
    await once(socket, 'open')
    const chunk = Buffer.concat([Buffer.from([0]), Buffer.alloc(1_048_576)])
    for (let sent = 0; sent < 64; sent++) socket.send(chunk)
    socket.send(closeStdin)
    await once(socket, 'close')
    assert.equal(mostWaiting.total, 64 * 1_048_576)
    assert.ok(mostWaiting.bytes < 8 * 1_048_576, `${mostWaiting.bytes} bytes waited`)
  })

  test('v4, without input: success', async () => {
    const said = await speak('p/exec?command=run&stdout=true', 'v4.channel.k8s.io', [])
    assert.deepEqual(said.channels, {
      1: 'c: run\n',
      3: '{"metadata":{},"status":"Success"}',
    })
  })

  test('a command that breaks is told as an error, not left hanging', async () => {
    const said = await speak('p/exec?command=broken&stdout=true', 'v5.channel.k8s.io', [])
    assert.equal(JSON.parse(said.channels[3]!).message, 'the runtime is broken')
  })

  test('a container that does not run: told over a WebSocket, before the upgrade with SPDY', async () => {
    const toldOf = async (path: string): Promise<string> =>
      JSON.parse((await speak(path, 'v5.channel.k8s.io', [])).channels[3]!).message
    const prefix = 'Internal error occurred: unable to upgrade connection: '
    assert.equal(
      await toldOf('p/exec?command=absent&stdout=true'),
      `${prefix}container not found ("c")`,
    )
    assert.equal(await toldOf('p/attach?stdout=true'), `${prefix}container c not found in pod p_a`)
    const [response] = await once(openSpdy('p/exec?command=absent&stdout=true'), 'response')
    let text = ''
    for await (const chunk of response) text += String(chunk)
    assert.deepEqual([response.statusCode, text], [500, 'container not found ("c")'])
  })

  test('errors before the upgrade are ordinary answers', async () => {
    const v5 = 'v5.channel.k8s.io'
    const table: readonly [string, string, number, string][] = [
      [
        'p/exec?command=ls&stdout=true',
        'v9.channel.k8s.io',
        400,
        'unable to upgrade: none of the protocols ["v9.channel.k8s.io"] is known',
      ],
      ['p/exec?command=ls', v5, 400, 'you must specify at least 1 of stdin, stdout, stderr'],
      ['p/exec?stdout=true', v5, 400, 'you must specify a command for exec'],
      [
        'p/exec?command=ls&stdout=true&container=zz',
        v5,
        400,
        'container zz is not valid for pod p',
      ],
      [
        'lost/exec?command=ls&stdout=true',
        v5,
        500,
        'error dialing backend: dial tcp 10.9.9.1:10250: connect: connection refused',
      ],
      ['nosuch/exec?command=ls&stdout=true', v5, 404, 'pods "nosuch" not found'],
    ]
    for (const [path, protocol, status, message] of table) {
      const { phrase, ...said } = await refusal(open(path, protocol))
      assert.deepEqual(said, { status, message })
      const phrases = { 400: 'Bad Request', 404: 'Not Found', 500: 'Internal Server Error' }
      assert.equal(phrase, phrases[status as keyof typeof phrases])
    }
  })

  test('who may get pods/exec but not create it is refused', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await given.call('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'look' },
      rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['get'] }],
    })
    await given.call('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'look' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'look' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
    })
    const headers = { ...ADMINISTRATOR, 'impersonate-user': 'eve' }
    const socket = open('p/exec?command=ls&stdout=true', 'v5.channel.k8s.io', headers)
    const { status, message } = await refusal(socket)
    assert.equal(status, 403)
    assert.equal(message, 'pods "p" is forbidden: ')
  })

  test('a request that asks for no upgrade is told to', async () => {
    const { status, body } = await given.call(
      'POST',
      `${given.ns}/pods/p/exec?command=ls&stdout=true`,
    )
    assert.deepEqual([status, body.message], [400, 'Upgrade request required'])
  })

  const openSpdy = (path: string): ClientRequest =>
    request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: `${given.ns}/pods/${path}`,
      rejectUnauthorized: false,
      headers: {
        ...ADMINISTRATOR,
        connection: 'Upgrade',
        upgrade: 'SPDY/3.1',
        'x-stream-protocol-version': ['channel.k8s.io', 'v4.channel.k8s.io', 'v5.channel.k8s.io'],
      },
    }).end()

  test('the tunnel of client-go: SPDY/3.1 in WebSocket messages, by a name with a slash', async () => {
    const call = request({
      host: '127.0.0.1',
      port,
      path: `${given.ns}/pods/p/portforward`,
      rejectUnauthorized: false,
      headers: {
        ...ADMINISTRATOR,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io',
      },
    }).end()
    call.on('response', ({ statusCode }) => call.destroy(new Error(`answered ${statusCode}`)))
    const [response, socket, head] = await once(call, 'upgrade')
    assert.equal(response.headers['sec-websocket-protocol'], 'SPDY/3.1+portforward.k8s.io')
    assert.equal(head.length, 0)
    const ping = Buffer.from('800300060000000400000001', 'hex')
    // A final binary message of 12 bytes, masked with zeros; the answer is not masked.
    socket.write(Buffer.concat([Buffer.from('828c00000000', 'hex'), ping]))
    const [answer] = await once(socket, 'data')
    assert.deepEqual(answer, Buffer.concat([Buffer.from('820c', 'hex'), ping]))
    socket.destroy()
  })

  test('SPDY/3.1: the server chooses the newest protocol that both know', async () => {
    const [response, socket] = await once(openSpdy('p/exec?command=run&stdout=true'), 'upgrade')
    assert.equal(response.headers['x-stream-protocol-version'], 'v5.channel.k8s.io')
    socket.destroy()
  })
})

test('a fault of ours in an upgrade closes its connection, and does not end the process', async () => {
  const socket = new PassThrough()
  const asked = { method: 'GET', path: '/', headers: {} } as unknown as Parameters<
    typeof upgrade
  >[0]
  const fault = (): Promise<never> => Promise.reject(new Error('a fault of ours'))
  await upgrade(asked, socket, Buffer.alloc(0), fault, new SystemClock())
  assert.equal(socket.destroyed, true)
})
