/** What pods use: what was scripted, else a plausible part of what they ask for, the same for the same pod. */
import { fnv1a, parseQuantity } from '@gyropilot/api'
import type { Container, Pod } from '@gyropilot/api'
import { amountOf } from '@gyropilot/api'
import type { PodBehavior, ScriptedUsage } from '../behavior/behavior.ts'
import { amountAt } from '../behavior/load.ts'
import type { Sharing } from './shared-loads.ts'

export interface Usage {
  readonly cpuNanoCores: number
  readonly memoryBytes: number
}

const NANO_PER_MILLI = 1_000_000
const NANO_PER_CORE = 1_000_000_000
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

/** Since when a pod runs, and what it shares with others. */
export interface LoadTimes {
  readonly nowMs: number
  readonly sinceMs: number
  readonly sharing: Sharing | undefined
}

/**
 * Of each of the containers that run. What was scripted for the pod they have in equal parts, up to their limits; else what
 * their programs were told to take (`taken`).
 */
export function podUsage(
  pod: Pod,
  running: readonly Container[],
  scripted: PodBehavior['usage'],
  times: LoadTimes,
  taken: readonly (Usage | undefined)[] = [],
): readonly Usage[] {
  const cores = scriptedAmount(scripted.cpu, times)
  const bytes = scriptedAmount(scripted.memory, times)
  return running.map((container, index) => {
    const { limits = {} } = container.resources ?? {}
    const limited = (amount: number, resource: 'cpu' | 'memory'): number => {
      const limit = limits[resource]
      return limit === undefined ? amount : Math.min(amount, parseQuantity(limit).toNumber())
    }
    const own = taken[index]
    const usual =
      own === undefined
        ? usageOf(pod, container)
        : {
            cpuNanoCores: limited(own.cpuNanoCores / NANO_PER_CORE, 'cpu') * NANO_PER_CORE,
            memoryBytes: limited(own.memoryBytes, 'memory'),
          }
    const part = (amount: number, resource: 'cpu' | 'memory', unitsPerAmount: number): number =>
      limited(amount / running.length, resource) * unitsPerAmount
    return {
      cpuNanoCores: Math.round(
        cores === undefined ? usual.cpuNanoCores : part(cores, 'cpu', NANO_PER_CORE),
      ),
      memoryBytes: Math.round(bytes === undefined ? usual.memoryBytes : part(bytes, 'memory', 1)),
    }
  })
}

function scriptedAmount(
  { own, shared }: ScriptedUsage,
  { nowMs, sinceMs, sharing }: LoadTimes,
): number | undefined {
  if (own === undefined && shared === undefined) return undefined
  const alone = own === undefined ? 0 : amountAt(own, nowMs - sinceMs)
  if (shared === undefined || sharing === undefined) return alone
  return alone + amountAt(shared, nowMs - sharing.sinceMs) / sharing.pods
}

export function nodeUsage(containers: readonly Usage[]): Usage {
  return {
    cpuNanoCores: containers.reduce((sum, usage) => sum + usage.cpuNanoCores, SYSTEM.cpuNanoCores),
    memoryBytes: containers.reduce((sum, usage) => sum + usage.memoryBytes, SYSTEM.memoryBytes),
  }
}
