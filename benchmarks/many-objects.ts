// What one request costs the server when there are very many objects and very many who watch a few of them each, in this
// process. Time of the main thread, so that it does not matter what else the machine does.
//
//   node benchmarks/many-objects.ts [--objects 150000] [--nodes 5000]
import { generateKeyPairSync } from 'node:crypto'
import { parseArgs } from 'node:util'
import { SeededRandom, SystemClock, silentLogger } from '@gyropilot/foundation'
import { createApiServer, createMemoryStore } from '@gyropilot/api-server'

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '150000' },
    nodes: { type: 'string', default: '5000' },
  },
})
const objects = Number(values.objects)
const nodes = Number(values.nodes)
const PAGE = 500
const EVENTS = 2000

const clock = new SystemClock()
const store = createMemoryStore(clock)
const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'], extra: {} }
const server = createApiServer({
  clock,
  random: new SeededRandom('many-objects'),
  logger: silentLogger,
  store,
  serviceAccountKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  tokens: new Map([['t', admin]]),
})
await server.start()
const headers = { authorization: 'Bearer t' }
// oxlint-disable-next-line no-explicit-any -- lists, looked into
type List = any

/** Milliseconds that the main thread has worked. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function row(what: string, figure: string, wanted: string): void {
  console.log(`${what.padEnd(66)} ${figure.padStart(12)}   ${wanted}`)
}

function write(collection: string, key: string, object: object): void {
  const [namespace, name] = key.split('/')
  store.commit({ collection, key }, (revision) => ({
    ...object,
    metadata: { name, namespace, resourceVersion: String(revision) },
  }))
}

const map = { kind: 'ConfigMap', apiVersion: 'v1' }
for (let n = 0; n < objects; n++) write('configmaps', `default/m-${n}`, map)
const times: number[] = []
let listed = 0
for (let token = ''; ;) {
  write('configmaps', `default/m-${times.length * 37}`, map)
  const query = `limit=${PAGE}${token === '' ? '' : `&continue=${token}`}`
  const startedMs = workedMs()
  const path = `/api/v1/configmaps?${query}`
  const { body } = await server.handle({ method: 'GET', path, headers })
  times.push(workedMs() - startedMs)
  if (body.kind !== 'value') throw new Error('no list')
  const { items, metadata } = body.value as List
  listed += items.length
  token = metadata.continue ?? ''
  if (token === '') break
}
times.sort((a, b) => a - b)
const median = times[times.length >> 1]!
row(
  `${listed} objects in pages of ${PAGE}, a write before each: median page`,
  `${median.toFixed(1)} ms`,
  '',
)
row('worst page', `${times.at(-1)!.toFixed(1)} ms`, '<= 20 ms')

const abort = new AbortController()
let heard = 0
for (let node = 0; node < nodes; node++) {
  const { body } = await server.handle({
    method: 'GET',
    path: `/api/v1/pods?watch=true&resourceVersion=${store.revision}&fieldSelector=spec.nodeName%3Dnode-${node}`,
    headers,
    signal: abort.signal,
  })
  if (body.kind !== 'events') throw new Error('no watch')
  const { events } = body
  void (async () => {
    for await (const _ of events) heard++
  })()
}
await new Promise((resolve) => setImmediate(resolve))
const startedMs = workedMs()
for (let n = 0; n < EVENTS; n++) {
  const spec = { nodeName: `node-${n % nodes}` }
  write('pods', `default/p-${n}`, { kind: 'Pod', apiVersion: 'v1', spec })
}
const perEvent = ((workedMs() - startedMs) * 1000) / EVENTS
await new Promise((resolve) => setImmediate(resolve))
row(`commit of a Pod, ${nodes} watch one node's each`, `${perEvent.toFixed(1)} µs`, '')
row('events that arrived', `${heard}`, `${EVENTS}`)
abort.abort()
await server.stop(0)
