/** Answers why it is not well, or undefined. A rejection is an answer too. */
export type HealthCheck = () => Error | undefined | void | Promise<Error | undefined | void>

/** For whoever listens: status code, content type and text. */
export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/**
 * The checks behind `/healthz` or `/readyz`, in controller-runtime's words: `?verbose` lists them, `?exclude=name` leaves one
 * out, `/healthz/name` asks one. Without any there is `ping`, which passes.
 */
export class HealthChecks {
  readonly #checks = new Map<string, HealthCheck>()

  add(name: string, check: HealthCheck): void {
    this.#checks.set(name, check)
  }

  /** `path` is what follows `/healthz`. Undefined: there is no such check. */
  async answer(path: string, query: URLSearchParams): Promise<HttpAnswer | undefined> {
    const checks = this.#checks.size > 0 ? this.#checks : new Map<string, HealthCheck>([PING])
    if (path !== '' && path !== '/') {
      const check = checks.get(path.slice(1))
      return check && answerOfOne(await problemOf(check))
    }
    const excluded = new Set(query.getAll('exclude'))
    const lines: string[] = []
    let isWell = true
    for (const name of [...checks.keys()].sort()) {
      if (excluded.delete(name)) {
        lines.push(`[+]${name} excluded: ok`)
        continue
      }
      const isOk = (await problemOf(checks.get(name)!)) === undefined
      isWell &&= isOk
      lines.push(isOk ? `[+]${name} ok` : `[-]${name} failed: reason withheld`)
    }
    if (excluded.size > 0) {
      const names = [...excluded].map((name) => JSON.stringify(name)).join(',')
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
    }
    if (isWell && !query.has('verbose')) return text(200, 'ok')
    lines.push(isWell ? 'healthz check passed' : 'healthz check failed')
    return text(isWell ? 200 : 500, `${lines.join('\n')}\n`)
  }
}

const PING: [string, HealthCheck] = ['ping', () => undefined]

async function problemOf(check: HealthCheck): Promise<Error | undefined> {
  try {
    return (await check()) ?? undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function answerOfOne(problem: Error | undefined): HttpAnswer {
  if (problem === undefined) return text(200, 'ok')
  return text(500, `internal server error: ${problem.message}\n`)
}

function text(status: number, body: string): HttpAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body }
}
