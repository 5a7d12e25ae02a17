const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
}

/** Milliseconds of a Go duration such as `1h15m30.5s`, or Go's words for what is wrong with it. */
export function parseDurationMs(text: string): number | string {
  if (text === '0' || text === '+0' || text === '-0') return 0
  const sign = text.startsWith('-') ? -1 : 1
  const body = text.replace(/^[+-]/, '')
  if (!/^[\d.]/.test(body)) return `time: invalid duration ${JSON.stringify(text)}`
  let totalMs = 0
  let rest = body
  while (rest !== '') {
    const [, digits = '', unit = ''] = /^(\d+\.?\d*|\.\d+)([^\d.]*)/.exec(rest) ?? []
    if (digits === '') return `time: invalid duration ${JSON.stringify(text)}`
    if (unit === '') return `time: missing unit in duration ${JSON.stringify(text)}`
    const unitMs = UNIT_MS[unit]
    if (unitMs === undefined) {
      return `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`
    }
    totalMs += Number(digits) * unitMs
    rest = rest.slice(digits.length + unit.length)
  }
  return sign * totalMs
}

/** `1h15m0s`, as Go prints a duration. */
export function formatDuration(durationMs: number): string {
  if (durationMs === 0) return '0s'
  const sign = durationMs < 0 ? '-' : ''
  const ms = Math.abs(durationMs)
  if (ms < 0.001) return `${sign}${Math.round(ms * 1e6)}ns`
  if (ms < 1) return `${sign}${ms * 1000}µs`
  if (ms < 1000) return `${sign}${ms}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  const seconds = (ms % 60_000) / 1000
  return `${sign}${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`
}
