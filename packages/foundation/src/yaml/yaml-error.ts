import type { Mark } from './cursor.ts'

/** What cannot be read, in the words of Go's reader. */
export class YamlError extends Error {
  /** Offset of the place, in UTF-16 units. */
  readonly start: number

  constructor(message: string, start: number) {
    super(message)
    this.name = 'YamlError'
    this.start = start
  }
}

/** Wrong characters: lines count from one, and the first is not named. */
export function wrongCharacters(problem: string, at: Mark, context?: Mark): YamlError {
  const line = at.line > 0 ? at.line + 1 : (context?.line ?? 0) > 0 ? context!.line + 1 : 0
  return new YamlError(worded(problem, line), at.offset)
}

/** A wrong order of tokens: lines count from zero, and the first is not named. */
export function wrongOrder(problem: string, at: Mark, context?: Mark): YamlError {
  return new YamlError(worded(problem, at.line > 0 ? at.line : (context?.line ?? 0)), at.offset)
}

function worded(problem: string, line: number): string {
  return `yaml: ${line > 0 ? `line ${line}: ` : ''}${problem}`
}
