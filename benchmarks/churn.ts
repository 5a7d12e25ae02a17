// Whether anything grows while a cluster works for a day: a random user makes, changes, breaks and deletes things of every kind for
// so many virtual hours, and each hour the live heap of everything (server, manager, scheduler, nodes) is counted beside the
// objects that there are. Objects come and go, so what to read is the heap that is left for each of them.
//
//   node --expose-gc benchmarks/churn.ts [--hours 24] [--nodes 5] [--pause-ms 5000] [--seed churn]
import { parseArgs } from 'node:util'
import { RandomUser, createCluster } from '@gyropilot/cluster'

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '24' },
    nodes: { type: 'string', default: '5' },
    'pause-ms': { type: 'string', default: '5000' },
    seed: { type: 'string', default: 'churn' },
  },
})
const HOUR_MS = 3_600_000
const MIB = 2 ** 20
const collectGarbage = globalThis.gc
if (collectGarbage === undefined) throw new Error('run it with node --expose-gc')

const cluster = await createCluster({ seed: values.seed, nodes: Number(values.nodes) })
let writes = 0
cluster.observe({ committed: () => writes++ })
console.log('  hour    writes   objects   live heap, MiB   resident, MiB   seconds')
for (let hour = 1; hour <= Number(values.hours); hour++) {
  const startedMs = performance.now()
  // A user of its own for each hour: it keeps what it did, for replays.
  await new RandomUser(cluster, { meanPauseMs: Number(values['pause-ms']) }).work(HOUR_MS)
  const seconds = (performance.now() - startedMs) / 1000
  await collectGarbage({ type: 'major', execution: 'async' })
  const { heapUsed, rss } = process.memoryUsage()
  const cells = [
    String(hour).padStart(6),
    String(writes).padStart(9),
    String([...cluster.objects.everything()].length).padStart(9),
    (heapUsed / MIB).toFixed(1).padStart(16),
    (rss / MIB).toFixed(0).padStart(15),
    seconds.toFixed(1).padStart(9),
  ]
  console.log(cells.join(' '))
}
