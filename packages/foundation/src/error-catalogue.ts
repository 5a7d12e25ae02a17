import { byString } from './compare.ts'
import { GyropilotError } from './errors.ts'

/** One entry of docs/reference/errors.md. */
export interface ErrorEntry {
  /** Upper snake case, unique in the project, never renamed. */
  readonly code: string
  readonly exitCode: number
  /** What it means that this error appears: one sentence. */
  readonly meaning: string
  /** What the reader of the message can do: one sentence. */
  readonly remedy: string
}

type Definitions = Readonly<Record<string, Omit<ErrorEntry, 'code'>>>

/** The errors of one package: the only way to make them, and the list for the reference page. */
export interface ErrorCatalogue<Code extends string = string> {
  readonly entries: readonly ErrorEntry[]
  /** A GyropilotError of this entry. `message` is the whole line; `remedy` is not appended. */
  make(code: Code, message: string, options?: ErrorOptions): GyropilotError
}

/**
 * ```ts
 * export const clientErrors = defineErrors({
 *   KUBECONFIG_NOT_FOUND: { exitCode: 1, meaning: 'The file does not exist.', remedy: 'Check the path.' },
 * })
 * throw clientErrors.make('KUBECONFIG_NOT_FOUND', `stat ${path}: no such file or directory`)
 * ```
 */
export function defineErrors<const D extends Definitions>(
  definitions: D,
): ErrorCatalogue<keyof D & string> {
  const entries = Object.entries(definitions).map(([code, entry]): ErrorEntry => ({
    code,
    ...entry,
  }))
  for (const { code } of entries) {
    if (!/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(code))
      throw new Error(`error code ${code} is not in upper snake case`)
  }
  return {
    entries,
    make(code, message, options) {
      return new GyropilotError(code, message, {
        ...options,
        exitCode: definitions[code]!.exitCode,
      })
    },
  }
}

/** The catalogues of several packages as one list, sorted by code. Throws when two packages use one code. */
export function mergeCatalogues(catalogues: readonly ErrorCatalogue[]): readonly ErrorEntry[] {
  const byCode = new Map<string, ErrorEntry>()
  for (const entry of catalogues.flatMap((catalogue) => catalogue.entries)) {
    if (byCode.has(entry.code)) throw new Error(`error code ${entry.code} is defined twice`)
    byCode.set(entry.code, entry)
  }
  return [...byCode.values()].sort(byString(({ code }) => code))
}
