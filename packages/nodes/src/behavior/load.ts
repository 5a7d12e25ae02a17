/**
 * Scripted load: an amount, or amounts that follow one another. Contract: docs/behaviour/simulation/kubelet.md, Scripting the
 * behaviour. Pure.
 */
import { parseQuantity } from '@gyropilot/api'
import { durationMs } from './duration.ts'

/** From `atMs` after the start on, until the next. CPU in cores, memory in bytes. */
interface LoadStep {
  readonly atMs: number
  readonly amount: number
}

/** In the order of their times. */
export type Load = readonly LoadStep[]

/** `500m`, or `200m,60s=1500m,5m=200m`: what has no time counts from the start on. `speed` divides the times. */
export function loadOf(text: string, speed: number): Load {
  const steps = text.split(',').map((part) => {
    const { time, amount } = split(part)
    return { atMs: durationMs(time, 0) / speed, amount: parseQuantity(amount).toNumber() }
  })
  return steps.toSorted((a, b) => a.atMs - b.atMs)
}

/** Parts of a text that are no steps. */
export function unusableSteps(text: string): readonly string[] {
  return text.split(',').filter((part) => {
    const { time, amount } = split(part)
    return Number.isNaN(durationMs(time, Number.NaN)) || !isAmount(amount)
  })
}

/** Nothing before the first step. */
export function amountAt(load: Load, elapsedMs: number): number {
  return load.findLast(({ atMs }) => atMs <= elapsedMs)?.amount ?? 0
}

function split(part: string): { readonly time: string; readonly amount: string } {
  const at = part.indexOf('=')
  return at < 0
    ? { time: '0s', amount: part.trim() }
    : { time: part.slice(0, at).trim(), amount: part.slice(at + 1).trim() }
}

function isAmount(text: string): boolean {
  try {
    return parseQuantity(text).toNumber() >= 0
  } catch {
    return false
  }
}
