// What many concurrent watches weigh, and how soon one change has reached all of them: whole processes, HTTP/2 streams.
//
//   node benchmarks/many-watches.ts [--watches 10000] [--server URL --token TOKEN --pid PID]
import { parseArgs } from 'node:util'
import { configMap } from './load/objects.ts'
import { LoadClient } from './load/requests.ts'
import { residentMebibytes } from './load/process-account.ts'
import { openTarget, pause } from './load/target.ts'
import { Watchers } from './load/watchers.ts'

const { values } = parseArgs({
  options: {
    watches: { type: 'string', default: '10000' },
    server: { type: 'string' },
    token: { type: 'string' },
    pid: { type: 'string' },
  },
})
const count = Number(values.watches)
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const MERGE_PATCH = 'application/merge-patch+json'
const CHANGES = 10

const target = await openTarget(values.server, values.token)
const pid = target.pid ?? Number(values.pid)
const client = await LoadClient.open(target, 1)
const path = `${CONFIG_MAPS}/many-watches`
await client.send('DELETE', path)
await client.ok('POST', CONFIG_MAPS, configMap('many-watches'))
const { metadata } = JSON.parse((await client.ok('GET', path)).toString())
await pause(2000)
const beforeMebibytes = residentMebibytes(pid)
const startedMs = performance.now()
const watchers = await Watchers.open(
  target,
  `${CONFIG_MAPS}?watch=true&allowWatchBookmarks=true&resourceVersion=${metadata.resourceVersion}`,
  count,
)
const openedMs = performance.now() - startedMs
await pause(3000)
const idleMebibytes = residentMebibytes(pid)
for (let change = 1; change <= CHANGES; change++) {
  const annotations = { sentAt: String(performance.now()) }
  await client.ok('PATCH', path, JSON.stringify({ metadata: { annotations } }), MERGE_PATCH)
  await watchers.received(change * count)
}
const busyMebibytes = residentMebibytes(pid)
const rows: readonly (readonly [string, string, string])[] = [
  [`${count} watches opened`, `${(openedMs / 1000).toFixed(2)} s`, ''],
  ['memory more than before', `${(idleMebibytes - beforeMebibytes).toFixed(0)} MiB`, '< 200 MiB'],
  [
    `memory more after ${CHANGES} changes seen by all`,
    `${(busyMebibytes - beforeMebibytes).toFixed(0)} MiB`,
    '',
  ],
  ['one change to the last watcher', `${watchers.delays.quantile(1).toFixed(0)} ms`, ''],
  ['watches cut off', String(watchers.closed), '0'],
]
for (const [what, figure, budget] of rows)
  console.log(`${what.padEnd(56)} ${figure.padStart(10)}   ${budget}`)
watchers.close()
client.close()
await target.stop()
