// Every check of the repository. `npm test` and CI run all of them: first what is cheap, one after the other, then two lanes
// beside each other, because half of the tests compute and the other half mostly wait.
//
//   node scripts/check.ts [step ...]     only these steps, e.g. `types lint`; `nightly`: those that no other run has
import { spawn, spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { root } from './source-files.ts'

interface Step {
  readonly name: string
  readonly command: readonly string[]
  /** Absent: cheap, before all others. What computes gives way to what waits: that has bounds on a person's clock. */
  readonly lane?: 'computing' | 'waiting'
  /** Beside what it inherits. */
  readonly env?: Readonly<Record<string, string>>
  /** Runs with KUBECTL set to a kubectl that is new enough, and fails when there is none. */
  readonly needsKubectl?: true
  /** Runs with this one instead. */
  readonly kubectl?: string
  /** Runs with the one that scripts/find-client.sh gives by this name. */
  readonly fetchedKubectl?: string
  /** Takes too long for every change, or fetches what is large: runs when it is named, and with the word `nightly`. */
  readonly nightly?: true
}

const bin = (name: string): string => join(root, 'node_modules', '.bin', name)
const node = process.execPath
const testRun = [
  '--import=./scripts/unfollowed-promises.ts',
  '--test',
  '--test-reporter=./scripts/test-reporter.ts',
  '--test-reporter-destination=stdout',
]
/** Each file has a cluster of its own, and waits most of the time. */
const kubectlRun = [...testRun, '--test-concurrency=2']
/** What computes takes every core that what waits leaves idle. */
const computingRun = ['scripts/run-tests.ts']
/**
 * Dozens of processes load the same modules. Node strips and compiles each of them once: 60 files of tests, each in a process of its
 * own, took 36 s of CPU without this, 24 s the first time with it, 19 s from then on. Not for steps that run programs: those keep what
 * they compiled themselves.
 */
const compiled = join(root, 'node_modules', '.cache', 'compiled-tests')
const simulateRun = [join(root, 'bin/gyro'), 'simulate']
const SOURCES = ['packages', 'scripts', 'tests', 'benchmarks', 'examples']

const everyStep: readonly Step[] = [
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
  { name: 'exports', command: [node, 'scripts/check-exports.ts'] },
  { name: 'spec', command: [node, 'scripts/check-spec.ts'] },
  { name: 'generated', command: [node, 'scripts/generate-api.ts', '--check'] },
  { name: 'reference', command: [node, 'scripts/generate-reference.ts', '--check'] },
  {
    name: 'units',
    lane: 'computing',
    command: [node, ...computingRun, 'packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
  },
  {
    name: 'scenarios',
    lane: 'computing',
    command: [node, ...computingRun, 'tests/scenarios/*.test.ts'],
  },
  {
    name: 'examples',
    lane: 'waiting',
    command: [node, ...testRun, 'examples/**/*.test.ts', 'tests/guides/*.test.ts'],
  },
  {
    name: 'robustness',
    lane: 'computing',
    command: [node, ...computingRun, 'tests/robustness/*.test.ts', 'tests/faults/*.test.ts'],
  },
  {
    name: 'simulation',
    lane: 'computing',
    command: [node, ...computingRun, 'tests/simulation/*.test.ts'],
  },
  {
    name: 'packages',
    // One process at a time: beside what computes it takes the core that is left.
    lane: 'waiting',
    command: [node, ...testRun, 'tests/packages/*.test.ts'],
  },
  {
    name: 'recordings',
    lane: 'waiting',
    // Answers wait for what a real server took its time for; scenarios for the pace of their shared clock.
    command: [node, ...testRun, '--test-concurrency=2', 'tests/recordings/*.test.ts'],
  },
  {
    name: 'end-to-end',
    lane: 'waiting',
    command: [node, ...testRun, '--test-concurrency=1', 'tests/end-to-end/*.test.ts'],
    needsKubectl: true,
  },
  {
    name: 'kubectl',
    lane: 'waiting',
    command: [node, ...kubectlRun, 'tests/end-to-end/kubectl/*.test.ts'],
    needsKubectl: true,
  },
  {
    name: 'clients',
    lane: 'waiting',
    command: [node, ...testRun, '--test-concurrency=1', 'tests/clients/*.test.ts'],
    needsKubectl: true,
  },
  {
    name: 'more-clients',
    lane: 'waiting',
    command: [node, ...testRun, '--test-concurrency=1', 'tests/clients/nightly/*.test.ts'],
    needsKubectl: true,
    nightly: true,
  },
  {
    name: 'more-packages',
    lane: 'waiting',
    command: [node, ...testRun, 'tests/packages/*.test.ts'],
    env: { EVERY_NODE: '1' },
    nightly: true,
  },
  {
    name: 'more-recordings',
    lane: 'waiting',
    command: [node, ...testRun, 'tests/recordings/nightly/*.test.ts'],
    nightly: true,
  },
  {
    name: 'more-simulation',
    lane: 'computing',
    command: [...simulateRun, '--explore', '--stride=17', '--seed=explore'],
    nightly: true,
  },
  {
    name: 'more-random-users',
    lane: 'computing',
    command: [...simulateRun, '--seed=night', '--seeds=60', '--intensity=2', '--shrink=0'],
    nightly: true,
  },
  ...['1.32', '1.33', '1.34', '1.35', '1.36'].map((version): Step => ({
    name: `kubectl-${version}`,
    lane: 'waiting',
    command: [node, ...kubectlRun, 'tests/end-to-end/kubectl/*.test.ts'],
    needsKubectl: true,
    fetchedKubectl: `kubectl-${version}`,
    nightly: true,
  })),
]

/**
 * A second kubectl, of another version, is used for what the versions do differently most: streams over WebSocket or SPDY.
 * All tests with each version are a nightly matter.
 */
const BY_VERSION = ['streams']
const { ALSO_KUBECTL } = process.env
const steps = everyStep.flatMap((step) =>
  step.name === 'kubectl' && ALSO_KUBECTL
    ? [
        step,
        {
          ...step,
          name: 'kubectl-once-more',
          command: [
            ...step.command.slice(0, -1),
            ...BY_VERSION.map((name) => `tests/end-to-end/kubectl/${name}.test.ts`),
          ],
          kubectl: ALSO_KUBECTL,
        },
      ]
    : [step],
)

const NIGHTLY = 'nightly'
const wanted = process.argv.slice(2)
const unknown = wanted.filter(
  (name) => name !== NIGHTLY && !steps.some((step) => step.name === name),
)
if (unknown.length > 0) {
  console.error(
    `check: no step named ${unknown.join(', ')}; there are: ${steps.map(({ name }) => name).join(', ')}`,
  )
  process.exit(2)
}

const chosen = steps.filter(({ name, nightly }) =>
  nightly === undefined
    ? wanted.length === 0 || wanted.includes(name)
    : wanted.includes(NIGHTLY) || wanted.includes(name),
)
// Node's test runner is content with no file at all: a folder with another name would pass for ever.
const empty = chosen.flatMap(({ name, command }) =>
  command
    .filter((arg) => arg.endsWith('.test.ts') && globSync(arg, { cwd: root }).length === 0)
    .map((pattern) => `${name}: no test is called ${pattern}`),
)
if (empty.length > 0) {
  console.error(`check: ${empty.join('; ')}`)
  process.exit(2)
}
const inLane = (lane: Step['lane']): readonly Step[] => chosen.filter((step) => step.lane === lane)
const failed: string[] = []

for (const step of inLane(undefined)) await run(step)
const lanes = [inLane('computing'), inLane('waiting')]
const areBoth = lanes.every((lane) => lane.length > 0)
await Promise.all(
  lanes.map(async (lane) => {
    for (const step of lane) await run(step, areBoth)
  }),
)
console.log(failed.length === 0 ? 'all checks passed' : `failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1

/** Prints what a step says when it has ended: lanes do not talk into each other. */
async function run(step: Step, beside = false): Promise<void> {
  const startedMs = performance.now()
  const { status, output } = await outcome(step, beside)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  if (status !== 0) failed.push(step.name)
  process.stdout.write(`${output}${status === 0 ? 'ok' : 'FAILED'}  ${step.name}  ${seconds} s\n`)
}

interface Outcome {
  readonly status: number | null
  readonly output: string
}

function outcome(step: Step, beside: boolean): Promise<Outcome> {
  const env = environmentOf(step)
  if (env === undefined) return Promise.resolve({ status: 1, output: '' })
  const [command = '', ...args] = step.command
  const child = spawn(command, args, { cwd: root, env, stdio: ['inherit', 'pipe', 'pipe'] })
  if (beside && step.lane === 'computing' && child.pid !== undefined)
    setPriority(child.pid, constants.priority.PRIORITY_LOW)
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
  return new Promise((resolve) => {
    const end = (status: number | null, text = ''): void =>
      resolve({ status, output: Buffer.concat(chunks).toString('utf8') + text })
    child.once('error', (error) => end(1, `${error.message}\n`))
    child.once('close', (status) => end(status))
  })
}

/** Undefined: there is no kubectl, and find-kubectl.sh has said why. */
function environmentOf(step: Step): NodeJS.ProcessEnv | undefined {
  const { lane, needsKubectl, kubectl, fetchedKubectl } = step
  const env = { ...process.env, ...step.env }
  if (lane === 'computing') return { ...env, NODE_COMPILE_CACHE: compiled }
  if (needsKubectl === undefined) return env
  if (kubectl !== undefined) return { ...env, KUBECTL: kubectl }
  const [script, args] =
    fetchedKubectl === undefined ? ['find-kubectl.sh', []] : ['find-client.sh', [fetchedKubectl]]
  const found = spawnSync(join(root, 'scripts', script), args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return found.status === 0 ? { ...env, KUBECTL: found.stdout.trim() } : undefined
}
