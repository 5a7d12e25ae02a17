/** Days in UTC as text, `YYYY-MM-DD`: what labels of tokens hold. As text they are in the order of time. */
import { parseTime } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'

const DATE = /^\d{4}-\d\d-\d\d$/

export function dateOf(timeMs: number): string {
  return formatTime(timeMs).slice(0, 10)
}

/** When the day begins. Undefined for text that is no day of the calendar. */
export function dateMs(text: string): number | undefined {
  return DATE.test(text) ? parseTime(`${text}T00:00:00Z`) : undefined
}
