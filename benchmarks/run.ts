// Runs every benchmark one after the other. Figures are printed, not judged: budgets stand beside them.
//
//   npm run benchmark [-- NAME ...]
//   npm run benchmark -- NAME --OPTION ...     one of them, with what it takes
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const args = process.argv.slice(2)
const optionsAt = args.findIndex((arg) => arg.startsWith('-'))
const wanted = optionsAt === -1 ? args : args.slice(0, optionsAt)
const options = optionsAt === -1 ? [] : args.slice(optionsAt)
/** Need a server to talk to. */
const ONLY_WHEN_NAMED: ReadonlySet<string> = new Set(['manager'])
const files = readdirSync(import.meta.dirname).filter(
  (name) => name.endsWith('.ts') && name !== 'run.ts',
)
for (const file of files.toSorted()) {
  const name = file.replace(/\.ts$/, '')
  if (wanted.length > 0 ? !wanted.includes(name) : ONLY_WHEN_NAMED.has(name)) continue
  console.log(`\n${name}`)
  const result = spawnSync(process.execPath, [join(import.meta.dirname, file), ...options], {
    stdio: 'inherit',
  })
  if (result.status !== 0) process.exitCode = 1
}
