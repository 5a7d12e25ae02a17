import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ClientRequest } from 'node:http'
import { request } from 'node:https'
import { after, before, describe, test } from 'node:test'
import { SeededRandom, VirtualClock } from '@gyropilot/foundation'
import { WebSocket } from 'ws'
import { makeNamespace, pod, PATCH, START_MS, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { CommandEnd, ContainerCommand, Kubelet } from '../subresources/kubelet.ts'
import { turn } from '../testing/test-server.ts'
import { createClusterCertificates } from '../tls/index.ts'

const ADMINISTRATOR = { authorization: 'Bearer admin-token' }

/** Says what it was asked, repeats its input in capitals, ends with the code that the first word names. */
const kubelet: Kubelet = {
  logs: () => undefined,
  exec: (asked: ContainerCommand) =>
    asked.command[0] === 'absent'
      ? undefined
      : async ({ stdin, stdout, stderr }): Promise<CommandEnd> => {
          await stdout(Buffer.from(`${asked.container}: ${asked.command.join(' ')}\n`))
          for await (const chunk of stdin)
            await stdout(Buffer.from(Buffer.from(chunk).toString().toUpperCase()))
          await stderr(Buffer.from('warned'))
          if (asked.command[0] === 'broken') throw new Error('the runtime is broken')
          return { exitCode: Number(asked.command[1] ?? 0) }
        },
  attach: () => undefined,
  forward: () => Promise.resolve('nothing listens'),
  usage: () => ({ node: { cpuNanoCores: 0, memoryBytes: 0 }, pods: [] }),
}

describe('streams over the network', () => {
  let given: TestServer & { ns: string }
  let port = 0
  before(async () => {
    const server = await startServer({
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
    const { serving } = createClusterCertificates({
      clock: new VirtualClock({ startMs: START_MS, settle: turn }),
      random: new SeededRandom('upgrade'),
    })
    const { certificatePem, privateKeyPem: keyPem } = serving
    ;({ port } = await given.server.listen({ host: '127.0.0.1', port: 0, certificatePem, keyPem }))
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
    return new WebSocket(`wss://127.0.0.1:${port}${given.ns}/pods/${path}`, protocol, {
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

  async function refusal(socket: WebSocket): Promise<{ status: number; message: string }> {
    const [, response] = await once(socket, 'unexpected-response')
    let text = ''
    for await (const chunk of response) text += String(chunk)
    return { status: response.statusCode, message: JSON.parse(text).message }
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
      assert.deepEqual(await refusal(open(path, protocol)), { status, message })
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
    assert.match(message, /User "eve" cannot create resource "pods\/exec"/)
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

  test('SPDY/3.1: the server chooses the newest protocol that both know', async () => {
    const [response, socket] = await once(openSpdy('p/exec?command=run&stdout=true'), 'upgrade')
    assert.equal(response.headers['x-stream-protocol-version'], 'v5.channel.k8s.io')
    socket.destroy()
  })
})
