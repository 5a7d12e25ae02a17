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

/** The message of an Error, else the value as text; never empty, never with a line break. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return text.replaceAll(/\s*\r?\n\s*/g, ' ')
}
