import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange, Network } from '../shell/network.ts'
import { controllerPage } from './consumer-controller.ts'

const WORDS = [
  '/agnhost',
  'resource-consumer-controller',
  '--consumer-service-name=web',
  '--consumer-service-namespace=shop',
  '--consumer-port=80',
]
const OK: Exchange = {
  kind: 'answered',
  bytes: Buffer.from('HTTP/1.1 200 OK\r\n\r\nConsumeCPU\n'),
  isReal: true,
}

async function run(
  path: string,
  given: { method?: string; port?: number; exchange?: Exchange } = {},
) {
  const { method = 'POST', port = 8080, exchange = OK } = given
  const sent: string[] = []
  const network: Network = {
    resolver: '',
    isOwn: () => false,
    records: async () => ({ kind: 'unknown', records: [] }),
    lookup: async (name) =>
      name === 'web.shop.svc.cluster.local'
        ? { kind: 'found', name, addresses: ['10.0.0.7'] }
        : { kind: 'unknown' },
    async exchange(address, to, { bytes }) {
      const [head = '', form = ''] = Buffer.from(bytes).toString().split('\r\n\r\n')
      sent.push(`${address}:${to} ${head.split(' ', 2).join(' ')} ${form}`)
      return exchange
    },
  }
  const page = await controllerPage(WORDS, { method, port, path }, () => network)
  return { status: page?.status, said: page && Buffer.from(page.body).toString(), sent }
}

test('what is to be taken goes to the Service in requests of that size, and the rest', async () => {
  const cpu = await run('/ConsumeCPU?millicores=250&durationSec=30&requestSizeMillicores=100')
  const to = '10.0.0.7:80 POST /ConsumeCPU'
  assert.deepEqual(cpu.sent, [
    `${to} millicores=100&durationSec=30`,
    `${to} millicores=100&durationSec=30`,
    `${to} millicores=50&durationSec=30`,
  ])
  assert.deepEqual(
    [cpu.status, cpu.said],
    [
      200,
      'RC manager: sending 2 requests to consume 100 millicores each and 1 request to consume 50 millicores\n' +
        'Consumed 100 millicores\nConsumed 100 millicores\nConsumed 50 millicores\n',
    ],
  )
  const memory = await run('/ConsumeMem?megabytes=20&durationSec=3&requestSizeMegabytes=10')
  assert.deepEqual(
    memory.sent,
    Array.from({ length: 2 }, () => '10.0.0.7:80 POST /ConsumeMem megabytes=10&durationSec=3'),
  )
  assert.match(
    memory.said ?? '',
    /^RC manager: sending 2 requests to consume 10 MB each and 1 request to consume 0 MB\n/,
  )
})

test('who cannot be reached is told of', async () => {
  const path = '/ConsumeCPU?millicores=1&durationSec=3&requestSizeMillicores=10'
  const { said } = await run(path, { exchange: { kind: 'refused' } })
  assert.match(said ?? '', /\nFailed to connect to consumer: refused\n$/)
})

for (const [path, status] of [
  ['/ConsumeCPU?millicores=250&durationSec=30', 400],
  ['/ConsumeCPU?millicores=250&durationSec=30&requestSizeMillicores=0', 400],
  ['/ConsumeCPU?millicores=x&durationSec=30&requestSizeMillicores=1', 400],
  ['/x', 404],
] as const)
  test(`${path} sends nothing`, async () => {
    const { sent, ...answer } = await run(path)
    assert.deepEqual([answer.status, sent], [status, []])
  })

test('it takes what is sent to its port, by POST', async () => {
  assert.equal((await run('/ConsumeCPU', { method: 'GET' })).status, 400)
  assert.equal((await run('/ConsumeCPU', { port: 81 })).status, undefined)
})
