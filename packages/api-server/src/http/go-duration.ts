const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** Go's time.ParseDuration, in milliseconds; undefined when the text is none. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0
  const match = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text)
  if (match === null) return undefined
  let total = 0
  for (const [, number, unit] of match[2]!.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g))
    total += Number(number) * UNIT_MS[unit!]!
  return match[1] === '-' ? -total : total
}
