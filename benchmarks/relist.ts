// What a relist costs, and for how long it holds the process up: the longest time between two turns of the event loop while
// an informer with three indexes and three handlers takes a list in. Decoding is not counted: lists are there as objects.
//
//   node benchmarks/relist.ts [--pods 150000]
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import type { Pod, WatchEvent } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { SystemClock, SystemRandom, silentLogger } from '@gyropilot/foundation'
import { SharedInformer } from '@gyropilot/runtime'

const { values } = parseArgs({ options: { pods: { type: 'string', default: '150000' } } })
const count = Number(values.pods)
const clock = new SystemClock()
const versions: number[] = Array.from({ length: count }, () => 1)

/** Fresh objects, as from the network, as far as indexes and stores look at them; every `step`th at this round's version. */
function pods(round: number, step: number): Pod[] {
  return Array.from({ length: count }, (_, number) => {
    const isChanged = number % step === 0
    if (isChanged) versions[number] = (round + 1) * count + number
    const app = number % 2_000
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: `app-${app}`,
      controller: true,
    }
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: `team-${number % 200}`,
        name: `app-${app}-${number}`,
        uid: `uid-${number}`,
        resourceVersion: String(versions[number]),
        labels: { app: `app-${app}`, tier: 'web' },
        ownerReferences: [{ ...owner, uid: `owner-${app}` }],
      },
      spec: {
        containers: [{ name: 'app', image: `app-${app}` }],
        nodeName: `node-${number % 1_000}`,
      },
    }
  })
}

/** Lists what it is told to; its watches say nothing until there is another list, and then that their version is gone. */
function server(streams: boolean) {
  const state = {
    items: [] as readonly Pod[],
    /** A watch was opened behind the list, so that it was taken in or is about to be. */
    served: false,
    expire: (): void => {},
    serve(items: readonly Pod[]): void {
      state.items = items
      state.served = false
      state.expire()
    },
  }
  const expired = async function* (): AsyncGenerator<WatchEvent<Pod>> {
    state.served = true
    await new Promise<void>((resolve) => (state.expire = resolve))
    yield { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } as never }
  }
  const streamed = async function* (): AsyncGenerator<WatchEvent<Pod>> {
    for (const object of state.items) yield { type: 'ADDED', object }
    const annotations = { 'k8s.io/initial-events-end': 'true' }
    const metadata = { resourceVersion: '5000000', annotations }
    yield { type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Pod', metadata } as Pod }
    yield* expired()
  }
  const pod = {
    list: async () => ({ metadata: { resourceVersion: '5000000' }, items: state.items }),
    watch: async (options: { sendInitialEvents?: boolean }) =>
      options.sendInitialEvents === true && streams ? streamed() : expired(),
  }
  return { state, client: { resource: () => pod } as unknown as Client }
}

/** CPU time of this thread: on a busy machine the clock on the wall counts what others do. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** The longest time between two turns of the event loop, and the whole, until `isDone`. */
async function measured(isDone: () => boolean): Promise<{ longestMs: number; allMs: number }> {
  const startMs = cpuMs()
  let lastMs = startMs
  let longestMs = 0
  do {
    await new Promise<void>((resolve) => setImmediate(resolve))
    const nowMs = cpuMs()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
  } while (!isDone())
  return { longestMs, allMs: lastMs - startMs }
}

const ROUNDS: readonly [what: string, step: number][] = [
  ['the first list', 1],
  ['nothing changed', Infinity],
  ['every hundredth changed', 100],
  ['all changed', 1],
]

for (const streams of [false, true]) {
  versions.fill(1)
  const { state, client } = server(streams)
  const stop = new AbortController()
  const informer = new SharedInformer<Pod>({
    client,
    type: resources.pods,
    clock,
    random: new SystemRandom(),
    logger: silentLogger,
    watchList: streams,
  })
  informer.addIndex('node', ({ spec }) => [spec?.nodeName ?? ''])
  informer.addIndex('owner', ({ metadata }) => metadata?.ownerReferences?.map((o) => o.uid) ?? [])
  informer.addIndex('labels', ({ metadata }) => Object.entries(metadata?.labels ?? {}).map(String))
  let seen = 0
  const saw = (): number => seen++
  for (let handler = 0; handler < 3; handler++) informer.addHandler({ onAdd: saw, onUpdate: saw })
  let run: Promise<void> | undefined
  for (const [round, [what, step]] of ROUNDS.entries()) {
    const items = pods(round, step)
    seen = 0
    // Behind a pause, which is no part of what is measured as a turn.
    state.serve(items)
    run ??= informer.run(stop.signal)
    const due = step === Infinity ? 0 : 3 * Math.ceil(count / step)
    const { longestMs, allMs } = await measured(() => state.served && seen >= due)
    console.log(
      `${count} pods ${streams ? 'streamed' : 'listed'}, ${what}`.padEnd(52),
      `longest turn ${longestMs.toFixed(0).padStart(5)} ms   in all ${allMs.toFixed(0).padStart(5)} ms`,
    )
  }
  stop.abort()
  state.expire()
  await run
}
