/** Durations as kubectl shows them: `31s`, `5m3s`, `2d4h`. */
export function formatAge(timestamp: string | undefined, nowMs: number): string {
  if (timestamp === undefined || timestamp === null) return '<unknown>'
  const timeMs = Date.parse(timestamp)
  return Number.isNaN(timeMs) ? '<unknown>' : formatShortDuration(nowMs - timeMs)
}

export function formatShortDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return withRest(days, 'd', hours % 24, 'h')
  if (hours < 24 * 365 * 2) return `${days}d`
  const years = Math.trunc(hours / 24 / 365)
  if (hours < 24 * 365 * 8) return withRest(years, 'y', Math.trunc(hours / 24) % 365, 'd')
  return `${years}y`
}

function withRest(whole: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${restUnit}`
}
