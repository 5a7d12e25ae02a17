// What a large cluster in one process costs: how soon its nodes are ready, how soon its pods, what it weighs, and what it
// takes to keep it. Whole processes, over HTTPS.
//
//   node benchmarks/large-cluster.ts [--nodes 5000] [--pods 50000] [--deployments 50] [--minutes 1]
import { parseArgs } from 'node:util'
import { eventually, startGyro } from '../tests/end-to-end/gyro-process.ts'
import type { GyroProcess } from '../tests/end-to-end/gyro-process.ts'
import { deployment } from './load/objects.ts'
import { accountOf } from './load/process-account.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '5000' },
    pods: { type: 'string', default: '50000' },
    deployments: { type: 'string', default: '50' },
    minutes: { type: 'string', default: '1' },
  },
})
const nodes = Number(values.nodes)
const pods = Number(values.pods)
const deployments = Number(values.deployments)
const minutes = Number(values.minutes)
const PATIENCE_MS = 1_800_000

const PROBED = '/api/v1/namespaces/default'
const PROBE_EVERY_MS = 100

/** How long small requests take meanwhile, in milliseconds, sorted. One at a time: a pause is one sample, however long. */
class Probe {
  readonly #gyro: GyroProcess
  readonly #tookMs: number[] = []
  #running: Promise<void> | undefined
  #stopped = false

  constructor(gyro: GyroProcess) {
    this.#gyro = gyro
  }

  start(): void {
    this.#running = this.#probe()
  }

  async stop(): Promise<readonly number[]> {
    this.#stopped = true
    await this.#running
    return this.#tookMs.toSorted((a, b) => a - b)
  }

  async #probe(): Promise<void> {
    while (!this.#stopped) {
      const startMs = performance.now()
      await this.#gyro.request(PROBED)
      this.#tookMs.push(performance.now() - startMs)
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS))
    }
  }
}

const LOOKS = 'gyropilot_event_loop_delay_seconds'

/** How many looks at the event loop came late by 50 ms and by 100 ms so far, of fifty a second. */
async function lateLooks(gyro: GyroProcess): Promise<readonly [by50: number, by100: number]> {
  const { body } = await gyro.request('/metrics')
  const sample = (name: string): number =>
    Number((body as string).split(`\n${LOOKS}${name} `)[1]!.split('\n')[0])
  const all = sample('_count')
  return [all - sample('_bucket{le="0.05"}'), all - sample('_bucket{le="0.1"}')]
}

const PATH = '/apis/apps/v1/namespaces/default/deployments'

async function fill(gyro: GyroProcess): Promise<void> {
  const each = Math.ceil(pods / deployments)
  for (let index = 0; index < deployments; index++)
    await gyro.request(PATH, { method: 'POST', body: deployment(`web-${index}`, each) })
  let told = 0
  await eventually(`${pods} pods ready`, PATIENCE_MS, async () => {
    const { body } = await gyro.request(`${PATH}?resourceVersion=0`)
    const ready = body.items.reduce(
      (sum: number, { status }: { status?: { readyReplicas?: number } }) =>
        sum + (status?.readyReplicas ?? 0),
      0,
    )
    if (ready - told >= pods / 10) {
      told = ready
      process.stderr.write(`${(performance.now() / 1000).toFixed(0)} s: ${ready} pods ready\n`)
    }
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    return ready >= each * deployments ? true : undefined
  })
}

const rows: [string, string, string][] = []
function row(what: string, figure: string, wanted = ''): void {
  rows.push([what, figure, wanted])
  process.stderr.write(`${what}: ${figure}\n`)
}

async function steady(gyro: GyroProcess, what: string): Promise<void> {
  const before = accountOf(gyro.process.pid!)
  await new Promise((resolve) => setTimeout(resolve, minutes * 60_000))
  const after = accountOf(gyro.process.pid!)
  const perMinute = (after.cpuSeconds - before.cpuSeconds) / minutes
  row(`CPU per minute, ${what}`, `${perMinute.toFixed(1)} s`)
  row(`resident memory, ${what}`, `${after.residentMebibytes.toFixed(0)} MiB`)
}

const startedMs = performance.now()
const gyro = await startGyro([`--nodes=${nodes}`])
row(
  `${nodes} nodes ready and open to pods`,
  `${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
)
row('CPU until then', `${accountOf(gyro.process.pid!).cpuSeconds.toFixed(1)} s`)
await steady(gyro, `${nodes} nodes without pods`)
const fillMs = performance.now()
const before = accountOf(gyro.process.pid!)
const lateBefore = await lateLooks(gyro)
const probe = new Probe(gyro)
probe.start()
await fill(gyro)
const tookMs = await probe.stop()
const filled = accountOf(gyro.process.pid!)
row(`${pods} pods ready`, `${((performance.now() - fillMs) / 1000).toFixed(0)} s`)
const perPod = ((filled.cpuSeconds - before.cpuSeconds) / pods) * 1000
row('CPU for each pod', `${perPod.toFixed(2)} ms`)
const at = (share: number): string =>
  `${tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))]!.toFixed(0)} ms`
row('a small request meanwhile, p50', at(0.5))
row('p99', at(0.99), '50 ms')
row('longest', at(1))
const late = await lateLooks(gyro)
row(
  'looks at the event loop late by 50 ms, by 100 ms',
  `${late[0] - lateBefore[0]}, ${late[1] - lateBefore[1]}`,
  '0',
)
// What was counted for the pods has been written by then.
await new Promise((resolve) => setTimeout(resolve, 10_000))
await steady(gyro, `${nodes} nodes and ${pods} pods`)
row('peak memory', `${accountOf(gyro.process.pid!).peakMebibytes.toFixed(0)} MiB`)
await gyro.stop()

console.log('')
for (const [what, figure, wanted] of rows)
  console.log(`${what.padEnd(56)} ${figure.padStart(10)}   ${wanted}`)
