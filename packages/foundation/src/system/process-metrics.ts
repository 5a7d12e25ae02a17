import type * as FileSystem from 'node:fs'
import type { MetricsRegistry, StabilityLevel } from '../metrics.ts'

/** Under the names and help texts that every Prometheus client uses. What the platform does not tell is left out. */
export function exposeProcessMetrics(registry: MetricsRegistry): void {
  const gauge = (name: string, help: string) => registry.gauge({ name, help, stability: 'NONE' })
  const cpu = registry.counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    stability: 'NONE',
  })
  const resident = gauge('process_resident_memory_bytes', 'Resident memory size in bytes.')
  exposeProcessStart(registry, 'NONE')
  const mostFiles = mostOpenFiles()
  if (mostFiles !== undefined)
    gauge('process_max_fds', 'Maximum number of open file descriptors.').set(mostFiles)
  const openFiles =
    mostFiles === undefined
      ? undefined
      : gauge('process_open_fds', 'Number of open file descriptors.')
  let shownSeconds = 0
  registry.onCollect(() => {
    const { user, system } = process.cpuUsage()
    const seconds = (user + system) / 1e6
    cpu.increment({}, seconds - shownSeconds)
    shownSeconds = seconds
    resident.set(process.memoryUsage.rss())
    openFiles?.set(files().readdirSync('/proc/self/fd').length)
  })
}

/** By it a scraper tells that counters began anew. */
export function exposeProcessStart(registry: MetricsRegistry, stability: StabilityLevel): void {
  const started = registry.gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
    stability,
  })
  started.set(performance.timeOrigin / 1000)
}

/** Undefined where there is no /proc. */
function mostOpenFiles(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(
      files().readFileSync('/proc/self/limits', 'utf8'),
    )?.[1]
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}

/** An import would load every part of node:fs into each process that imports this package. */
function files(): typeof FileSystem {
  return process.getBuiltinModule('node:fs')
}
