// What it costs a controller manager to bind many claims to volumes that are there, and to release them, on an API server
// without nodes. Run it with the one manager and with the other, and compare.
//
//   node benchmarks/controllers/bound-claims.ts --server URL --token TOKEN [--claims 5000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and preferably
// --controllers=persistentvolume-binder-controller,persistentvolumeclaim-protection-controller.
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import { SystemClock } from '@gyropilot/foundation'
import { directClient } from './measured/direct-client.ts'
import { MeasuredManager, costBetween, describeCost } from './measured/measured-manager.ts'

const { values, positionals: command } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    claims: { type: 'string', default: '5000' },
  },
})
const { server = '', token = '' } = values
const count = Number(values.claims)
const NAMESPACE = `bound-claims-${process.pid}`
const WRITERS = 32
const PAGE = 500
const LIMIT_MS = 480_000

const clock = new SystemClock()
const { client, close } = directClient(server, token, clock)
const volumes = client.resource(resources.persistentvolumes)
const claims = client.resource(resources.persistentvolumeclaims, NAMESPACE)
const names = Array.from({ length: count }, (_, index) => `${NAMESPACE}-${index}`)

const spec = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: NAMESPACE,
} as const
const volume = (name: string) => ({
  metadata: { name, labels: { run: NAMESPACE } },
  spec: {
    ...spec,
    capacity: { storage: '1Gi' },
    csi: { driver: 'disk.example.com', volumeHandle: name },
    persistentVolumeReclaimPolicy: 'Retain' as const,
  },
})
const claim = (name: string) => ({
  metadata: { name },
  spec: { ...spec, resources: { requests: { storage: '1Gi' } } },
})

/** Each name once, so many at a time. */
async function forEach(act: (name: string) => Promise<unknown>): Promise<void> {
  const left = names.values()
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      for (const name of left) await act(name)
    }),
  )
}

async function phases(type: 'claims' | 'volumes'): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  const pages =
    type === 'claims'
      ? claims.pages({ limit: PAGE })
      : volumes.pages({ limit: PAGE, labelSelector: `run=${NAMESPACE}` })
  for await (const { items } of pages)
    for (const { status } of items) {
      const phase = status?.phase ?? ''
      found.set(phase, (found.get(phase) ?? 0) + 1)
    }
  return found
}

async function until(isThere: () => Promise<boolean>): Promise<void> {
  const startMs = performance.now()
  while (!(await isThere())) {
    if (performance.now() - startMs > LIMIT_MS) throw new Error('it never came to that')
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

async function measured(
  what: string,
  act: () => Promise<unknown>,
  isThere: () => Promise<boolean>,
): Promise<void> {
  const startMs = performance.now()
  const before = await manager.cost()
  await act()
  await until(isThere)
  const seconds = (performance.now() - startMs) / 1000
  const cost = costBetween(before, await manager.cost())
  console.log(`${what.padEnd(24)} ${seconds.toFixed(1)} s, ${describeCost(cost)}`)
}

const all = (type: 'claims' | 'volumes', phase: string) => async () =>
  ((await phases(type)).get(phase) ?? 0) === count

await client.resource(resources.namespaces).create({ metadata: { name: NAMESPACE } })
const manager = await MeasuredManager.start(command, token)
try {
  const make = () => forEach((name) => volumes.create(volume(name)))
  await measured(`${count} volumes`, make, all('volumes', 'Available'))
  const ask = () => forEach((name) => claims.create(claim(name)))
  await measured(`${count} claims bound`, ask, all('claims', 'Bound'))
  await measured('all claims deleted', () => claims.deleteCollection(), all('volumes', 'Released'))
} finally {
  await volumes.deleteCollection({ labelSelector: `run=${NAMESPACE}` }).catch(() => {})
  await client
    .resource(resources.namespaces)
    .delete(NAMESPACE)
    .catch(() => {})
  await manager.stop()
  await close()
}
