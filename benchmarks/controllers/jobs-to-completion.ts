// Jobs of one pod each, run to their end and cleaned up by their TTL: seconds, API calls, CPU and memory of a controller manager.
//
//   node benchmarks/controllers/jobs-to-completion.ts [--jobs 1000] [--ttl 5] [--connections 16]
//   node benchmarks/controllers/jobs-to-completion.ts --server URL --token TOKEN --metrics URL [--jobs 10000] -- COMMAND ARGS...
//
// Without --server: a `gyro up` with its own manager, of which only times are told. With --server: any API server, without
// nodes and without a manager; COMMAND is started as its manager, and serves metrics at --metrics to the bearer of TOKEN. This
// script plays the kubelet: a pod succeeds as soon as it is seen.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, get, request } from 'node:https'
import { parseArgs } from 'node:util'
import { openTarget, pause } from '../load/target.ts'
import type { Target } from '../load/target.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    metrics: { type: 'string' },
    jobs: { type: 'string', default: '1000' },
    ttl: { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
    namespace: { type: 'string', default: `jobs-${process.pid}` },
  },
})
const [jobs, ttl, connections] = [values.jobs, values.ttl, values.connections].map(Number) as [
  number,
  number,
  number,
]
const { namespace } = values
const CLOCK_TICKS_PER_SECOND = 100
const LIMIT_SECONDS = 3_600

const own = ['--components=api-server,controller-manager']
const target = await openTarget(values.server, values.token, own)
const agent = new Agent({ keepAlive: true, maxSockets: connections, rejectUnauthorized: false })
const manager = startManager(positionals)

await ok('POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name: namespace } }))
await until('a service account', async () => {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`
  return (await send('GET', path)).status === 200
})
const callsBefore = await callsByMethod()
const cpuBefore = cpuSeconds(manager)
const startedMs = performance.now()
const secondsSince = (): number => (performance.now() - startedMs) / 1000

const stopKubelet = playKubelet(target)
let created = 0
await Promise.all(
  Array.from({ length: connections }, async () => {
    while (created < jobs) await createJob(created++)
  }),
)
const createdSeconds = secondsSince()
await until('every job to be gone', async () => (await countJobs()) === 0, 200)
const goneSeconds = secondsSince()
const calls = difference(await callsByMethod(), callsBefore)

print('jobs', `${jobs}`)
print('all created', `${createdSeconds.toFixed(1)} s`)
print(`all finished, and gone ${ttl} s later`, `${goneSeconds.toFixed(1)} s`)
print('pods that were ended here', `${stopKubelet()}`)
if (manager !== undefined) {
  print('CPU of the manager', `${(cpuSeconds(manager) - cpuBefore).toFixed(1)} s`)
  print('peak memory of the manager', `${peakMebibytes(manager).toFixed(0)} MiB`)
}
for (const [method, count] of calls) print(`requests ${method}`, `${count}`)
manager?.kill('SIGTERM')
agent.destroy()
await target.stop()
process.exit(0)

/** A connection that the server has closed is opened again: what is measured is the manager, not this. */
async function send(
  method: string,
  path: string,
  body = '',
  contentType = 'application/json',
  origin = target.server,
): Promise<{ readonly status: number; readonly body: string }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await exchange(method, new URL(path, origin), body, contentType)
    } catch (error) {
      if (attempt === 5) throw error
      await pause(100 * attempt)
    }
  }
}

function exchange(
  method: string,
  url: URL,
  body: string,
  contentType: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const headers = { authorization: `Bearer ${target.token}`, 'content-type': contentType }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode!, body: text }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Throws unless the answer is 2xx, or says that an earlier attempt was heard. */
async function ok(...args: Parameters<typeof send>): Promise<string> {
  const { status, body } = await send(...args)
  if (status > 299 && !(args[0] === 'POST' && status === 409))
    throw new Error(`${args[0]} ${args[1]}: ${status} ${body.slice(0, 300)}`)
  return body
}

async function createJob(number: number): Promise<void> {
  const container = { name: 'work', image: 'busybox:1' }
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: `job-${number}` },
    spec: {
      completions: 1,
      ttlSecondsAfterFinished: ttl,
      template: { spec: { restartPolicy: 'Never', containers: [container] } },
    },
  }
  await ok('POST', `/apis/batch/v1/namespaces/${namespace}/jobs`, JSON.stringify(job))
}

async function countJobs(): Promise<number> {
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs?limit=1`
  const list = JSON.parse(await ok('GET', path)) as {
    items: object[]
    metadata: { remainingItemCount?: number }
  }
  return list.items.length + (list.metadata.remainingItemCount ?? 0)
}

/** Ends every pod that is created; answers a function that ends the play and says how many there were. */
function playKubelet(where: Target): () => number {
  let ended = 0
  const succeed = async (name: string): Promise<void> => {
    const status = JSON.stringify({ status: { phase: 'Succeeded' } })
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`
    const { status: code } = await send('PATCH', path, status, 'application/merge-patch+json')
    if (code === 200) ended++
    else if (code !== 404) throw new Error(`PATCH ${path}: ${code}`)
  }
  const url = `${where.server}/api/v1/namespaces/${namespace}/pods?watch=true&resourceVersion=0`
  const headers = { authorization: `Bearer ${where.token}` }
  const watch = get(url, { headers, rejectUnauthorized: false }, (response) => {
    let rest = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        if (!line.startsWith('{"type":"ADDED"')) continue
        const { object } = JSON.parse(line) as { object: { metadata: { name: string } } }
        void succeed(object.metadata.name)
      }
    })
  })
  return () => {
    watch.on('error', () => {})
    watch.destroy()
    return ended
  }
}

async function until(what: string, check: () => Promise<boolean>, everyMs = 50): Promise<void> {
  const limitMs = performance.now() + LIMIT_SECONDS * 1000
  while (!(await check())) {
    if (performance.now() > limitMs) throw new Error(`waited too long for ${what}`)
    await pause(everyMs)
  }
}

function startManager([command, ...args]: readonly string[]): ChildProcess | undefined {
  if (command === undefined) return undefined
  const child = spawn(command, args, { stdio: 'ignore' })
  child.once('exit', (code, signal) => {
    if (signal !== 'SIGTERM') throw new Error(`the manager ended with ${code ?? signal}`)
  })
  return child
}

/** Requests that the manager has sent, by method; leases and watches among them. */
async function callsByMethod(): Promise<Map<string, number>> {
  const calls = new Map<string, number>()
  if (values.metrics === undefined) return calls
  const { origin, pathname } = new URL(values.metrics)
  const text = await ok('GET', pathname, '', 'application/json', origin)
  for (const [, labels = '', value] of text.matchAll(
    /^rest_client_requests_total\{(.*)\} (.+)$/gm,
  )) {
    const method = /method="(\w+)"/.exec(labels)?.[1] ?? ''
    calls.set(method, (calls.get(method) ?? 0) + Number(value))
  }
  return calls
}

function difference(
  after: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  return [...after]
    .map(([method, count]) => [method, count - (before.get(method) ?? 0)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function cpuSeconds(child: ChildProcess | undefined): number {
  if (child === undefined) return 0
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
}

function peakMebibytes(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024
}

function print(what: string, figure: string): void {
  console.log(`${what.padEnd(48)} ${figure.padStart(12)}`)
}
