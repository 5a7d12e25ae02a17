// What the API server does per second, over HTTPS, from another process on the same machine.
//
//   node benchmarks/api-server-load.ts                               starts a server of its own
//   node benchmarks/api-server-load.ts --server URL --token TOKEN    the same load on any other
//   node benchmarks/api-server-load.ts --only operations,lists       of start, operations, pods, lists, fan-out, memory
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { configMap, pod } from './load/objects.ts'
import { Durations, LoadClient } from './load/requests.ts'
import { residentMebibytes } from './load/process-account.ts'
import { openTarget, pause } from './load/target.ts'
import type { Target } from './load/target.ts'
import { Watchers } from './load/watchers.ts'

const { values } = parseArgs({
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    only: { type: 'string', default: 'start,operations,pods,lists,fan-out,memory' },
    seconds: { type: 'string', default: '6' },
  },
})
const parts = new Set(values.only.split(','))
const measuredMs = Number(values.seconds) * 1000

const NAMESPACE = 'api-server-load'
const PREFIX = `/api/v1/namespaces/${NAMESPACE}`
const CONNECTIONS = 16
const WARM_UP_MS = 3000
/** Of the run without pace: seconds of work, and less than a watcher may leave unread. */
const FLAT_OUT_EVENTS = 500_000
const MERGE_PATCH = 'application/merge-patch+json'

/** kube-apiserver 1.36 with etcd (no fsync) on a machine with 2 cores, the client on the same machine. */
const REFERENCE = {
  start: '2.3-2.6 s',
  configMaps: '1829/s, p99 32 ms',
  pods: '1270/s, p99 50 ms',
  create5000: '2.3 s',
  list5000: '190 ms (10.3 MiB)',
  fanOut200: '39500/s, p99 15 ms',
  memory: '2.7 GiB and 0.4 GiB in etcd',
}

function row(what: string, figure: string, reference = ''): void {
  console.log(`${what.padEnd(58)} ${figure.padEnd(38)} ${reference}`)
}

/** Every connection creates, reads, patches and deletes objects of its own, one after the other. */
async function operations(
  client: LoadClient,
  collection: string,
  make: (name: string) => string,
  forMs: number,
): Promise<{ readonly perSecond: number; readonly durations: Durations }> {
  const durations = new Durations()
  const startedMs = performance.now()
  const timed = async (call: Promise<unknown>): Promise<void> => {
    const sentMs = performance.now()
    await call
    durations.add(performance.now() - sentMs)
  }
  const patch = JSON.stringify({ metadata: { annotations: { round: 'second' } } })
  const worker = async (_: unknown, index: number): Promise<void> => {
    for (let n = 0; performance.now() - startedMs < forMs; n++) {
      const name = `load-${index}-${n}`
      const path = `${PREFIX}/${collection}/${name}`
      await timed(client.ok('POST', `${PREFIX}/${collection}`, make(name)))
      await timed(client.ok('GET', path))
      await timed(client.ok('PATCH', path, patch, MERGE_PATCH))
      await timed(client.ok('DELETE', `${path}?gracePeriodSeconds=0`))
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  return { perSecond: (durations.count * 1000) / (performance.now() - startedMs), durations }
}

async function measureOperations(client: LoadClient): Promise<void> {
  for (const [what, collection, make, reference] of [
    ['ConfigMaps', 'configmaps', configMap, REFERENCE.configMaps],
    ['Pods', 'pods', pod, REFERENCE.pods],
  ] as const) {
    await operations(client, collection, make, WARM_UP_MS)
    const { perSecond, durations } = await operations(client, collection, make, measuredMs)
    row(
      `${what}: create, get, patch, delete; ${CONNECTIONS} connections`,
      `${perSecond.toFixed(0)}/s, p50 ${durations.quantile(0.5).toFixed(1)}, p99 ${durations.quantile(0.99).toFixed(1)} ms`,
      reference,
    )
  }
}

async function createPods(client: LoadClient, from: number, to: number): Promise<number> {
  const startedMs = performance.now()
  let next = from
  const worker = async (): Promise<void> => {
    while (next < to) await client.ok('POST', `${PREFIX}/pods`, pod(`pod-${next++}`))
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  return (performance.now() - startedMs) / 1000
}

async function measureList(client: LoadClient, count: number, reference?: string): Promise<void> {
  const times: number[] = []
  let bytes = 0
  for (let i = 0; i < 7; i++) {
    const startedMs = performance.now()
    const body = await client.ok('GET', `${PREFIX}/pods`)
    times.push(performance.now() - startedMs)
    bytes = body.length
  }
  const [first] = times
  times.sort((a, b) => a - b)
  const mebibytes = (bytes / 1_048_576).toFixed(1)
  row(
    `list of ${count} Pods, median of ${times.length} (first)`,
    `${times[3]!.toFixed(0)} (${first!.toFixed(0)}) ms (${mebibytes} MiB)`,
    reference,
  )
}

/**
 * One writer. As fast as it is answered, it writes faster than one client can read, and a delay would say how long it had
 * written: so the delay is taken at a steady pace.
 */
async function measureFanOut(
  target: Target,
  client: LoadClient,
  count: number,
  writesPerSecond: number,
  reference?: string,
): Promise<void> {
  const name = `fan-out-${count}`
  const path = `${PREFIX}/configmaps/${name}`
  await client.ok('POST', `${PREFIX}/configmaps`, configMap(name))
  const { metadata } = JSON.parse((await client.ok('GET', path)).toString())
  const query = `watch=true&resourceVersion=${metadata.resourceVersion}`
  const watchers = await Watchers.open(target, `${PREFIX}/configmaps?${query}`, count)
  let writes = 0
  const write = async (): Promise<void> => {
    const annotations = { sentAt: String(performance.now()) }
    await client.ok('PATCH', path, JSON.stringify({ metadata: { annotations } }), MERGE_PATCH)
    writes++
  }
  const steadily = async (forMs: number): Promise<number> => {
    const startedMs = performance.now()
    const first = writes
    watchers.delays = new Durations()
    for (;;) {
      const elapsedMs = performance.now() - startedMs
      if (elapsedMs >= forMs) break
      const dueMs = ((writes - first) * 1000) / writesPerSecond
      if (dueMs > elapsedMs) await pause(dueMs - elapsedMs)
      await write()
    }
    await watchers.received(writes * count)
    return ((writes - first) * count * 1000) / (performance.now() - startedMs)
  }
  await steadily(WARM_UP_MS)
  const steady = await steadily(measuredMs)
  const { delays } = watchers
  row(
    `1 writer of ${writesPerSecond}/s, ${count} watchers: events received`,
    `${steady.toFixed(0)}/s, p50 ${delays.quantile(0.5).toFixed(1)}, p99 ${delays.quantile(0.99).toFixed(1)} ms`,
    reference,
  )
  const before = watchers.events
  const burst = Math.max(50, Math.round(FLAT_OUT_EVENTS / count))
  const burstMs = performance.now()
  for (let n = 0; n < burst; n++) await write()
  await watchers.received(before + burst * count)
  const perSecond = ((watchers.events - before) * 1000) / (performance.now() - burstMs)
  row(
    `1 writer as fast as it can, ${count} watchers`,
    `${perSecond.toFixed(0)}/s, ${watchers.closed} cut off`,
  )
  watchers.close()
  await client.ok('DELETE', path)
}

async function measureStart(): Promise<void> {
  const seconds: number[] = []
  for (let i = 0; i < 5; i++) {
    const startedMs = performance.now()
    const target = await openTarget(undefined, undefined)
    seconds.push((performance.now() - startedMs) / 1000)
    await target.stop()
  }
  seconds.sort((a, b) => a - b)
  row('start to ready, median of 5', `${seconds[2]!.toFixed(2)} s`, REFERENCE.start)
}

async function prepareNamespace(client: LoadClient): Promise<void> {
  const create = async (path: string, object: object): Promise<void> => {
    const answer = await client.send('POST', path, JSON.stringify({ apiVersion: 'v1', ...object }))
    if (answer.status !== 201 && answer.status !== 409) throw new Error(answer.body.toString())
  }
  await create('/api/v1/namespaces', { kind: 'Namespace', metadata: { name: NAMESPACE } })
  // Pods are admitted when their service account exists; a server without controllers has none.
  const account = { kind: 'ServiceAccount', metadata: { name: 'default' } }
  await create(`${PREFIX}/serviceaccounts`, account)
}

row('', 'this server', 'kube-apiserver 1.36 + etcd')
if (parts.has('start') && values.server === undefined) await measureStart()
const target = await openTarget(values.server, values.token)
const client = await LoadClient.open(target, CONNECTIONS)
await prepareNamespace(client)
if (parts.has('operations')) await measureOperations(client)
if (parts.has('pods') || parts.has('lists')) {
  const seconds = await createPods(client, 0, 5000)
  row('5000 Pods created', `${seconds.toFixed(2)} s`, REFERENCE.create5000)
  await measureList(client, 5000, REFERENCE.list5000)
  await createPods(client, 5000, 10_000)
  await measureList(client, 10_000)
}
if (parts.has('fan-out')) {
  await measureFanOut(target, client, 200, 250, REFERENCE.fanOut200)
  await measureFanOut(target, client, 1000, 100)
}
if (target.pid !== undefined) {
  await pause(2000)
  const mebibytes = residentMebibytes(target.pid)
  row('resident memory afterwards', `${mebibytes.toFixed(0)} MiB`, REFERENCE.memory)
}
await client.ok('DELETE', `${PREFIX}/pods?gracePeriodSeconds=0`)
client.close()
await target.stop()
if (parts.has('memory') && values.server === undefined) {
  const script = join(import.meta.dirname, 'load', 'stored-pod-memory.ts')
  const run = spawnSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(run.stderr)
  const bytes = Number(run.stdout)
  row('heap per stored Pod, never read over the network', `${(bytes / 1024).toFixed(1)} KiB`)
}
