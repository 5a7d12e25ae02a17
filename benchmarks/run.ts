// Runs every benchmark one after the other. Figures are printed, not judged: budgets stand beside them.
//
//   npm run benchmark [-- NAME ...]
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const wanted = process.argv.slice(2)
const files = readdirSync(import.meta.dirname).filter(
  (name) => name.endsWith('.ts') && name !== 'run.ts',
)
for (const file of files.toSorted()) {
  const name = file.replace(/\.ts$/, '')
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`\n${name}`)
  const result = spawnSync(process.execPath, [join(import.meta.dirname, file)], {
    stdio: 'inherit',
  })
  if (result.status !== 0) process.exitCode = 1
}
