/** What pods use: a plausible part of what they ask for, the same for the same pod. */
import { fnv1a } from '@gyropilot/api'
import type { Container, Pod } from '@gyropilot/api'
import { amountOf } from '@gyropilot/api'

export interface Usage {
  readonly cpuNanoCores: number
  readonly memoryBytes: number
}

const NANO_PER_MILLI = 1_000_000
const IDLE_MILLI_CORES = 5
const IDLE_BYTES = 24 * 2 ** 20
/** What the system of a node uses by itself. */
const SYSTEM: Usage = { cpuNanoCores: 120 * NANO_PER_MILLI, memoryBytes: 900 * 2 ** 20 }

/** Between 40 and 80 percent of the requests; a little when there are none. */
export function usageOf(pod: Pod, container: Container): Usage {
  const requests = container.resources?.requests ?? {}
  const share = 0.4 + (fnv1a(Buffer.from(`${pod.metadata?.uid}/${container.name}`)) % 41) / 100
  const milliCores =
    requests['cpu'] === undefined ? IDLE_MILLI_CORES : amountOf('cpu', requests['cpu'])
  const bytes =
    requests['memory'] === undefined ? IDLE_BYTES : amountOf('memory', requests['memory'])
  return {
    cpuNanoCores: Math.round(milliCores * share) * NANO_PER_MILLI,
    memoryBytes: Math.round((bytes * share) / 1024) * 1024,
  }
}

export function nodeUsage(containers: readonly Usage[]): Usage {
  return {
    cpuNanoCores: containers.reduce((sum, usage) => sum + usage.cpuNanoCores, SYSTEM.cpuNanoCores),
    memoryBytes: containers.reduce((sum, usage) => sum + usage.memoryBytes, SYSTEM.memoryBytes),
  }
}
