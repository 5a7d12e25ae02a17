// What the heartbeats of very many nodes cost a controller manager, and what it costs when many of them fall silent at once:
// ours or any other, on a real API server. The manager is started by this script, which plays the kubelets.
//
//   node benchmarks/controllers/node-heartbeats.ts --server https://127.0.0.1:6443 --token T [--nodes 5000] [--lost 1000]
//     [--minutes 1] -- bin/kube-controller-manager --kubeconfig F --leader-elect=false --secure-port=6446
//     --controllers=nodelifecycle --node-eviction-rate=1000 --kube-api-qps=5000 --kube-api-burst=5000 ...
//
// The token must be one of an administrator that the manager knows too, so that it shows its metrics. The zone has one
// token at first and --node-eviction-rate more each second: at upstream's 0.1 the last of 1,000 comes after 10,000 s.
// With --lost 0 only the heartbeats are measured.
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import type { Lease, Node } from '@gyropilot/api'
import { SystemClock, formatMicroTime, formatTime } from '@gyropilot/foundation'
import { directClient } from './measured/direct-client.ts'
import { MeasuredManager, costBetween, describeCost } from './measured/measured-manager.ts'
import type { Cost } from './measured/measured-manager.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string', default: 'https://127.0.0.1:6443' },
    token: { type: 'string', default: 'admintoken' },
    nodes: { type: 'string', default: '5000' },
    lost: { type: 'string', default: '1000' },
    minutes: { type: 'string', default: '1' },
  },
})
const nodeCount = Number(values.nodes)
const lostCount = Number(values.lost)
const BEAT_MS = 10_000
const SETTLED_MS = 20_000
const PATIENCE_MS = 600_000
const AT_ONCE = 32
const LABEL = 'gyropilot.example.com/beats'
const LEASES = 'kube-node-lease'

const clock = new SystemClock()
const { client, close } = directClient(values.server, values.token, clock)
const nodes = client.resource(resources.nodes)
const leases = client.resource(resources.leases, LEASES)
const nameOf = (index: number): string => `beats-${index}`
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** So many at a time. */
async function each(from: number, act: (index: number) => Promise<unknown>): Promise<void> {
  const waiting = Array.from({ length: nodeCount - from }, (_, at) => from + at).values()
  const work = async (): Promise<void> => {
    for (const index of waiting) await act(index)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

function newNode(index: number): Node {
  const time = formatTime(clock.nowMs())
  const of = (type: string, status: 'True' | 'False') => ({
    type,
    status,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  })
  const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) =>
    of(type, 'False'),
  )
  return {
    metadata: { name: nameOf(index), labels: { [LABEL]: '' } },
    status: { conditions: [...pressures, of('Ready', 'True')] },
  }
}

function leaseOf(index: number): Lease {
  const renewTime = formatMicroTime(clock.nowMs())
  const spec = { holderIdentity: nameOf(index), leaseDurationSeconds: 40, renewTime }
  return { metadata: { name: nameOf(index), labels: { [LABEL]: '' } }, spec }
}

/** Nodes from the `from`th on renew their leases, as often as kubelets do, until `isOver`. */
async function beat(from: number, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const startMs = clock.monotonicMs()
    await each(from, (index) =>
      leases.patch(nameOf(index), { type: 'merge', value: { spec: leaseOf(index).spec } }),
    )
    await sleep(Math.max(0, BEAT_MS - (clock.monotonicMs() - startMs)))
  }
}

const after = (ms: number): (() => boolean) => {
  const untilMs = clock.monotonicMs() + ms
  return () => clock.monotonicMs() >= untilMs
}

interface Lost {
  readonly silent: number
  readonly tainted: number
}

async function lostNodes(): Promise<Lost> {
  const { items } = await nodes.list({ labelSelector: LABEL, resourceVersion: '0' })
  const isSilent = ({ status }: Node): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'Unknown') ===
    true
  const isTainted = ({ spec }: Node): boolean =>
    spec?.taints?.some(
      ({ key, effect }) => key.endsWith('unreachable') && effect === 'NoExecute',
    ) === true
  return { silent: items.filter(isSilent).length, tainted: items.filter(isTainted).length }
}

/** Seconds from the first silent node that was found to the last taint. */
async function secondsToLastTaint(): Promise<number> {
  let foundMs: number | undefined
  for (const isTooLate = after(PATIENCE_MS); !isTooLate(); await sleep(500)) {
    const { silent, tainted } = await lostNodes()
    if (silent > 0) foundMs ??= clock.monotonicMs()
    if (tainted >= lostCount) return (clock.monotonicMs() - foundMs!) / 1000
  }
  throw new Error(`${lostCount} nodes were not tainted: ${JSON.stringify(await lostNodes())}`)
}

async function lose(before: Cost): Promise<void> {
  let isOver = false
  const others = beat(lostCount, () => isOver)
  const seconds = await secondsToLastTaint().finally(() => (isOver = true))
  await others
  const cost = describeCost(costBetween(before, await manager.cost()))
  console.log(`${lostCount} lost: ${seconds.toFixed(1)} s to the last taint, ${cost}`)
}

await each(0, async (index) => {
  await leases.create(leaseOf(index))
  const node = newNode(index)
  await nodes.create(node)
  const value = { status: node.status }
  await nodes.patch(nameOf(index), { type: 'strategic', value }, { subresource: 'status' })
})
const manager = await MeasuredManager.start(positionals, values.token)
try {
  await beat(0, after(SETTLED_MS))
  const settled = await manager.cost()
  await beat(0, after(Number(values.minutes) * 60_000))
  const beaten = await manager.cost()
  console.log(
    `${nodeCount} nodes for ${values.minutes} min: ${describeCost(costBetween(settled, beaten))}`,
  )
  if (lostCount > 0) await lose(beaten)
} finally {
  await manager.stop()
  await each(0, async (index) => {
    await nodes.delete(nameOf(index)).catch(() => undefined)
    await leases.delete(nameOf(index)).catch(() => undefined)
  })
  await close()
}
