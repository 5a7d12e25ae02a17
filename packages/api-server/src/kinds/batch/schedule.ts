/** Whether a cron schedule can be read, and the parser's words when not. Running schedules is the CronJob controller's part. */

const DESCRIPTORS = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
])
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

interface Bounds {
  readonly low: number
  readonly high: number
  readonly names: readonly string[]
}

const FIELDS: readonly Bounds[] = [
  { low: 0, high: 59, names: [] },
  { low: 0, high: 23, names: [] },
  { low: 1, high: 31, names: [] },
  { low: 1, high: 12, names: ['', ...MONTHS] },
  { low: 0, high: 6, names: DAYS },
]

export function scheduleError(schedule: string): string | undefined {
  let text = schedule
  const zone = /^(?:CRON_)?TZ=(\S*)\s*(.*)$/.exec(text)
  if (zone !== null) {
    if (!isKnownTimeZone(zone[1]!))
      return `provided bad location ${zone[1]}: unknown time zone ${zone[1]}`
    text = zone[2]!.trim()
  }
  if (text.startsWith('@')) return descriptorError(text)
  const fields = text.split(/\s+/).filter((part) => part !== '')
  if (fields.length !== 5)
    return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  for (const [index, field] of fields.entries()) {
    for (const part of field.split(',').filter((item) => item !== '')) {
      const problem = rangeError(part, FIELDS[index]!)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

function descriptorError(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined
  if (text.startsWith('@every ')) {
    const duration = text.slice('@every '.length)
    if (/^[-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h))+$/.test(duration) || duration === '0')
      return undefined
    return `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`
  }
  return `unrecognized descriptor: ${text}`
}

function rangeError(text: string, bounds: Bounds): string | undefined {
  const [range = '', step, ...more] = text.split('/')
  const [first = '', last, ...rest] = range.split('-')
  let low = bounds.low
  let high = bounds.high
  if (first !== '*' && first !== '?') {
    const start = numberOf(first, bounds)
    if (typeof start === 'string') return start
    low = start
    if (rest.length > 0) return `too many hyphens: ${text}`
    if (last === undefined) high = step === undefined ? low : bounds.high
    else {
      const end = numberOf(last, bounds)
      if (typeof end === 'string') return end
      high = end
    }
  }
  if (more.length > 0) return `too many slashes: ${text}`
  let stride = 1
  if (step !== undefined) {
    const value = plainNumber(step)
    if (typeof value === 'string') return value
    stride = value
  }
  if (low < bounds.low) return `beginning of range (${low}) below minimum (${bounds.low}): ${text}`
  if (high > bounds.high) return `end of range (${high}) above maximum (${bounds.high}): ${text}`
  if (low > high) return `beginning of range (${low}) beyond end of range (${high}): ${text}`
  if (stride === 0) return `step of range should be a positive number: ${text}`
  return undefined
}

function numberOf(text: string, bounds: Bounds): number | string {
  const named = text === '' ? -1 : bounds.names.indexOf(text.toLowerCase())
  return named >= 0 ? named : plainNumber(text)
}

function plainNumber(text: string): number | string {
  if (!/^[-+]?\d+$/.test(text))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
  const value = Number(text)
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value
}

export function isKnownTimeZone(zone: string): boolean {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return true
  try {
    // Throws for names it does not know; offsets are no names. Names are file names for Go, so that case counts.
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions()
    return timeZone !== '' && !/^[+-]|(?:^|\/)[a-z]/.test(zone)
  } catch {
    return false
  }
}
