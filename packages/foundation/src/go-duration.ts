/** Durations as Go's time package writes and reads them: `1h15m0s`, `1.5h`, `-300ms`, `2µs`. Pure. */

const NANOS_PER_MS = 1_000_000n
/** Both signs of the micro are read; U+00B5 is written. */
const UNIT_NANOS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', NANOS_PER_MS],
  ['s', 1_000n * NANOS_PER_MS],
  ['m', 60_000n * NANOS_PER_MS],
  ['h', 3_600_000n * NANOS_PER_MS],
])
/** A duration is a signed 64-bit number of nanoseconds, which reaches one further below zero. */
const LEAST_NANOS = 2n ** 63n

/** Milliseconds, to the nanosecond while they are below 104 days; or Go's words for what is wrong with `text`. */
export function parseGoDuration(text: string): number | string {
  const nanos = goDurationNanos(text)
  if (typeof nanos === 'string') return nanos
  return Number(nanos / NANOS_PER_MS) + Number(nanos % NANOS_PER_MS) / 1e6
}

/** Nanoseconds, within int64; or Go's words for what is wrong with `text`. */
export function goDurationNanos(text: string): bigint | string {
  const isNegative = text.startsWith('-')
  const body = text.replace(/^[-+]/, '')
  if (body === '0') return 0n
  const invalid = `time: invalid duration ${quoted(text)}`
  if (body === '') return invalid
  let nanos = 0n
  for (let at = 0; at < body.length;) {
    const [digits = '', whole = '', fraction = ''] = /^([0-9]*)(?:\.([0-9]*))?/.exec(
      body.slice(at),
    )!
    if (whole === '' && fraction === '') return invalid
    at += digits.length
    const [unit] = /^[^0-9.]*/.exec(body.slice(at))!
    if (unit === '') return `time: missing unit in duration ${quoted(text)}`
    const scale = UNIT_NANOS.get(unit)
    if (scale === undefined) return `time: unknown unit ${quoted(unit)} in duration ${quoted(text)}`
    at += unit.length
    nanos += BigInt(whole) * scale + (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length)
    if (nanos > LEAST_NANOS) return invalid
  }
  if (nanos === LEAST_NANOS && !isNegative) return invalid
  return isNegative ? -nanos : nanos
}

/** The shortest exact text: `1h0m0s`, `1.5s`, `250ms`, `0s`. What is below a nanosecond is rounded. */
export function formatGoDuration(durationMs: number): string {
  const wholeMs = Math.trunc(durationMs)
  const nanos = BigInt(wholeMs) * NANOS_PER_MS + BigInt(Math.round((durationMs - wholeMs) * 1e6))
  if (nanos === 0n) return '0s'
  const magnitude = nanos < 0n ? -nanos : nanos
  return `${nanos < 0n ? '-' : ''}${textOf(magnitude)}`
}

function textOf(nanos: bigint): string {
  if (nanos < 1_000n) return `${nanos}ns`
  if (nanos < NANOS_PER_MS) return `${decimal(nanos, 3)}\u00b5s`
  if (nanos < 1_000n * NANOS_PER_MS) return `${decimal(nanos, 6)}ms`
  const minuteNanos = 60_000n * NANOS_PER_MS
  const seconds = `${decimal(nanos % minuteNanos, 9)}s`
  const minutes = nanos / minuteNanos
  if (minutes === 0n) return seconds
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`
}

/** `value` with its last `places` digits behind the point, without zeros at the end. */
function decimal(value: bigint, places: number): string {
  const digits = String(value).padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  return `${digits.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`
}

/** As the time package quotes: bytes outside of printable ASCII as `\xc2`. */
function quoted(text: string): string {
  const bytes = [...new TextEncoder().encode(text)].map((byte) => {
    if (byte < 0x20 || byte >= 0x80) return `\\x${byte.toString(16).padStart(2, '0')}`
    const character = String.fromCharCode(byte)
    return character === '"' || character === '\\' ? `\\${character}` : character
  })
  return `"${bytes.join('')}"`
}
