/** The answers of /healthz, and what they count. Contract: docs/behaviour/runtime/manager.md, /healthz. */
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { PlainAnswer } from './request.ts'

interface HealthCheck {
  readonly name: string
  /** Undefined: healthy. The text of a failure stays inside; outside it reads `reason withheld`. */
  check(): string | undefined
}

/** Checks may be added at any time, also after serving has started. */
export class HealthChecks {
  readonly #checks: HealthCheck[] = []
  readonly #record: (name: string, healthy: boolean) => void

  /** `slis` is what /metrics/slis shows: each check that is asked is recorded there. */
  constructor(slis?: MetricsRegistry) {
    this.#record = slis === undefined ? () => {} : sliRecorder(slis)
  }

  add(check: HealthCheck): void {
    this.#checks.push(check)
  }

  /** `query` may hold `verbose` and, repeated, `exclude=<name>`. */
  answer(query: URLSearchParams): PlainAnswer {
    const checks =
      this.#checks.length > 0 ? this.#checks : [{ name: 'ping', check: () => undefined }]
    const excluded = new Set(query.getAll('exclude'))
    const lines: string[] = []
    let failed = false
    for (const { name, check } of checks) {
      if (excluded.delete(name)) {
        lines.push(`[+]${name} excluded: ok\n`)
        continue
      }
      const healthy = check() === undefined
      this.#record(name, healthy)
      failed ||= !healthy
      lines.push(healthy ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`)
    }
    if (excluded.size > 0) {
      const names = [...excluded].toSorted().map((name) => JSON.stringify(name))
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(',')}\n`)
    }
    if (failed) return { status: 500, body: `${lines.join('')}healthz check failed\n` }
    if (!query.has('verbose')) return { status: 200, body: 'ok' }
    return { status: 200, body: `${lines.join('')}healthz check passed\n` }
  }
}

function sliRecorder(slis: MetricsRegistry): (name: string, healthy: boolean) => void {
  const current = slis.gauge({
    name: 'kubernetes_healthcheck',
    help: 'This metric records the result of a single healthcheck.',
    labels: ['name', 'type'],
    stability: 'STABLE',
  })
  const total = slis.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'This metric records the results of all healthcheck.',
    labels: ['name', 'type', 'status'],
    stability: 'STABLE',
  })
  return (name, healthy) => {
    current.set(healthy ? 1 : 0, { name, type: 'healthz' })
    total.increment({ name, type: 'healthz', status: healthy ? 'success' : 'error' })
  }
}
