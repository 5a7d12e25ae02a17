import { parseGoDuration } from '@gyropilot/foundation'

/** Milliseconds of a Go duration (`1m30s`, `200ms`) or a number of seconds; `otherwise` for anything else. */
export function durationMs(value: unknown, otherwise: number): number {
  if (typeof value === 'number') return value * 1000
  if (typeof value !== 'string') return otherwise
  const parsed = parseGoDuration(value)
  return typeof parsed === 'number' && parsed >= 0 ? parsed : otherwise
}

/** As messages of a kubelet write them. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  const minutes = Math.floor(ms / 60_000)
  return minutes === 0 ? `${ms / 1000}s` : `${minutes}m${(ms % 60_000) / 1000}s`
}
