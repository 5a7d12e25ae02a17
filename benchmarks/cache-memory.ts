// Heap per cached pod: an informer's cache filled over a watch of bytes, against the same objects as JSON.parse gives them.
//
//   node --expose-gc benchmarks/cache-memory.ts [--pods 50000] [--full] [--no-token-volumes]
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import { SystemClock, SystemRandom, silentLogger } from '@gyropilot/foundation'
import { ApiClient } from '@gyropilot/client'
import { SharedInformerFactory } from '@gyropilot/runtime'
import { LARGE_CLUSTER, realisticPod } from './load/realistic-pod.ts'
import { watchOfBytes } from './load/byte-watch.ts'
import { leanPod } from '../packages/manager/src/lean-pod.ts'

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '50000' },
    measure: { type: 'string' },
    full: { type: 'boolean', default: false },
    'no-token-volumes': { type: 'boolean', default: false },
  },
})
const pods = Number(values.pods)
const setting = {
  ...LARGE_CLUSTER,
  full: values.full,
  tokenVolumes: !values['no-token-volumes'],
}
const collect = (globalThis as { gc?: () => void }).gc

function podText(number: number): string {
  return JSON.stringify(realisticPod(setting, number))
}

/** In the order of a list: by namespace and name, which brings pods of one Deployment together. */
function listOrder(): number[] {
  const { deployments, namespaces } = setting
  const key = (number: number): number => {
    const deployment = number % deployments
    return (deployment % namespaces) * deployments + deployment
  }
  return Array.from({ length: pods }, (_, number) => number).sort((a, b) => key(a) - key(b))
}

function heapBytes(): number {
  collect!()
  collect!()
  return process.memoryUsage().heapUsed
}

function report(before: number, startedMs: number): void {
  const ms = performance.now() - startedMs
  console.log(
    JSON.stringify({ bytes: (heapBytes() - before) / pods, microseconds: (ms * 1000) / pods }),
  )
}

function parsed(): void {
  const before = heapBytes()
  const startedMs = performance.now()
  const kept = new Map<string, KubernetesObject>()
  for (const number of listOrder()) {
    const object = JSON.parse(podText(number)) as KubernetesObject
    kept.set(`${object.metadata?.namespace}/${object.metadata?.name}`, object)
  }
  report(before, startedMs)
  if (kept.size !== pods) throw new Error('pods share a name')
}

/** `lean`: as the manager keeps pods. */
async function cached(order: readonly number[], lean = false): Promise<void> {
  const clock = new SystemClock()
  const watch = watchOfBytes()
  const factory = new SharedInformerFactory({
    client: new ApiClient({ transport: watch.transport, clock }),
    clock,
    random: new SystemRandom(),
    logger: silentLogger,
    ...(lean ? { trimOf: () => leanPod } : {}),
  })
  const informer = factory.informer(resources.pods)
  const stop = new AbortController()
  const before = heapBytes()
  const startedMs = performance.now()
  factory.start(stop.signal)
  for (const number of order) await watch.send({ type: 'ADDED', text: podText(number) })
  await watch.endInitialEvents('v1', 'Pod')
  await informer.whenSynced(stop.signal)
  report(before, startedMs)
  if (informer.lister.list().length !== pods) throw new Error('pods are missing')
  stop.abort()
  await factory.shutdown()
}

function shuffled(): number[] {
  const random = new SystemRandom()
  const order = listOrder()
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random.next() * (i + 1))
    ;[order[i], order[j]] = [order[j]!, order[i]!]
  }
  return order
}

if (values.measure === 'parsed') parsed()
else if (values.measure === 'listed') await cached(listOrder())
else if (values.measure === 'lean') await cached(listOrder(), true)
else if (values.measure === 'shuffled') await cached(shuffled())
else {
  let json = 0
  for (let number = 0; number < 1000; number++) json += podText(number).length
  console.log(`${pods} pods, ${json / 1000} bytes of JSON each with managedFields`)
  const rows = [
    ['parsed', 'JSON.parse, kept in a map', ''],
    ['listed', 'informer cache, in the order of a list', ''],
    ['lean', "the manager's cache, in the order of a list", '<= 1300'],
    ['shuffled', 'informer cache, in random order', ''],
  ] as const
  for (const [measure, what, budget] of rows) {
    const { stdout } = spawnSync(
      process.execPath,
      [
        '--expose-gc',
        import.meta.filename,
        `--pods=${pods}`,
        `--measure=${measure}`,
        ...(values.full ? ['--full'] : []),
        ...(setting.tokenVolumes ? [] : ['--no-token-volumes']),
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const { bytes } = JSON.parse(stdout) as { bytes: number }
    console.log(`${what.padEnd(48)} ${bytes.toFixed(0).padStart(7)} bytes   ${budget}`)
  }
}
