// Runs every benchmark one after the other. Figures are printed, not judged: budgets stand beside them.
//
//   npm run benchmark [-- NAME ...]
//   npm run benchmark -- NAME --OPTION ...     one of them, with what it takes
//   npm run benchmark -- [NAME] --help         what there is, and what it is for
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const args = process.argv.slice(2)
const optionsAt = args.findIndex((arg) => arg.startsWith('-'))
const wanted = optionsAt === -1 ? args : args.slice(0, optionsAt)
const options = optionsAt === -1 ? [] : args.slice(optionsAt)
/** Need a server to talk to. */
const ONLY_WHEN_NAMED: ReadonlySet<string> = new Set(['manager'])
const names = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.ts') && name !== 'run.ts')
  .map((name) => name.replace(/\.ts$/, ''))
  .toSorted()

function fileOf(name: string): string {
  return join(import.meta.dirname, `${name}.ts`)
}

/** The comment that a benchmark begins with. */
function purposeOf(name: string): string {
  const lines = readFileSync(fileOf(name), 'utf8').split('\n')
  const end = lines.findIndex((line) => !line.startsWith('//'))
  return lines
    .slice(0, end)
    .join('\n')
    .replaceAll(/^\/\/ ?/gm, '')
}

function run(name: string): void {
  console.log(`\n${name}`)
  const { status } = spawnSync(process.execPath, [fileOf(name), ...options], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}

const unknown = wanted.find((name) => !names.includes(name))
if (unknown !== undefined) {
  console.error(`benchmark: there is none named ${unknown}; there are: ${names.join(', ')}`)
  process.exitCode = 2
} else if (options[0] === '--help') {
  const asked = wanted.length > 0 ? wanted : names
  console.log(asked.map((name) => `${name}\n\n${purposeOf(name)}`).join('\n\n'))
} else if (wanted.length > 0) {
  wanted.forEach(run)
} else {
  names.filter((name) => !ONLY_WHEN_NAMED.has(name)).forEach(run)
}
