/** Phases of work of a measured manager: something is done, the state that follows is awaited, and what it took is printed. */
import type { Cost, MeasuredManager } from './measured-manager.ts'
import { costBetween, describeCost } from './measured-manager.ts'

const WRITERS = 32
const LIMIT_MS = 900_000
const NOTHING: Cost = { cpuSeconds: 0, peakMebibytes: 0, residentMebibytes: 0, requests: {} }

/** Some at a time. */
export async function forEach(
  total: number,
  act: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < total) await act(next++)
  }
  await Promise.all(Array.from({ length: WRITERS }, worker))
}

interface PhaseOptions {
  /** Says how far it has come, where it takes too long. */
  readonly progress?: () => string
  /** How often to look. Default 20: for what a cache of the script tells. */
  readonly everyMs?: number
}

/** `manager` may be started by `act`: then all that it cost so far is told. */
export async function phase(
  title: string,
  manager: () => MeasuredManager | undefined,
  act: () => Promise<unknown>,
  isThere: () => boolean | Promise<boolean>,
  { progress = () => 'a part of it', everyMs = 20 }: PhaseOptions = {},
): Promise<void> {
  const before = (await manager()?.cost()) ?? NOTHING
  const startMs = performance.now()
  await act()
  while (!(await isThere())) {
    if (performance.now() - startMs > LIMIT_MS) throw new Error(`only ${progress()}`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  const seconds = (performance.now() - startMs) / 1000
  const cost = describeCost(costBetween(before, await settledCost(manager()!)))
  console.log(`${title.padEnd(40)} ${seconds.toFixed(1).padStart(6)} s   ${cost}`)
}

/** What is still under way when the state is reached is counted too, but not timed. */
async function settledCost(of: MeasuredManager): Promise<Cost> {
  let last = await of.cost()
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const next = await of.cost()
    if (JSON.stringify(next.requests) === JSON.stringify(last.requests)) return next
    last = next
  }
}
