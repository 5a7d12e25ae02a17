const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5,
}

/** Milliseconds of a Go duration (`1m30s`, `200ms`) or a number of seconds; `otherwise` for anything else. */
export function durationMs(value: unknown, otherwise: number): number {
  if (typeof value === 'number') return value * 1000
  if (typeof value !== 'string') return otherwise
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map((part) => part[0]).join('') !== value) return otherwise
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS_MS[unit!]!, 0)
}
