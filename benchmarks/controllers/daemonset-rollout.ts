// What a controller manager takes to put a DaemonSet on many nodes and to roll it, on an API server of your choice. The nodes
// are objects without kubelets: this script binds pods, makes them ready, and ends those that are deleted.
//
//   node benchmarks/controllers/daemonset-rollout.ts --server URL --token T --metrics https://127.0.0.1:PORT/metrics
//        [--nodes 1000] [--max-unavailable 10%] [--max-surge 0] -- COMMAND ARGS...
//
// COMMAND is a manager with at least daemonset-controller, serviceaccount-controller and root-ca-certificate-publisher-controller.
// Prints one line of JSON: seconds, CPU seconds and requests by method of both phases, and peak memory.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { parseArgs } from 'node:util'
import type { Node, Pod } from '@gyropilot/api'
import { LoadClient } from '../load/requests.ts'
import { pause } from '../load/target.ts'
import type { Target } from '../load/target.ts'

const { values, positionals: command } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    metrics: { type: 'string' },
    nodes: { type: 'string', default: '1000' },
    'max-unavailable': { type: 'string', default: '10%' },
    'max-surge': { type: 'string', default: '0' },
  },
})
const { server = '', token = '', metrics } = values
const nodeCount = Number(values.nodes)
const target: Target = { server, token, pid: undefined, stop: async () => {} }
const client = await LoadClient.open(target, 24)
const NAMESPACE = `roll-${Date.now().toString(36)}`
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`
const DAEMON_SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`
const MERGE = 'application/merge-patch+json'
const TICKS_PER_SECOND = 100
const LONGEST_PHASE_MS = 900_000

function intOrShare(text: string): string | number {
  return text.endsWith('%') ? text : Number(text)
}

async function inParallel(count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
}

async function createNode(index: number): Promise<void> {
  const name = `${NAMESPACE}-${index}`
  const conditions = [{ type: 'Ready', status: 'True' }] as const
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { roll: NAMESPACE } },
    status: { conditions, allocatable: { cpu: '4', memory: '8Gi', pods: '110' } },
  } as unknown as Node
  await client.ok('POST', '/api/v1/nodes', JSON.stringify(node))
  await client.ok('PATCH', `/api/v1/nodes/${name}`, '{"spec":{"taints":null}}', MERGE)
}

/** In the place of scheduler and kubelets. A watch that the server ends, as it does with slow readers, is opened anew. */
function runPods(): () => void {
  const begun = new Set<string>()
  let session = connect(server, { rejectUnauthorized: false })
  let isOver = false
  const take = (line: string): void => {
    const { type, object } = JSON.parse(line) as { type: string; object: Pod }
    const { uid = '', deletionTimestamp } = object.metadata ?? {}
    if (type === 'DELETED') begun.delete(uid)
    else if (deletionTimestamp !== undefined) void end(object)
    else if (!begun.has(uid)) {
      begun.add(uid)
      void run(object)
    }
  }
  const open = (): void => {
    if (isOver) return
    const stream = session.request({
      ':path': `${PODS}?watch=true&timeoutSeconds=20`,
      authorization: `Bearer ${token}`,
    })
    let rest = ''
    stream.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      lines.forEach(take)
    })
    stream.on('error', () => {})
    stream.on('close', () => {
      if (session.destroyed) session = connect(server, { rejectUnauthorized: false })
      open()
    })
  }
  session.on('error', () => {})
  open()
  return () => {
    isOver = true
    session.destroy()
  }
}

async function run({ metadata, spec }: Pod): Promise<void> {
  const name = metadata?.name ?? ''
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const [nodeName] = terms?.nodeSelectorTerms[0]?.matchFields?.[0]?.values ?? []
  const binding = { metadata: { name }, target: { kind: 'Node', name: nodeName } }
  const now = `${new Date().toISOString().slice(0, 19)}Z`
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: now }]
  await played('POST', `${PODS}/${name}/binding`, JSON.stringify(binding))
  const status = JSON.stringify({ status: { phase: 'Running', conditions } })
  await played('PATCH', `${PODS}/${name}/status`, status, MERGE)
}

async function end({ metadata }: Pod): Promise<void> {
  await played('DELETE', `${PODS}/${metadata?.name}`, '{"gracePeriodSeconds":0}')
}

/** A pod that is gone by now needs nothing; anything else that is refused would leave the rollout stuck. */
async function played(method: string, path: string, body: string, type?: string): Promise<void> {
  const { status, body: answer } = await client.send(method, path, body, type)
  if (status >= 400 && status !== 404)
    console.error(`${method} ${path}: ${status} ${String(answer)}`)
}

function daemonSet(): string {
  const labels = { app: 'agent' }
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent' },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: {
        type: 'RollingUpdate',
        rollingUpdate: {
          maxUnavailable: intOrShare(values['max-unavailable']),
          maxSurge: intOrShare(values['max-surge']),
        },
      },
      template: {
        metadata: { labels },
        spec: {
          nodeSelector: { roll: NAMESPACE },
          containers: [{ name: 'agent', image: 'agent:1', env: [{ name: 'A', value: 'b' }] }],
        },
      },
    },
  })
}

async function rolledOut(): Promise<void> {
  const limitMs = performance.now() + LONGEST_PHASE_MS
  for (;;) {
    const found = JSON.parse(String(await client.ok('GET', `${DAEMON_SETS}/agent`)))
    const { observedGeneration, updatedNumberScheduled, numberAvailable } = found.status
    const isThere = updatedNumberScheduled === nodeCount && numberAvailable === nodeCount
    if (isThere && observedGeneration === found.metadata.generation) return
    if (performance.now() > limitMs) throw new Error(`stuck at ${JSON.stringify(found.status)}`)
    await pause(100)
  }
}

const log = process.env['MANAGER_LOG'] === undefined ? 'ignore' : 'inherit'
const manager = spawn(command[0]!, command.slice(1), { stdio: ['ignore', log, log] })

function processOf(): { readonly cpuSeconds: number; readonly peakMebibytes: number } {
  const stat = readFileSync(`/proc/${manager.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${manager.pid}/status`, 'utf8'))![1]
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    peakMebibytes: Math.round(Number(peak) / 1024),
  }
}

/** As the manager counts them itself. */
async function requests(): Promise<Readonly<Record<string, number>>> {
  if (metrics === undefined) return {}
  const { origin, pathname } = new URL(metrics)
  const scraper = await LoadClient.open({ ...target, server: origin }, 1)
  const text = String(await scraper.ok('GET', pathname))
  scraper.close()
  const sums: Record<string, number> = {}
  for (const [, method, value] of text.matchAll(
    /^rest_client_requests_total\{[^}]*method="(\w+)"[^}]*\} (\S+)$/gm,
  ))
    sums[method!] = (sums[method!] ?? 0) + Number(value)
  return sums
}

async function phase(act: () => Promise<unknown>): Promise<object> {
  const before = { ...processOf(), requests: await requests(), atMs: performance.now() }
  await act()
  await rolledOut()
  const seconds = (performance.now() - before.atMs) / 1000
  const after = { ...processOf(), requests: await requests() }
  const made = Object.entries(after.requests).map(
    ([method, count]) => [method, count - (before.requests[method] ?? 0)] as const,
  )
  return {
    seconds: Number(seconds.toFixed(1)),
    cpuSeconds: Number((after.cpuSeconds - before.cpuSeconds).toFixed(1)),
    requests: Object.fromEntries(made.toSorted()),
  }
}

try {
  await client.ok('POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name: NAMESPACE } }))
  await inParallel(nodeCount, createNode)
  while (
    (await client.send('GET', `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`)).status !==
    200
  )
    await pause(100)
  const stop = runPods()
  await pause(2_000)
  const created = await phase(() => client.ok('POST', DAEMON_SETS, daemonSet()))
  const image = '{"spec":{"template":{"spec":{"containers":[{"name":"agent","image":"agent:2"}]}}}}'
  const strategic = 'application/strategic-merge-patch+json'
  const rolled = await phase(() => client.ok('PATCH', `${DAEMON_SETS}/agent`, image, strategic))
  const { peakMebibytes } = processOf()
  console.log(JSON.stringify({ nodes: nodeCount, created, rolled, peakMebibytes }))
  stop()
} finally {
  manager.kill('SIGTERM')
  await client.send('DELETE', `${DAEMON_SETS}/agent`)
  await inParallel(nodeCount, (index) =>
    client.send('DELETE', `/api/v1/nodes/${NAMESPACE}-${index}`),
  )
  client.close()
}
