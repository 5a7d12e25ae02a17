import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../source-files.ts'
import { changed, refusedChanges } from './refused-changes.ts'

/** `text` of this line becomes `replacement`. */
function change(source: string, line: number, text: string, replacement: string) {
  const lines = source.split('\n')
  const column = lines[line - 1]!.indexOf(text.split('\n')[0]!) + 1
  const rows = text.split('\n')
  const endColumn = rows.length === 1 ? column + text.length : rows.at(-1)!.length + 1
  const end = { line: line + rows.length - 1, column: endColumn }
  return { file: 'a.ts', replacement, location: { start: { line, column }, end } }
}

const SOURCE = `export interface Named { readonly name?: { readonly first: string } }
export const first = (of: Named): string | undefined => of.name?.first
export const length = (of: Named): number => of.name?.first.length ?? 0
type Found = { ok: true; name: string } | { ok: false; error: string }
export function errorOf(found: Found): string {
  if (found.ok) return found.name
  return found.error
}
export function twice(n: number): number {
  const result = n * 2
  return result
}
`

test('a change of several lines leaves the others where they are', () => {
  const one = change(SOURCE, 2, 'of.name?.first', 'of.name.first')
  const block = change(SOURCE, 9, '{\n  const result = n * 2\n  return result\n}', '{}')
  const lines = changed(SOURCE, [one, block]).split('\n')
  assert.equal(lines[1], 'export const first = (of: Named): string | undefined => of.name.first')
  assert.equal(lines[8], 'export function twice(n: number): number {}')
  assert.equal(lines.length, SOURCE.split('\n').length)
})

test('what the compiler refuses is told from what it takes, on one line too', () => {
  const tree = mkdtempSync(join(tmpdir(), 'refused-changes-'))
  try {
    writeFileSync(join(tree, 'a.ts'), SOURCE)
    const compilerOptions = { strict: true, target: 'esnext', types: [] }
    writeFileSync(join(tree, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['a.ts'] }))
    const changes = {
      unguarded: change(SOURCE, 2, 'of.name?.first', 'of.name.first'),
      taken: change(SOURCE, 3, '0', '1'),
      refusedBeside: change(SOURCE, 3, '0', '"none"'),
      errorElsewhere: change(SOURCE, 6, 'found.ok', 'false'),
      sum: change(SOURCE, 10, 'n * 2', 'n / 2'),
      block: change(SOURCE, 9, '{\n  const result = n * 2\n  return result\n}', '{}'),
    }
    const compiler = join(root, 'node_modules/.bin/tsc')
    const refused = refusedChanges(tree, compiler, Object.values(changes))
    const names = Object.entries(changes).filter(([, each]) => refused.has(each))
    assert.deepEqual(
      names.map(([name]) => name),
      ['unguarded', 'refusedBeside', 'errorElsewhere', 'block'],
    )
    assert.equal(readFileSync(join(tree, 'a.ts'), 'utf8'), SOURCE)
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
})
