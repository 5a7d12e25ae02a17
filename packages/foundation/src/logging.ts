/**
 * Structured logging with klog's levels. Implementations decide the form (klog text, JSON, silence).
 * Values are anything JSON can say, or an Error.
 */
export type LogFields = Readonly<Record<string, unknown>>

/** Structured lines: a message that does not vary, and fields that do. */
export interface Logger {
  info(message: string, fields?: LogFields): void
  /** An error that was handled (retried, reported): the process goes on. */
  error(error: unknown, message: string, fields?: LogFields): void
  /** True when lines of this verbosity are written: guard for expensive fields. */
  enabled(verbosity: number): boolean
  /** A logger whose `info` lines need this verbosity (`--v`). */
  verbosity(level: number): Logger
  /** A logger that adds these fields to each line. */
  with(fields: LogFields): Logger
  /** A logger for the component of this name; names nest with `/`. */
  named(name: string): Logger
}

/** Writes nothing. */
export const silentLogger: Logger = {
  info() {},
  error() {},
  enabled: () => false,
  verbosity: () => silentLogger,
  with: () => silentLogger,
  named: () => silentLogger,
}
