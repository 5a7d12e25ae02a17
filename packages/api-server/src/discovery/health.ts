/** `/healthz`, `/livez` and `/readyz`. Contract: docs/behaviour/api-server/requests.md, "Other endpoints". */
import { text, type Answer } from '../http/answer.ts'

export interface HealthCheck {
  readonly name: string
  /** True: `/readyz` only. */
  readonly readiness?: boolean
  healthy(): boolean
}

/** Told about each check that was asked. */
export type CheckRecorder = (name: string, endpoint: string, healthy: boolean) => void

/** Undefined: not a health path, or an unknown check. */
export function healthAnswer(
  checks: readonly HealthCheck[],
  path: string,
  query: URLSearchParams,
  record: CheckRecorder,
): Answer | undefined {
  const [endpoint = '', name, ...rest] = path.slice(1).split('/')
  if (rest.length > 0 || (endpoint !== 'healthz' && endpoint !== 'livez' && endpoint !== 'readyz'))
    return undefined
  const own = checks.filter(({ readiness }) => endpoint === 'readyz' || readiness !== true)
  if (name !== undefined) {
    const check = own.find((candidate) => candidate.name === name)
    if (check === undefined) return undefined
    const healthy = check.healthy()
    record(name, endpoint, healthy)
    return healthy
      ? text(200, 'ok')
      : text(500, `internal server error: ${name}: reason withheld\n`)
  }
  return report(endpoint, own, query, record)
}

function report(
  endpoint: string,
  checks: readonly HealthCheck[],
  query: URLSearchParams,
  record: CheckRecorder,
): Answer {
  const excluded = new Set(query.getAll('exclude'))
  let failed = false
  const lines: string[] = []
  for (const check of checks) {
    if (excluded.delete(check.name)) {
      lines.push(`[+]${check.name} excluded: ok`)
      continue
    }
    const healthy = check.healthy()
    record(check.name, endpoint, healthy)
    if (!healthy) failed = true
    lines.push(healthy ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`)
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(',')
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
  }
  const details = lines.map((line) => `${line}\n`).join('')
  if (failed) return text(500, `${details}${endpoint} check failed\n`)
  return query.has('verbose') ? text(200, `${details}${endpoint} check passed\n`) : text(200, 'ok')
}
