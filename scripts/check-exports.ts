// What a file exports is imported by another file, or is what its package offers: all else is the file's own affair, and what nobody
// uses at all is found by the compiler then.
//
//   node scripts/check-exports.ts
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, root, sourceFiles } from './source-files.ts'
import type { SourceFile } from './source-files.ts'

const SOURCES = ['packages', 'scripts', 'tests', 'benchmarks', 'examples']

interface Exported {
  readonly name: string
  readonly line: number
}

/** `names` undefined: all of them, as for `import *`. */
interface Use {
  readonly specifier: string
  readonly names: readonly string[] | undefined
}

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm
const LIST = /^export (?:type )?\{([^}]*)\}/gm
const IMPORT =
  /^(?:import|export) (?:type )?(?:(\w+),? ?)?(?:\{([^}]*)\}|\*(?: as \w+)?)? ?from '([^']+)'/gm
const CALL =
  /(?:const|let) \{([^}]*)\} = await import\(\s*'([^']+)'\s*\)|\bimport\(\s*'([^']+)'\s*\)/g

/** `a, b as c, type d`: the names of the module that is imported from, or of the one that exports. */
function listed(text: string, side: 'there' | 'here'): string[] {
  return text
    .split(',')
    .map((part) => part.trim().replace(/^type /, ''))
    .filter((part) => part !== '')
    .map((part) => (side === 'there' ? part.split(/ as |: /)[0]! : part.split(' as ').at(-1)!))
}

/** Of the pattern, where it does not stand in a comment or a string. */
function* inCode(file: SourceFile, code: string, pattern: RegExp): Generator<RegExpExecArray> {
  for (const match of file.text.matchAll(pattern)) if (code[match.index] !== ' ') yield match
}

function exportsOf(file: SourceFile, code: string): Exported[] {
  const lineAt = (index: number): number => file.text.slice(0, index).split('\n').length
  const found: Exported[] = []
  for (const { index, 1: name } of inCode(file, code, DECLARATION))
    found.push({ name: name!, line: lineAt(index) })
  for (const { index, 1: list } of inCode(file, code, LIST))
    for (const name of listed(list!, 'here')) found.push({ name, line: lineAt(index) })
  return found
}

function usesOf(file: SourceFile, code: string): Use[] {
  const found: Use[] = []
  for (const [, whole, list, specifier] of inCode(file, code, IMPORT)) {
    const names = list === undefined ? undefined : listed(list, 'there')
    found.push({ specifier: specifier!, names: whole === undefined ? names : undefined })
  }
  for (const [, list, specifier, plain] of inCode(file, code, CALL))
    found.push({
      specifier: (specifier ?? plain)!,
      names: list === undefined ? undefined : listed(list, 'there'),
    })
  return found
}

/** The files that packages offer, by the name under which they are imported. */
function offered(): ReadonlyMap<string, string> {
  const byName = new Map<string, string>()
  for (const folder of readdirSync(join(root, 'packages'))) {
    const text = readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')
    const manifest = JSON.parse(text) as { name: string; exports?: Record<string, string> }
    for (const [name, path] of Object.entries(manifest.exports ?? {}))
      byName.set(join(manifest.name, name), join('packages', folder, path))
  }
  return byName
}

const entries = offered()
const open = new Set(entries.values())
const files = SOURCES.flatMap(sourceFiles)
const codes = new Map(files.map((file) => [file.path, codeOf(file.text)]))
const used = new Map<string, Set<string>>()
const usedWhole = new Set<string>()
for (const file of files)
  for (const { specifier, names } of usesOf(file, codes.get(file.path)!)) {
    const path = specifier.startsWith('.')
      ? join(file.path, '..', specifier)
      : (entries.get(specifier) ?? specifier)
    if (names === undefined) usedWhole.add(path)
    else used.set(path, (used.get(path) ?? new Set()).union(new Set(names)))
  }

let problems = 0
for (const file of files) {
  // What is no TypeScript is loaded by other programs.
  if (!file.path.endsWith('.ts') || open.has(file.path) || usedWhole.has(file.path)) continue
  for (const { name, line } of exportsOf(file, codes.get(file.path)!)) {
    if (used.get(file.path)?.has(name)) continue
    problems++
    console.error(`${file.path}:${line}: exports ${name}, which no other file imports`)
  }
}
console.log(problems === 0 ? `exports: ${files.length} files` : `exports: ${problems} problems`)
process.exitCode = problems === 0 ? 0 : 1
