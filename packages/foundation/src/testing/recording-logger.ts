import type { LogFields, Logger } from '../logging.ts'

/** One line as it was logged, before it is text. */
export interface LogLine {
  readonly severity: 'info' | 'error'
  readonly verbosity: number
  readonly name: string
  readonly message: string
  readonly fields: LogFields
  readonly error?: unknown
}

/** Keeps every line, whatever its verbosity. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[]
  readonly #level: number
  readonly #name: string
  readonly #fields: LogFields

  constructor(lines: LogLine[] = [], level = 0, name = '', fields: LogFields = {}) {
    this.lines = lines
    this.#level = level
    this.#name = name
    this.#fields = fields
  }

  info(message: string, fields: LogFields = {}): void {
    this.lines.push({
      severity: 'info',
      verbosity: this.#level,
      name: this.#name,
      message,
      fields: { ...this.#fields, ...fields },
    })
  }

  error(error: unknown, message: string, fields: LogFields = {}): void {
    this.lines.push({
      severity: 'error',
      verbosity: this.#level,
      name: this.#name,
      message,
      fields: { ...this.#fields, ...fields },
      error,
    })
  }

  enabled(): boolean {
    return true
  }

  verbosity(level: number): Logger {
    return new RecordingLogger(this.lines, this.#level + level, this.#name, this.#fields)
  }

  with(fields: LogFields): Logger {
    return new RecordingLogger(this.lines, this.#level, this.#name, { ...this.#fields, ...fields })
  }

  named(name: string): Logger {
    const nested = this.#name === '' ? name : `${this.#name}/${name}`
    return new RecordingLogger(this.lines, this.#level, nested, this.#fields)
  }

  messages(): string[] {
    return this.lines.map((line) => line.message)
  }
}
