// The TypeScript sources of the repository, for the scripts that check them.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface SourceFile {
  /** From the root, with `/`. */
  readonly path: string
  readonly text: string
}

export const root = join(import.meta.dirname, '..')

export function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('node_modules') && !path.includes('/generated/'))
    .sort()
    .map((path) => ({ path: path.slice(root.length + 1), text: readFileSync(path, 'utf8') }))
}

/** The text with comments and the contents of strings blanked, line numbers kept: what is left is code. */
export function codeOf(text: string): string {
  const pattern =
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[=(,:!&|?[{;\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/[dgimsuvy]*/g
  return text.replace(pattern, (found) => found.replace(/[^\n]/g, ' '))
}
