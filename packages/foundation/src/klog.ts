/**
 * Loggers in the two forms of Kubernetes' components: klog text and JSON. Where lines go, what time it is and which process
 * this is are handed in.
 */
import type { Clock } from './clock.ts'
import { errorText } from './errors.ts'
import type { LogFields, Logger } from './logging.ts'

/** Where klogLogger writes, and what of it. */
export interface LoggerOptions {
  readonly clock: Clock
  /** Takes one line with its newline. */
  readonly write: (line: string) => void
  /** Takes those that tell of no error. Default: `write`. */
  readonly writeInfo?: (line: string) => void
  /** `--v`: lines of this verbosity and below are written. Default 0. */
  readonly verbosity?: number
  readonly processId?: number
  /** What stands for the source file in the header of text lines. Default: the logger's name, else `-`. */
  readonly source?: string
  /** Minutes that local time is ahead of UTC at a time: text headers show local time, as klog does. Default: none. */
  readonly utcOffsetMinutes?: (timeMs: number) => number
}

type Severity = 'I' | 'E'

interface Entry {
  readonly severity: Severity
  readonly level: number
  readonly name: string
  readonly message: string
  readonly error?: { readonly value: unknown }
  readonly fields: LogFields
}

type Format = (entry: Entry, options: LoggerOptions) => string

/** `I1121 02:32:17.123456   12345 source.go:1] "message" key="value"`, the structured form of klog. */
export function klogLogger(options: LoggerOptions): Logger {
  return new FormattingLogger(options, textLine, 0, '', {})
}

/** `{"ts":1700000000123.4,"caller":"...","msg":"message","v":0,"key":"value"}`, the form of `--logging-format=json`. */
export function jsonLogger(options: LoggerOptions): Logger {
  return new FormattingLogger(options, jsonLine, 0, '', {})
}

class FormattingLogger implements Logger {
  readonly #options: LoggerOptions
  readonly #format: Format
  readonly #level: number
  readonly #name: string
  readonly #fields: LogFields

  constructor(
    options: LoggerOptions,
    format: Format,
    level: number,
    name: string,
    fields: LogFields,
  ) {
    this.#options = options
    this.#format = format
    this.#level = level
    this.#name = name
    this.#fields = fields
  }

  info(message: string, fields?: LogFields): void {
    if (this.#level > (this.#options.verbosity ?? 0)) return
    this.#write({
      severity: 'I',
      level: this.#level,
      name: this.#name,
      message,
      fields: this.#merged(fields),
    })
  }

  /** Errors are written at every verbosity. */
  error(error: unknown, message: string, fields?: LogFields): void {
    this.#write({
      severity: 'E',
      level: this.#level,
      name: this.#name,
      message,
      error: { value: error },
      fields: this.#merged(fields),
    })
  }

  enabled(verbosity: number): boolean {
    return this.#level + verbosity <= (this.#options.verbosity ?? 0)
  }

  verbosity(level: number): Logger {
    return new FormattingLogger(
      this.#options,
      this.#format,
      this.#level + level,
      this.#name,
      this.#fields,
    )
  }

  with(fields: LogFields): Logger {
    return new FormattingLogger(
      this.#options,
      this.#format,
      this.#level,
      this.#name,
      this.#merged(fields),
    )
  }

  named(name: string): Logger {
    const nested = this.#name === '' ? name : `${this.#name}/${name}`
    return new FormattingLogger(this.#options, this.#format, this.#level, nested, this.#fields)
  }

  /** Later fields win. */
  #merged(fields: LogFields | undefined): LogFields {
    return fields === undefined ? this.#fields : { ...this.#fields, ...fields }
  }

  #write(entry: Entry): void {
    const { write, writeInfo = write } = this.#options
    const writeLine = entry.severity === 'I' ? writeInfo : write
    writeLine(this.#format(entry, this.#options))
  }
}

/** Where klog has a file and its line; readers of logs want something there. */
function sourceOf({ name }: Entry, { source }: LoggerOptions): string {
  return source === undefined ? name || '-' : `${source}:1`
}

/** `I1121 02:32:17.123456   12345 source.go:1] message`, the older form, of what is no message with fields. */
export function klogLine(message: string, options: LoggerOptions): string {
  const entry = { severity: 'I', level: 0, name: '', message, fields: {} } as const
  return `${headerOf(entry, options)} ${message}\n`
}

function headerOf(entry: Entry, options: LoggerOptions): string {
  const processId = String(options.processId ?? 0).padStart(7)
  return `${entry.severity}${klogTime(options)} ${processId} ${sourceOf(entry, options)}]`
}

function textLine(entry: Entry, options: LoggerOptions): string {
  let line = `${headerOf(entry, options)} ${goQuoted(entry.message)}`
  if (entry.error?.value !== undefined) line += ` err=${goQuoted(errorText(entry.error.value))}`
  if (options.source !== undefined && entry.name !== '') line += ` logger=${goQuoted(entry.name)}`
  for (const [key, value] of Object.entries(entry.fields)) line += ` ${key}=${textValue(value)}`
  return `${line}\n`
}

/** `1121 02:32:17.123456`. Clocks count in milliseconds or finer; what is missing is zeros. */
function klogTime({ clock, utcOffsetMinutes }: LoggerOptions): string {
  const nowMs = clock.nowMs()
  const offsetMinutes = utcOffsetMinutes?.(nowMs) ?? 0
  const iso = new Date(nowMs + offsetMinutes * 60_000).toISOString()
  const microseconds = String(Math.floor((nowMs % 1) * 1000)).padStart(3, '0')
  return `${iso.slice(5, 7)}${iso.slice(8, 10)} ${iso.slice(11, 23)}${microseconds}`
}

function textValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      // Texts of several lines stay readable: klog writes them indented between marks.
      return value.includes('\n') ? `<\n\t${value.replaceAll('\n', '\n\t')}\n >` : goQuoted(value)
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'undefined':
      return '<nil>'
    case 'object':
      if (value === null) return '<nil>'
      if (value instanceof Error) return goQuoted(errorText(value))
      return objectText(value)
    default:
      return goQuoted(String(value))
  }
}

/** klog shows an object reference as "namespace/name" and everything else as JSON. */
function objectText(value: object): string {
  const { name, namespace, ...rest } = value as { name?: unknown; namespace?: unknown }
  if (typeof name === 'string' && Object.keys(rest).length === 0) {
    return goQuoted(
      typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name,
    )
  }
  try {
    return JSON.stringify(value) ?? '<nil>'
  } catch (error) {
    return goQuoted(`<${errorText(error)}>`)
  }
}

/** A string in double quotes with Go's escapes. */
function goQuoted(text: string): string {
  const quoted = JSON.stringify(text)
  return CONTROL_ESCAPE.test(quoted) ? quoted.replaceAll(CONTROL_ESCAPES, goEscape) : quoted
}

// An escaped backslash is matched too, so that what follows it is not taken for an escape.
const CONTROL_ESCAPE = /\\u00[01]|\u007f/
const CONTROL_ESCAPES = /\\\\|\\u00([01][0-9a-f])|\u007f/g

function goEscape(match: string, code: string | undefined): string {
  if (match === '\u007f') return String.raw`\x7f`
  if (code === undefined) return match
  if (code === '07') return String.raw`\a`
  return code === '0b' ? String.raw`\v` : `\\x${code}`
}

function jsonLine(entry: Entry, options: LoggerOptions): string {
  const line: Record<string, unknown> = {
    ts: Math.round(options.clock.nowMs() * 1000) / 1000,
    ...(entry.name === '' ? {} : { logger: entry.name }),
    caller: sourceOf(entry, options),
    msg: entry.message,
    // Errors have no verbosity.
    ...(entry.severity === 'I' ? { v: entry.level } : {}),
    ...(entry.error?.value === undefined ? {} : { err: errorText(entry.error.value) }),
  }
  for (const [key, value] of Object.entries(entry.fields)) {
    line[key] =
      value instanceof Error ? errorText(value) : typeof value === 'bigint' ? String(value) : value
  }
  try {
    return `${JSON.stringify(line)}\n`
  } catch (error) {
    return `${JSON.stringify({ ts: line['ts'], msg: entry.message, err: `unloggable fields: ${errorText(error)}` })}\n`
  }
}
