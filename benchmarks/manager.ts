// Our controller manager beside another one on the same API server, in turns: start, idle, create, halve, restart on what is there,
// empty the namespace. No scheduler and no nodes are needed: pods stay Pending, so what is measured is the managers and the server.
//
//   npm run benchmark -- manager --server URL --token TOKEN [--against FILE] [--deployments 100] [--replicas 30] [--rounds 3]
//     [--results FILE] -- FLAGS...
//
// FILE is written as benchmarks/results keeps it for a release; `node scripts/generate-reference.ts` draws what is there.
// FLAGS are handed to both programs and need --secure-port. TOKEN must be allowed everything, reading of /metrics too. Seconds say
// little on a busy machine; CPU seconds, requests and memory say the same everywhere.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import type { Deployment } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { SystemClock } from '@gyropilot/foundation'
import { directClient } from './controllers/measured/direct-client.ts'
import { MeasuredManager, costBetween } from './controllers/measured/measured-manager.ts'
import type { Cost } from './controllers/measured/measured-manager.ts'
import { medians, tableOf } from './load/manager-results.ts'
import type { ManagerResults, Phase } from './load/manager-results.ts'

const { values, positionals: flags } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    against: { type: 'string' },
    deployments: { type: 'string', default: '100' },
    replicas: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '3' },
    results: { type: 'string' },
  },
})
const { server = '', token = '', against } = values
const deployments = Number(values.deployments)
const replicas = Number(values.replicas)
const OURS = join(import.meta.dirname, '../bin/kube-controller-manager')
const LIMIT_MS = 450_000
const PARALLEL_REQUESTS = 16
const IDLE_MS = 10_000
const GIBIBYTE = 2 ** 30

async function until(isSo: () => Promise<boolean>, everyMs = 100): Promise<void> {
  const startMs = performance.now()
  while (!(await isSo())) {
    if (performance.now() - startMs > LIMIT_MS) throw new Error('it never came to that')
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

function deployment(name: string): Deployment {
  const labels = { app: name }
  const requests = { cpu: '10m', memory: '16Mi' }
  const env = [{ name: 'A', value: 'b' }]
  const container = { name: 'c', image: 'nginx:1.27', env, resources: { requests } }
  return {
    metadata: { name, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  } as Deployment
}

async function ofEach(act: (name: string) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < deployments) await act(`d${next++}`)
  }
  await Promise.all(Array.from({ length: PARALLEL_REQUESTS }, worker))
}

/** One life of a namespace under one manager. */
class Round {
  readonly #client: Client
  readonly #command: readonly string[]
  readonly #namespace: string
  readonly phases: Phase[] = []
  #manager: MeasuredManager | undefined
  #before: Cost | undefined

  constructor(client: Client, command: readonly string[], namespace: string) {
    this.#client = client
    this.#command = command
    this.#namespace = namespace
  }

  async run(): Promise<void> {
    const namespace = this.#namespace
    const sets = this.#client.resource(resources.deployments, namespace)
    const half = Math.floor(replicas / 2)
    try {
      await this.#phase('start', () => this.#started(namespace))
      await this.#phase('idle', () => new Promise((resolve) => setTimeout(resolve, IDLE_MS)))
      await this.#phase('create', async () => {
        await ofEach((name) => sets.create(deployment(name)))
        await until(() => this.#hasPods(deployments * replicas))
      })
      await this.#phase('halve', async () => {
        const value = { spec: { replicas: half } }
        await ofEach((name) => sets.patch(name, { type: 'merge', value }))
        await until(() => this.#hasPods(deployments * half))
      })
      await this.#manager?.stop()
      await this.#phase('restart', () => this.#started(`${namespace}-again`))
      await this.#phase('empty', async () => {
        for (const name of [namespace, `${namespace}-again`])
          await this.#client.resource(resources.namespaces).delete(name)
        await until(() => this.#isGone(namespace))
      })
    } finally {
      await this.#manager?.stop()
    }
  }

  /** From the start of the process until it has done something: the account of a new namespace. */
  async #started(namespace: string): Promise<void> {
    this.#before = undefined
    const starting = MeasuredManager.start(this.#command, token)
    await this.#client.resource(resources.namespaces).create({ metadata: { name: namespace } })
    this.#manager = await starting
    const accounts = this.#client.resource(resources.serviceaccounts, namespace)
    await until(() => isThere(accounts.get('default')), 5)
  }

  async #phase(name: string, act: () => Promise<void>): Promise<void> {
    const startMs = performance.now()
    await act()
    const seconds = (performance.now() - startMs) / 1000
    const after = await this.#manager!.cost()
    const cost = this.#before === undefined ? after : costBetween(this.#before, after)
    this.#before = after
    const requests = Object.values(cost.requests).reduce((sum, count) => sum + count, 0)
    const { cpuSeconds, residentMebibytes, peakMebibytes } = cost
    this.phases.push({ name, seconds, cpuSeconds, requests, residentMebibytes, peakMebibytes })
    const byMethod = JSON.stringify(cost.requests)
    console.error(`  ${name}: ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(2)} CPU s, ${byMethod}`)
  }

  async #hasPods(count: number): Promise<boolean> {
    const { items, metadata } = await this.#client
      .resource(resources.pods, this.#namespace)
      .list({ limit: 1 })
    return items.length + (metadata.remainingItemCount ?? 0) === count
  }

  async #isGone(name: string): Promise<boolean> {
    return !(await isThere(this.#client.resource(resources.namespaces).get(name)))
  }
}

async function isThere(read: Promise<unknown>): Promise<boolean> {
  try {
    await read
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

function resultsOf(ours: readonly Round[], theirs: readonly Round[], load: number): ManagerResults {
  const [model = 'unknown'] = new Set(cpus().map((cpu) => cpu.model))
  const manifest = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')
  const { version } = JSON.parse(manifest) as { readonly version: string }
  const phasesOf = (rounds: readonly Round[]) => medians(rounds.map(({ phases }) => phases))
  return {
    version,
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cores: cpus().length,
      model,
      memoryGibibytes: Math.round(totalmem() / GIBIBYTE),
      node: process.version,
      load: Number(load.toFixed(1)),
    },
    deployments,
    replicas,
    rounds: ours.length,
    ours: phasesOf(ours),
    ...(theirs.length > 0 ? { theirs: phasesOf(theirs) } : {}),
  }
}

const [loadBefore = Number.NaN] = loadavg()
const { client, close } = directClient(server, token, new SystemClock())
const ours: Round[] = []
const theirs: Round[] = []
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [file, rounds] of [
      [against, theirs],
      [OURS, ours],
    ] as const) {
      if (file === undefined) continue
      console.error(file)
      const one = new Round(
        client,
        [file, ...flags],
        `manager-${process.pid}-${rounds.length}-${rounds === ours ? 'a' : 'b'}`,
      )
      await one.run()
      rounds.push(one)
    }
  }
  const results = resultsOf(ours, theirs, loadBefore)
  console.log(tableOf(results))
  if (values.results !== undefined)
    writeFileSync(values.results, `${JSON.stringify(results, null, 2)}\n`)
} finally {
  await close()
}
