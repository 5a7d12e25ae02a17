import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { pod } from '@gyropilot/api/testing'
import { portProblem, servePort, targetOf } from './port-answers.ts'
import type { Dialed } from './port-answers.ts'
import { inputOf } from '../shell/input.ts'

const web = pod({
  name: 'web',
  annotations: { 'sim.kubelet/port-forward': '9000=127.0.0.1:3000, 9001=[::1]:3001,broken' },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] },
})

function streams(input: string) {
  const said: string[] = []
  return {
    said,
    input: inputOf(Buffer.from(input)),
    output: async (bytes: Uint8Array): Promise<void> =>
      void said.push(Buffer.from(bytes).toString()),
    signal: new AbortController().signal,
  }
}

test('targets that a user names', () => {
  assert.deepEqual(targetOf(web, 9000), { host: '127.0.0.1', port: 3000 })
  assert.deepEqual(targetOf(web, 9001), { host: '::1', port: 3001 })
  assert.equal(targetOf(web, 80), undefined)
})

test('a port of a container answers HTTP with the name of the pod', async () => {
  const flow = streams('GET /path HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.equal(await servePort(web, 80, flow, undefined), undefined)
  const [answer = ''] = flow.said
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(answer, /\r\n\r\nsimulated pod default\/web on n1: port 80, GET \/path\n$/)
})

for (const [what, asked] of [
  ['a page', 'GET / HTTP/1.1\r\n\r\n'],
  ['a refusal', 'what is this\n'],
] as const) {
  test(`a connection that ends when it is left unread gets ${what} first`, async () => {
    const flow = streams(asked)
    let isOpen = true
    async function* socket(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from(asked)
        yield Buffer.from('more')
      } finally {
        isOpen = false
      }
    }
    const output = async (bytes: Uint8Array): Promise<void> => {
      if (isOpen) await flow.output(bytes)
    }
    await servePort(web, 80, { ...flow, input: socket(), output }, undefined)
    assert.equal(flow.said.length, 1)
    assert.ok(!isOpen, 'left when it was answered')
  })
}

test('a named target gets the bytes and answers them', async () => {
  const received: string[] = []
  let ended = false
  const dialed: Dialed = {
    input: inputOf(Buffer.from('pong')),
    write: async (bytes) => void received.push(Buffer.from(bytes).toString()),
    end: () => void (ended = true),
    close: () => {},
  }
  const asked: unknown[] = []
  const flow = streams('ping')
  const dial = async (host: string, port: number): Promise<Dialed> => {
    asked.push(host, port)
    return dialed
  }
  assert.equal(await servePort(web, 9000, flow, dial), undefined)
  assert.deepEqual(
    [asked, received, ended, flow.said],
    [['127.0.0.1', 3000], ['ping'], true, ['pong']],
  )
})

test('nobody there: the text says why and what to do', async () => {
  assert.equal(
    await servePort(web, 81, streams(''), undefined),
    'error forwarding port 81 to pod web_default(uid-web): dial tcp4 127.0.0.1:81: connect: connection refused: ' +
      'no container of the simulated pod has this containerPort; annotation sim.kubelet/port-forward: "81=127.0.0.1:3000" ' +
      'leads it to a program of yours',
  )
  const refused = (): Promise<Dialed> => Promise.reject(new Error('connect ECONNREFUSED'))
  assert.equal(
    await servePort(web, 9000, streams(''), refused),
    'error forwarding port 9000 to pod web_default(uid-web): dial 127.0.0.1:3000: connect ECONNREFUSED',
  )
})

test('nobody listens in a container that does not run, and another takes its place only where none declares a port', async () => {
  const answers = async (ports: readonly { containerPort: number }[], running: string) => {
    const containers = [
      { name: 'a', image: 'app:1', ports },
      { name: 'b', image: 'app:1' },
    ]
    const two = pod({ name: 'web', spec: { nodeName: 'n1', containers } })
    const request = streams('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const isRunning = ({ name }: { name: string }): boolean => name === running
    return servePort(two, 80, request, undefined, undefined, isRunning)
  }
  assert.equal(await answers([{ containerPort: 80 }], 'a'), undefined)
  assert.match(
    (await answers([{ containerPort: 80 }], 'b')) ?? '',
    /connection refused: what would listen there does not run;/,
  )
  assert.equal(await answers([], 'b'), undefined)
})

test('a pod that declares no ports may listen anywhere, one that declares some listens there only', async () => {
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  const answered = async (containers: NonNullable<Pod['spec']>['containers'], port: number) => {
    const to = streams(request)
    const problem = await servePort(
      pod({ name: 'web', spec: { nodeName: 'n1', containers } }),
      port,
      to,
      undefined,
    )
    return problem === undefined && to.said.join('').startsWith('HTTP/1.1 200 ')
  }
  const open = { name: 'c', image: 'i' }
  const declared = { name: 'd', image: 'i', ports: [{ containerPort: 80 }] }
  assert.equal(await answered([open], 8080), true)
  assert.equal(await answered([declared], 80), true)
  assert.equal(await answered([declared], 8080), false)
  assert.equal(await answered([declared, open], 8080), false)
})

test('what is no request of HTTP is answered as a server does, and at once', async () => {
  for (const [input, expected] of [
    ['hostName\n', /^HTTP\/1\.1 400 Bad Request\r\n[^]*\r\n\r\n400 Bad Request$/],
    ['GET /x HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 200 OK\r\n/],
    ['GET / HTTP/1.1\r\nHost: x\r\n', /^$/],
  ] as const) {
    const flow = streams(input)
    await servePort(web, 80, flow, undefined)
    assert.match(flow.said.join(''), expected, input)
  }
})

test('a program that is known listens at its port whatever ports are declared', async () => {
  const known = {
    name: 'c',
    image: 'agnhost:2',
    args: ['netexec'],
    ports: [{ containerPort: 80 }],
  }
  const own = pod({ name: 'own', spec: { containers: [known] } })
  assert.equal(await servePort(own, 8080, streams('GET / HTTP/1.1\r\n\r\n'), undefined), undefined)
  assert.match((await servePort(own, 81, streams(''), undefined)) ?? '', /connection refused/)
  assert.equal(portProblem(own, known, { tcpSocket: { port: 8080 } }), undefined)
  assert.match(portProblem(own, known, { tcpSocket: { port: 81 } }) ?? '', /connection refused/)
})

test('who answers gets the form that was sent, in whatever pieces it came; what is no form is not waited for', async () => {
  const bodies: (string | undefined)[] = []
  const answer = async ({ body }: { readonly body?: string | undefined }) => {
    bodies.push(body)
    return undefined
  }
  const ask = async (...pieces: string[]): Promise<void> => {
    async function* input() {
      for (const piece of pieces) yield Buffer.from(piece)
    }
    const flow = { ...streams(''), input: input() }
    await servePort(web, 80, flow, undefined, answer)
  }
  await ask('POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n', 'a=1', '&b')
  await ask('POST / HTTP/1.1\r\ncontent-length: 900000\r\n\r\nbegin')
  await ask('GET / HTTP/1.1\r\n\r\n')
  assert.deepEqual(bodies, ['a=1&b', 'begin', ''])
})

test('of JSON all of it is waited for, and its letters are those that were sent', async () => {
  const review = JSON.stringify({ name: 'é', filler: 'x'.repeat(200_000) })
  const bytes = Buffer.from(review)
  async function* input() {
    yield Buffer.from(
      `POST / HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`,
    )
    for (let at = 0; at < bytes.length; at += 1_111) yield bytes.subarray(at, at + 1_111)
  }
  let got: unknown
  await servePort(web, 80, { ...streams(''), input: input() }, undefined, async (request) => {
    got = [request.contentType, request.body]
    return undefined
  })
  assert.deepEqual(got, ['application/json', review])
})

test('agnhost pause listens nowhere, and another container of its pod may', async () => {
  const pause = { name: 'pause', image: 'agnhost:2', args: ['pause'] }
  const alone = pod({ name: 'alone', spec: { containers: [pause] } })
  assert.match((await servePort(alone, 80, streams(''), undefined)) ?? '', /connection refused/)
  const both = pod({ name: 'both', spec: { containers: [pause, { name: 'app', image: 'i' }] } })
  assert.equal(await servePort(both, 80, streams('GET / HTTP/1.1\r\n\r\n'), undefined), undefined)
})
