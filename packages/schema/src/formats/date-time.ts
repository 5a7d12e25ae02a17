/** The formats `date`, and `date-time` with its other name `datetime`. */
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
/** The sign before a fraction may be any. */
const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/

export function isDate(text: string): boolean {
  const match = DATE.exec(text)
  if (match === null) return false
  const [, year, month, day] = match.map(Number)
  const date = new Date(Date.UTC(2000, month! - 1, day!))
  // Two-digit years would be those of the last century.
  date.setUTCFullYear(year!, month! - 1, day!)
  return date.getUTCMonth() === month! - 1 && date.getUTCDate() === day
}

/** RFC 3339, but offsets may be any, there is no second 60, and what follows a second `t` does not count. */
export function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t')
  const match = TIME.exec(time)
  if (match === null || !isDate(date)) return false
  const [, hour, minute, second] = match
  return hour! <= '23' && minute! <= '59' && second! <= '59'
}
