// How late a controller manager starts very many CronJobs that are due in the same minute, and what that costs. Run it with the
// one manager and with the other, and compare.
//
//   node benchmarks/controllers/cronjobs.ts --server URL --token TOKEN [--count 2000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and --controllers=cronjob-controller: what becomes
// of the Jobs is another row.
import { resources } from '@gyropilot/api'
import type { Job } from '@gyropilot/api'
import { SystemClock, SystemRandom, silentLogger } from '@gyropilot/foundation'
import { SharedInformerFactory } from '@gyropilot/runtime'
import { measuredRun } from './measured/measured-run.ts'
import { forEach } from './measured/phases.ts'

const MINUTE_MS = 60_000
const BEFORE_THE_MINUTE_MS = 5_000

await measuredRun('cronjobs', 2000, async ({ client, namespace, count, startManager, phase }) => {
  const cronJobs = client.resource(resources.cronjobs, namespace)
  const container = { name: 'c', image: 'img:1' }
  const template = { spec: { restartPolicy: 'Never' as const, containers: [container] } }
  const spec = { schedule: '* * * * *', jobTemplate: { spec: { template } } }
  await forEach(count, (index) => cronJobs.create({ metadata: { name: `c-${index}` }, spec }))

  const clock = new SystemClock()
  let dueMs = Number.POSITIVE_INFINITY
  const latenessMs: number[] = []
  const stopping = new AbortController()
  const factory = new SharedInformerFactory({
    client,
    clock,
    random: new SystemRandom(),
    logger: silentLogger,
    namespace,
  })
  factory.informer(resources.jobs).addHandler({
    onAdd({ metadata }: Job) {
      const at = Date.parse(
        metadata?.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'] ?? '',
      )
      if (at === dueMs) latenessMs.push(clock.nowMs() - at)
    },
  })
  factory.start(stopping.signal)
  await startManager()
  await new Promise((resolve) => setTimeout(resolve, BEFORE_THE_MINUTE_MS * 2))
  const untilDueMs = MINUTE_MS - (clock.nowMs() % MINUTE_MS)
  dueMs = clock.nowMs() + untilDueMs
  await new Promise((resolve) =>
    setTimeout(resolve, Math.max(0, untilDueMs - BEFORE_THE_MINUTE_MS)),
  )
  await phase(
    `${count} due at once`,
    () =>
      new Promise((resolve) => setTimeout(resolve, dueMs - clock.nowMs() + BEFORE_THE_MINUTE_MS)),
    () => Promise.resolve(latenessMs.length >= count),
  )
  stopping.abort()
  latenessMs.sort((one, other) => one - other)
  const at = (share: number): number => latenessMs[Math.ceil(share * latenessMs.length) - 1]!
  console.log(`late by: median ${at(0.5)} ms, 99 of 100 ${at(0.99)} ms, last ${at(1)} ms`)
})
