import type * as FileSystem from 'node:fs'
import type { MetricsRegistry } from '../metrics.ts'

/** Under the names that every Prometheus client uses. What the platform does not tell is left out. */
export function exposeProcessMetrics(registry: MetricsRegistry): void {
  const gauge = (name: string, help: string) => registry.gauge({ name, help, stability: 'STABLE' })
  const cpu = registry.counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process, in user and system mode.',
    stability: 'STABLE',
  })
  const resident = gauge('process_resident_memory_bytes', 'Memory of the process that is resident.')
  const started = gauge('process_start_time_seconds', 'When the process started, since the epoch.')
  started.set(performance.timeOrigin / 1000)
  const mostFiles = mostOpenFiles()
  if (mostFiles !== undefined)
    gauge('process_max_fds', 'How many file descriptors may be open.').set(mostFiles)
  const openFiles =
    mostFiles === undefined ? undefined : gauge('process_open_fds', 'File descriptors in use.')
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
