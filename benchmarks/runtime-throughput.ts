// What the runtime moves per second on one core: watch events from bytes to handlers, queue operations, reconciles; and
// what importing each public entry point costs in a fresh process with a warm compile cache.
//
//   node benchmarks/runtime-throughput.ts [--events 20000]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { ApiClient, RestMapper } from '@gyropilot/client'
import { SystemClock, SystemRandom, silentLogger, silentMetrics } from '@gyropilot/foundation'
import {
  RateLimitingQueue,
  SharedInformerFactory,
  WorkQueue,
  runKeyedController,
} from '@gyropilot/runtime'
import type { ControllerContext, SharedInformer } from '@gyropilot/runtime'
import { watchOfBytes } from './load/byte-watch.ts'
import { LARGE_CLUSTER, realisticPod } from './load/realistic-pod.ts'

const { values } = parseArgs({ options: { events: { type: 'string', default: '20000' } } })
const events = Number(values.events)
const clock = new SystemClock()
const random = new SystemRandom()
const setting = { ...LARGE_CLUSTER, full: false }
const CHUNK_BYTES = 64 * 1024

function show(what: string, figure: string, budget = ''): void {
  console.log(`${what.padEnd(60)} ${figure.padStart(14)}   ${budget}`)
}

function perSecond(count: number, ms: number): string {
  return `${Math.round((count * 1000) / ms).toLocaleString('en')}/s`
}

/** As they come from a socket: cut anywhere. */
function chunksOf(type: string, restarts: number): Buffer[] {
  const lines: string[] = []
  for (let number = 0; number < events; number++) {
    const object = realisticPod(setting, number, restarts)
    lines.push(`${JSON.stringify({ type, object })}\n`)
  }
  const all = Buffer.from(lines.join(''))
  const chunks: Buffer[] = []
  for (let at = 0; at < all.length; at += CHUNK_BYTES)
    chunks.push(Buffer.from(all.subarray(at, at + CHUNK_BYTES)))
  return chunks
}

interface Followed {
  readonly informer: SharedInformer<Pod>
  readonly factory: SharedInformerFactory
  readonly watch: ReturnType<typeof watchOfBytes>
  readonly stop: AbortController
}

function follow(): Followed {
  const watch = watchOfBytes()
  const client = new ApiClient({ transport: watch.transport, clock })
  const factory = new SharedInformerFactory({ client, clock, random, logger: silentLogger })
  const informer = factory.informer(resources.pods)
  return { informer, factory, watch, stop: new AbortController() }
}

/** Longest time between two turns of the event loop while `work` runs. */
async function longestBlock(work: Promise<unknown>): Promise<number> {
  let longestMs = 0
  let lastMs = performance.now()
  let running = true
  const tick = (): void => {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
    if (running) setImmediate(tick)
  }
  setImmediate(tick)
  await work
  running = false
  return longestMs
}

async function watchThroughput(
  handlers: number,
  added: Buffer[],
  modified: Buffer[],
): Promise<void> {
  const { informer, factory, watch, stop } = follow()
  let delivered = 0
  let finished = Promise.withResolvers<void>()
  const count = (): void => {
    if (++delivered % (events * handlers) === 0) finished.resolve()
  }
  for (let i = 0; i < handlers; i++) informer.addHandler({ onAdd: count, onUpdate: count })
  factory.start(stop.signal)
  await watch.endInitialEvents('v1', 'Pod')
  await informer.whenSynced(stop.signal)
  for (const [what, chunks] of [
    ['ADDED', added],
    ['MODIFIED', modified],
  ] as const) {
    const startedMs = performance.now()
    const blockedMs = await longestBlock(
      (async () => {
        for (const chunk of chunks) await watch.sendBytes(chunk)
        await finished.promise
      })(),
    )
    const ms = performance.now() - startedMs
    finished = Promise.withResolvers()
    show(
      `${what} events, decoded, stored, to ${handlers} handlers`,
      perSecond(events, ms),
      `longest turn ${blockedMs.toFixed(0)} ms`,
    )
  }
  stop.abort()
  await factory.shutdown()
}

function decodeOnly(chunks: readonly Buffer[]): void {
  const texts = Buffer.concat(chunks).toString().trimEnd().split('\n')
  const startedMs = performance.now()
  for (const text of texts) JSON.parse(text)
  show('JSON.parse of the same events alone', perSecond(events, performance.now() - startedMs))
}

function queueThroughput(): void {
  const keys = Array.from({ length: 10_000 }, (_, number) => `namespace/name-${number}`)
  const rounds = 20
  const plain = new WorkQueue({ clock })
  let startedMs = performance.now()
  for (let round = 0; round < rounds; round++) {
    for (const key of keys) plain.add(key)
    for (const key of keys) plain.add(key)
    for (let item = plain.take(); item !== undefined; item = plain.take()) plain.done(item.key)
  }
  const operations = rounds * keys.length * 4
  show('queue: add, add again, take, done', perSecond(operations, performance.now() - startedMs))
  const delaying = new RateLimitingQueue({ clock })
  startedMs = performance.now()
  for (const key of keys) delaying.addRateLimited(key)
  show('queue: addRateLimited', perSecond(keys.length, performance.now() - startedMs))
  delaying.shutDown()
}

async function reconcileThroughput(added: Buffer[]): Promise<void> {
  const { informer, factory, watch, stop } = follow()
  factory.start(stop.signal)
  for (const chunk of added) await watch.sendBytes(chunk)
  await watch.endInitialEvents('v1', 'Pod')
  await informer.whenSynced(stop.signal)
  let reconciles = 0
  const wanted = events * 5
  const finished = Promise.withResolvers<void>()
  const client = new ApiClient({ transport: watch.transport, clock })
  const context: ControllerContext = {
    name: 'no-op',
    client,
    mapper: new RestMapper({ client, clock }),
    informers: factory,
    metadataInformers: factory,
    recorder: () => ({ record() {} }) as never,
    clock,
    random,
    logger: silentLogger,
    metrics: silentMetrics,
    configuration: {},
    informersStarted: Promise.resolve(),
  }
  const controller = runKeyedController(
    {
      workers: 5,
      watches: [],
      alsoAwait: [informer],
      observe: (key) => informer.lister.getByKey(key),
      *reconcile() {
        if (++reconciles === wanted) finished.resolve()
      },
    },
    context,
  )
  const running = controller.run(stop.signal)
  const keys = informer.lister
    .list()
    .map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)
  const startedMs = performance.now()
  const feed = (): void => {
    for (const key of keys) controller.enqueue(key)
    if (reconciles < wanted) setImmediate(feed)
  }
  feed()
  await finished.promise
  show(
    'reconciles of a controller that does nothing',
    perSecond(wanted, performance.now() - startedMs),
  )
  stop.abort()
  await running
  await factory.shutdown()
}

function imports(): void {
  const cache = mkdtempSync(join(tmpdir(), 'gyropilot-imports-'))
  const script = `
    const rss = () => Number(/RssAnon:\\s+(\\d+)/.exec(require('node:fs').readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024
    gc(); const before = process.memoryUsage(), anonymous = rss(), started = performance.now();
    (async () => {
      for (const name of process.argv.slice(1)) await import(name)
      const ms = performance.now() - started
      const raw = rss() - anonymous
      gc(); const after = process.memoryUsage()
      console.log(JSON.stringify({ ms, raw, heap: (after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20 }))
    })()`
  const sets = [
    [['foundation'], ''],
    [['api'], ''],
    [['client'], ''],
    [['client', 'runtime'], '<= 40 ms, 12 MB'],
    [['client', 'runtime', 'controllers'], ''],
    [['api-server'], ''],
  ] as const
  for (const [names, budget] of sets) {
    const runs: { ms: number; raw: number; heap: number }[] = []
    for (let run = 0; run < 12; run++) {
      const { stdout } = spawnSync(
        process.execPath,
        ['--expose-gc', '-e', script, '--', ...names.map((name) => `@gyropilot/${name}`)],
        {
          cwd: join(import.meta.dirname, '..'),
          encoding: 'utf8',
          env: { ...process.env, NODE_COMPILE_CACHE: cache },
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      // The first two runs fill the compile cache.
      if (run >= 2) runs.push(JSON.parse(stdout) as (typeof runs)[number])
    }
    runs.sort((a, b) => a.ms - b.ms)
    const { ms, raw, heap } = runs[Math.floor(runs.length / 2)]!
    show(
      `import ${names.join(', ')}`,
      `${ms.toFixed(0)} ms`,
      `heap ${heap.toFixed(1)} MB, private resident ${raw.toFixed(0)} MB   ${budget}`,
    )
  }
  rmSync(cache, { recursive: true })
}

const added = chunksOf('ADDED', 0)
const modified = chunksOf('MODIFIED', 1)
decodeOnly(added)
for (const handlers of [1, 10, 80]) await watchThroughput(handlers, added, modified)
queueThroughput()
await reconcileThroughput(added)
imports()
