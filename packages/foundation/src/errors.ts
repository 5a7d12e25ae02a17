/** What an error has besides its code and its line. */
export interface GyropilotErrorOptions extends ErrorOptions {
  /** The exit code of a binary that ends because of this error. Default 1. */
  readonly exitCode?: number
}

/**
 * An error a user can meet. `code` is stable and stands in the catalogue of its package; `message` is one line that says
 * what failed, where, and what to do.
 */
export class GyropilotError extends Error {
  readonly code: string
  readonly exitCode: number

  constructor(code: string, message: string, options: GyropilotErrorOptions = {}) {
    super(message, options)
    this.name = 'GyropilotError'
    this.code = code
    this.exitCode = options.exitCode ?? 1
  }
}

/** The message of an Error as it is, line breaks included, else the value as text: for what users of the API read. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** One problem as it is, several in brackets, each text once: the form of Kubernetes. */
export function aggregateText(problems: readonly string[]): string {
  const texts = [...new Set(problems)]
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
}

/** One error for several: a single one stays as it is, and none is undefined. */
export function aggregateErrors<E>(errors: readonly E[]): E | AggregateError | undefined {
  if (errors.length <= 1) return errors[0]
  return new AggregateError(errors, aggregateText(errors.map(errorMessage)))
}

/** The message of an Error, else the value as text; never empty, never with a line break. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return text.replaceAll(/\s*\r?\n\s*/g, ' ')
}
