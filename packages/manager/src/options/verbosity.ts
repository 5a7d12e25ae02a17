/** Which log lines are written: --v, --vmodule, and PUT /debug/flags/v while the process runs. */
import type { LogFields, Logger } from '@gyropilot/foundation'

export class Verbosity {
  #level: number
  readonly #modules: readonly (readonly [pattern: RegExp, level: number])[]

  /** `modules` are items of --vmodule: `pattern=level`, where `*` and `?` stand for characters of a logger's name. */
  constructor(level: number, modules: readonly string[] = []) {
    this.#level = level
    this.#modules = modules.map(parseModule)
  }

  set(level: number): void {
    this.#level = level
  }

  /** Of a logger named `a/b`: that of the first pattern that fits a part of its name, else the level of all. */
  of(name: string): number {
    for (const [pattern, level] of this.#modules) {
      if (name.split('/').some((part) => pattern.test(part))) return Math.max(level, this.#level)
    }
    return this.#level
  }

  /** `inner` must write lines of every verbosity. */
  limit(inner: Logger): Logger {
    return new LimitedLogger(this, inner, 0, '')
  }
}

const MODULE = /^([^=]+)=(\d+)$/

function parseModule(item: string): readonly [RegExp, number] {
  const [, pattern = '', level = '0'] = MODULE.exec(item) ?? []
  // Upstream's patterns name Go files, which have underscores where our loggers have dashes.
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
    .replaceAll(/[-_]/g, '[-_]')
  return [new RegExp(`^${source}$`), Number(level)]
}

class LimitedLogger implements Logger {
  readonly #verbosity: Verbosity
  readonly #inner: Logger
  readonly #level: number
  readonly #name: string

  constructor(verbosity: Verbosity, inner: Logger, level: number, name: string) {
    this.#verbosity = verbosity
    this.#inner = inner
    this.#level = level
    this.#name = name
  }

  info(message: string, fields?: LogFields): void {
    if (this.enabled(0)) this.#inner.info(message, fields)
  }

  error(error: unknown, message: string, fields?: LogFields): void {
    this.#inner.error(error, message, fields)
  }

  enabled(verbosity: number): boolean {
    return this.#level + verbosity <= this.#verbosity.of(this.#name)
  }

  verbosity(level: number): Logger {
    return this.#derived(this.#inner.verbosity(level), this.#level + level, this.#name)
  }

  with(fields: LogFields): Logger {
    return this.#derived(this.#inner.with(fields), this.#level, this.#name)
  }

  named(name: string): Logger {
    const nested = this.#name === '' ? name : `${this.#name}/${name}`
    return this.#derived(this.#inner.named(name), this.#level, nested)
  }

  #derived(inner: Logger, level: number, name: string): Logger {
    return new LimitedLogger(this.#verbosity, inner, level, name)
  }
}
