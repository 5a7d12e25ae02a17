// Runs tests in few processes: each takes neighbouring files, which share most of what they import. With a process for each file,
// as `node --test` has it, four fifths of the time go into loading the same modules again.
//
//   node scripts/run-tests.ts PATTERN...
//
// What a test changes in its process (environment, signals, prototypes) it has to put back, for other files as for the tests beside it.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './source-files.ts'

/** With more, what a process keeps of all its files becomes much, and few more loads are saved. */
const MOST_FILES_OF_PROCESS = 40
const PROCESSES = Math.max(2, availableParallelism() - 1)

const totals = { passed: 0, failed: 0, skipped: 0 }
let areAllWell = true
const files = process.argv.slice(2).flatMap(filesOf).toSorted()

await Promise.all(
  Array.from({ length: PROCESSES }, async () => {
    while (files.length > 0) await runGroup(files.splice(0, nextSize(files.length)))
  }),
)
const { passed, failed, skipped } = totals
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`)
process.exitCode = areAllWell ? 0 : 1

function filesOf(pattern: string): readonly string[] {
  const found = globSync(pattern, { cwd: root })
  if (found.length === 0) {
    areAllWell = false
    console.log(`run-tests: no test is called ${pattern}`)
  }
  return found
}

/** Half of what would be a process's share of the rest: the last groups are small, and all processes end at about the same time. */
function nextSize(left: number): number {
  return Math.min(MOST_FILES_OF_PROCESS, Math.ceil(left / (2 * PROCESSES)))
}

async function runGroup(group: readonly string[]): Promise<void> {
  const reporter = join(root, 'scripts/test-reporter.ts')
  const args = [
    `--import=${pathToFileURL(join(root, 'scripts/unfollowed-promises.ts')).href}`,
    `--test-reporter=${reporter}`,
    '--test-reporter-destination=stdout',
    join(root, 'scripts/tests-of-process.ts'),
    ...group,
  ]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk))
  const ended = await new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (status, signal) => resolve(signal ?? status ?? 1)),
  )
  const output = Buffer.concat(chunks).toString('utf8')
  const counts = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\n$/m.exec(output)
  totals.passed += Number(counts?.[1] ?? 0)
  totals.failed += Number(counts?.[2] ?? 0)
  totals.skipped += Number(counts?.[3] ?? 0)
  if (ended === 0 && counts !== null) return
  areAllWell = false
  const early = `FAILED  a process ended (${ended}) before its tests did: ${group.join(' ')}\n`
  process.stdout.write(counts === null ? `${output}${early}` : output.replace(counts[0], ''))
}
