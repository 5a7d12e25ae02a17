/** The answers of /healthz. Contract: docs/behaviour/runtime/manager.md, /healthz. Pure but for the checks it asks. */
export interface HealthCheck {
  readonly name: string
  /** Undefined: healthy. The text of a failure stays inside; outside it reads `reason withheld`. */
  check(): string | undefined
}

export interface PlainAnswer {
  readonly status: number
  readonly body: string
}

/** Checks may be added at any time, also after serving has started. */
export class HealthChecks {
  readonly #checks: HealthCheck[] = []

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
      const problem = check()
      failed ||= problem !== undefined
      lines.push(problem === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`)
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
