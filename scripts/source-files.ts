// The TypeScript sources of the repository, for the scripts that check them.
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface SourceFile {
  /** From the root, with `/`. */
  readonly path: string
  readonly text: string
}

export const root = join(import.meta.dirname, '..')

export function sourceFiles(folder: string): SourceFile[] {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    // Of the path within the repository only: a checkout may lie in a folder of any name.
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.includes('node_modules') && !path.includes('/generated/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  if (files.length === 0) throw new Error(`no sources in ${folder}: nothing would be checked`)
  return files
}

/** The text with comments and the contents of strings blanked, line numbers kept: what is left is code. */
export function codeOf(text: string): string {
  const pattern =
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[=(,:!&|?[{;\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/[dgimsuvy]*/g
  return text.replace(pattern, (found) => found.replace(/[^\n]/g, ' '))
}
