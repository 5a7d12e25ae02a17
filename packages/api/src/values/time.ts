/** Timestamps on objects: RFC 3339 text, whole seconds for metav1.Time, microseconds for metav1.MicroTime. */

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** Milliseconds since the Unix epoch; finer parts are cut off. Undefined for absent or malformed text. */
export function parseTime(text: string | null | undefined): number | undefined {
  if (text === undefined || text === null || !RFC_3339.test(text)) return undefined
  const timeMs = Date.parse(text)
  if (Number.isNaN(timeMs)) return undefined
  // Date accepts the 31st of every month; RFC 3339 does not.
  const day = Number(text.slice(8, 10))
  const month = Number(text.slice(5, 7))
  const daysInMonth = new Date(Date.UTC(Number(text.slice(0, 4)), month, 0)).getUTCDate()
  return day >= 1 && day <= daysInMonth ? timeMs : undefined
}

/** Orders by time, absent and malformed ones first. */
export function compareTimes(a: string | null | undefined, b: string | null | undefined): number {
  const left = parseTime(a) ?? -Infinity
  const right = parseTime(b) ?? -Infinity
  return left < right ? -1 : left > right ? 1 : 0
}

/** Milliseconds from a timestamp to `nowMs`; undefined without a timestamp. */
export function elapsedSince(text: string | null | undefined, nowMs: number): number | undefined {
  const timeMs = parseTime(text)
  return timeMs === undefined ? undefined : nowMs - timeMs
}
