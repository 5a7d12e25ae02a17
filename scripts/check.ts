// Every check of the repository, in the order in which they are cheap. `npm test` and CI run all of them.
//
//   node scripts/check.ts [step ...]     only these steps, e.g. `types lint`
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './source-files.ts'

interface Step {
  readonly name: string
  readonly command: readonly string[]
  /** Runs with KUBECTL set to a kubectl that is new enough, and fails when there is none. */
  readonly needsKubectl?: true
}

const bin = (name: string): string => join(root, 'node_modules', '.bin', name)
const node = process.execPath
const testRun = [
  '--test',
  '--test-reporter=./scripts/test-reporter.ts',
  '--test-reporter-destination=stdout',
]
const SOURCES = ['packages', 'scripts', 'tests', 'benchmarks', 'examples']

const steps: readonly Step[] = [
  { name: 'types', command: [bin('tsc'), '--noEmit', '-p', 'tsconfig.json'] },
  {
    name: 'lint',
    command: [bin('oxlint'), '--quiet', ...SOURCES],
  },
  {
    name: 'format',
    command: [bin('oxfmt'), '--check', ...SOURCES],
  },
  { name: 'layers', command: [node, 'scripts/check-layers.ts'] },
  { name: 'spec', command: [node, 'scripts/check-spec.ts'] },
  { name: 'generated', command: [node, 'scripts/generate-api.ts', '--check'] },
  { name: 'reference', command: [node, 'scripts/generate-reference.ts', '--check'] },
  { name: 'units', command: [node, ...testRun, 'packages/*/src/**/*.test.ts'] },
  { name: 'scenarios', command: [node, ...testRun, 'tests/scenarios/*.test.ts'] },
  {
    name: 'examples',
    command: [node, ...testRun, 'examples/**/*.test.ts', 'tests/guides/*.test.ts'],
  },
  {
    name: 'robustness',
    command: [node, ...testRun, 'tests/robustness/*.test.ts', 'tests/faults/*.test.ts'],
  },
  { name: 'simulation', command: [node, ...testRun, 'tests/simulation/*.test.ts'] },
  { name: 'recordings', command: [node, ...testRun, 'tests/recordings/*.test.ts'] },
  {
    name: 'end-to-end',
    command: [node, ...testRun, '--test-concurrency=1', 'tests/end-to-end/*.test.ts'],
    needsKubectl: true,
  },
  {
    name: 'kubectl',
    command: [node, ...testRun, '--test-concurrency=1', 'tests/end-to-end/kubectl/*.test.ts'],
    needsKubectl: true,
  },
]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !steps.some((step) => step.name === name))
if (unknown.length > 0) {
  console.error(
    `check: no step named ${unknown.join(', ')}; there are: ${steps.map(({ name }) => name).join(', ')}`,
  )
  process.exit(2)
}

function withKubectl(command: string, args: readonly string[]): { readonly status: number | null } {
  const found = spawnSync(join(root, 'scripts/find-kubectl.sh'), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (found.status !== 0) return found
  const env = { ...process.env, KUBECTL: found.stdout.trim() }
  return spawnSync(command, args, { cwd: root, stdio: 'inherit', env })
}

const failed: string[] = []
for (const step of steps) {
  if (wanted.length > 0 && !wanted.includes(step.name)) continue
  const startedMs = performance.now()
  const [command = '', ...args] = step.command
  const result = step.needsKubectl
    ? withKubectl(command, args)
    : spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  const ok = result.status === 0
  if (!ok) failed.push(step.name)
  console.log(`${ok ? 'ok' : 'FAILED'}  ${step.name}  ${seconds} s`)
}
console.log(failed.length === 0 ? 'all checks passed' : `failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
