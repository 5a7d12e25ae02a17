// How late a controller manager starts very many CronJobs that are due in the same minute, and what that costs. Run it with the
// one manager and with the other, and compare.
//
//   node benchmarks/controllers/cronjobs.ts --server URL --token TOKEN [--count 2000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and --controllers=cronjob-controller: what becomes
// of the Jobs is another row.
import { resources } from '@gyropilot/api'
import { SystemClock } from '@gyropilot/foundation'
import { countOf, measuredRun } from './measured/measured-run.ts'
import { forEach } from './measured/phases.ts'

const MINUTE_MS = 60_000
const BEFORE_THE_MINUTE_MS = 5_000
/** A watch would cost the server a fifth of what the Jobs cost it, and each look costs 3 ms, on the cores that are measured. */
const LOOK_EVERY_MS = 100

await measuredRun('cronjobs', 2000, async ({ client, namespace, count, startManager, phase }) => {
  const cronJobs = client.resource(resources.cronjobs, namespace)
  const container = { name: 'c', image: 'img:1' }
  const template = { spec: { restartPolicy: 'Never' as const, containers: [container] } }
  const spec = { schedule: '* * * * *', jobTemplate: { spec: { template } } }
  await forEach(count, (index) => cronJobs.create({ metadata: { name: `c-${index}` }, spec }))

  const clock = new SystemClock()
  await startManager()
  await new Promise((resolve) => setTimeout(resolve, BEFORE_THE_MINUTE_MS * 2))
  const untilDueMs = MINUTE_MS - (clock.nowMs() % MINUTE_MS)
  // A whole minute, whatever the two looks at the clock are apart.
  const dueMs = Math.round((clock.nowMs() + untilDueMs) / MINUTE_MS) * MINUTE_MS
  await new Promise((resolve) =>
    setTimeout(resolve, Math.max(0, untilDueMs - BEFORE_THE_MINUTE_MS)),
  )
  const before = await countOf(client, resources.jobs, namespace)
  /** How late the server had so many of them, at most. */
  const seen: { readonly jobs: number; readonly latenessMs: number }[] = []
  const areThere = async (): Promise<boolean> => {
    const jobs = (await countOf(client, resources.jobs, namespace)) - before
    seen.push({ jobs, latenessMs: clock.nowMs() - dueMs })
    return jobs >= count
  }
  await phase(
    `${count} due at once`,
    async () => {
      await new Promise((resolve) => setTimeout(resolve, dueMs - clock.nowMs()))
      while (!(await areThere())) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    },
    () => Promise.resolve(true),
  )
  const at = (share: number): string =>
    seen.find(({ jobs }) => jobs >= share * count)!.latenessMs.toFixed(0)
  console.log(`late by: median ${at(0.5)} ms, 99 of 100 ${at(0.99)} ms, last ${at(1)} ms`)
  const bySeconds = new Map<number, number>()
  for await (const { items } of client.resource(resources.jobs, namespace).pages()) {
    for (const { metadata } of items) {
      const scheduled = metadata?.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']
      if (Date.parse(scheduled ?? '') !== dueMs) continue
      const late = (Date.parse(metadata?.creationTimestamp ?? '') - dueMs) / 1000
      bySeconds.set(late, (bySeconds.get(late) ?? 0) + 1)
    }
  }
  const seconds = [...bySeconds].toSorted(([one], [other]) => one - other)
  console.log(
    `by creationTimestamp, whole seconds: ${seconds.map(([late, jobs]) => `${jobs} after ${late} s`).join(', ')}`,
  )
})
