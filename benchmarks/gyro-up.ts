// How soon a cluster is ready, how soon Deployments are, and what it weighs: whole processes, over HTTPS.
//
//   node benchmarks/gyro-up.ts [--replicas 1000] [--nodes 10]
import { parseArgs } from 'node:util'
import { eventually, startGyro } from '../tests/end-to-end/gyro-process.ts'
import type { GyroProcess } from '../tests/end-to-end/gyro-process.ts'
import { deployment } from './load/objects.ts'
import { residentMebibytes } from './load/process-account.ts'

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '1000' },
    nodes: { type: 'string', default: '12' },
  },
})

async function secondsToReady(gyro: GyroProcess, name: string, replicas: number): Promise<number> {
  const startedMs = performance.now()
  const path = '/apis/apps/v1/namespaces/default/deployments'
  await gyro.request(path, { method: 'POST', body: deployment(name, replicas) })
  await eventually(`${replicas} replicas ready`, 120_000, async () => {
    const { body } = await gyro.request(`${path}/${name}`)
    return body.status?.readyReplicas === replicas ? true : undefined
  })
  return (performance.now() - startedMs) / 1000
}

const replicas = Number(values.replicas)
const small = await startGyro()
await new Promise((resolve) => setTimeout(resolve, 5_000))
const idleMebibytes = residentMebibytes(small.process.pid!)
const three = await secondsToReady(small, 'three', 3)
await small.stop()

const large = await startGyro([`--nodes=${values.nodes}`])
const many = await secondsToReady(large, 'many', replicas)
const loadedMebibytes = residentMebibytes(large.process.pid!)
await large.stop()

const starts: number[] = []
for (let i = 0; i < 5; i++) {
  const startedMs = performance.now()
  const gyro = await startGyro()
  starts.push((performance.now() - startedMs) / 1000)
  await gyro.stop()
}
starts.sort((a, b) => a - b)

const rows: readonly (readonly [string, string, string])[] = [
  ['gyro up to ready, median of 5 (launcher to banner)', `${starts[2]!.toFixed(2)} s`, '<= 1.0 s'],
  ['Deployment of 3 to 3/3 ready', `${three.toFixed(2)} s`, '<= 2 s'],
  ['idle cluster, resident memory', `${idleMebibytes.toFixed(0)} MiB`, '<= 160 MiB'],
  [`Deployment of ${replicas} to all ready`, `${many.toFixed(2)} s`, '<= 10 s'],
  [`resident memory with ${replicas} pods`, `${loadedMebibytes.toFixed(0)} MiB`, ''],
]
for (const [what, figure, budget] of rows)
  console.log(`${what.padEnd(56)} ${figure.padStart(10)}   ${budget}`)
