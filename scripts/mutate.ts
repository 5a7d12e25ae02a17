// Changes the sources of chosen files and folders one small place at a time, runs the tests beside them, and lists the
// changes that no test noticed: StrykerJS on a copy of the tree. docs/decisions/0013-mutation-testing.md says why so.
//
//   node scripts/mutate.ts packages/runtime/src/expectations.ts packages/runtime/src/workqueue
//   node scripts/mutate.ts --least 90 packages/controllers/src/job-controller       exit code 1 below 90 %
//   node scripts/mutate.ts --tests FILE.test.ts [--tests ...] FILE                  with fewer tests, where the others beside it take long
//
// Survivors that cannot matter are explained in scripts/mutate/explained.json.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { refusedChanges } from './mutate/refused-changes.ts'
import { pinnedTools } from './pinned-tools.ts'
import { root, sourceFiles } from './source-files.ts'

/** Texts are checked where they matter; a changed message that nobody notices says nothing. */
const NOT_MADE = ['StringLiteral']
const SURVIVED = ['Survived', 'NoCoverage']
const LONG_MS = 3_000
const NODE_ARGUMENTS =
  '--test-reporter=tap -r ./scripts/mutate/end-hangs.cjs -r {{hookFile}} {{testFile}}'

interface Explained {
  readonly file: string
  /** The line of the source as it stands there, without its indentation. */
  readonly line: string
  readonly change: string
  readonly why: string
}

interface Mutant {
  readonly mutatorName: string
  readonly replacement?: string
  readonly status: string
  readonly location: Readonly<Record<'start' | 'end', { line: number; column: number }>>
}

interface Report {
  readonly files: Readonly<Record<string, { source: string; mutants: readonly Mutant[] }>>
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    least: { type: 'string', default: '0' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    tests: { type: 'string', multiple: true },
  },
})
const [least, jobs] = [Number(values.least), Number(values.jobs)]
const missing = positionals.filter((path) => !existsSync(path))
if (missing.length > 0) usage(`there is no ${missing.join(', ')}`)
if (!(least >= 0 && least <= 100)) usage(`--least ${values.least} is no percentage`)
if (!(Number.isInteger(jobs) && jobs > 0)) usage(`--jobs ${values.jobs} is no number of jobs`)
const files = [...new Set(positionals.flatMap(filesOf))]
if (files.length === 0) usage('no sources are named')
const tools = pinnedTools('mutate')
const tree = copiedTree()
try {
  stryker()
  const report = JSON.parse(readFileSync(join(tree, 'mutants.json'), 'utf8')) as Report
  process.exitCode = summary(report) < least ? 1 : 0
} finally {
  rmSync(tree, { recursive: true, force: true })
}

function usage(problem: string): never {
  console.error(
    `mutate: ${problem}\nusage: node scripts/mutate.ts [--least PERCENT] [--jobs N] [--tests FILE]... FILE_OR_FOLDER...`,
  )
  process.exit(2)
}

function filesOf(argument: string): readonly string[] {
  const path = relative(root, resolve(argument))
  if (path.endsWith('.ts')) return [path]
  return sourceFiles(path)
    .map((file) => file.path)
    .filter((file) => !/\.test\.ts$|\/testing\/|[/-]fixtures\.ts$/.test(file))
}

/** Beside the files, or those that were named. A controller that has folders is tested by all of them together. */
function tests(): readonly string[] {
  if (values.tests !== undefined) return values.tests.map((path) => relative(root, resolve(path)))
  const beside = [...new Set(files.map((file) => dirname(file)))].flatMap((folder) => {
    const part = /^packages\/[^/]+\/src\/[^/]+/.exec(folder)?.[0]
    const found = part === undefined ? directly(folder) : sourceFiles(part).map(({ path }) => path)
    return found.filter((path) => path.endsWith('.test.ts'))
  })
  return soonestFirst([...new Set(beside)])
}

function directly(folder: string): readonly string[] {
  return readdirSync(join(root, folder)).map((name) => join(folder, name))
}

/** The first test file that fails ends the tries of a change: those of the same name first, those that take long last. */
function soonestFirst(testFiles: readonly string[]): readonly string[] {
  const names = new Set(files.map((file) => file.replace(/\.ts$/, '.test.ts')))
  const timed = testFiles.map((file) => {
    const startMs = performance.now()
    spawnSync(process.execPath, [file], { cwd: root, stdio: 'ignore' })
    const isLong = performance.now() - startMs > LONG_MS
    return { file, rank: (isLong ? 2 : 0) + (names.has(file) ? 0 : 1) }
  })
  return timed.toSorted((a, b) => a.rank - b.rank).map(({ file }) => file)
}

/** What git knows or would know, with the packages of the copy under their names: Stryker changes files where they are. */
function copiedTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gyropilot-mutate-'))
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root })
  for (const file of listed.toString().trim().split('\n')) {
    if (
      !/^(packages|scripts|tests\/recordings)\/|^[^/]+\.json$/.test(file) ||
      !existsSync(join(root, file))
    )
      continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@gyropilot'), { recursive: true })
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(`../../packages/${name}`, join(modules, '@gyropilot', name))
  for (const from of [join(root, 'node_modules'), tools]) {
    for (const name of readdirSync(from)) {
      if (!existsSync(join(modules, name))) symlinkSync(join(from, name), join(modules, name))
    }
  }
  return folder
}

function stryker(): void {
  const configuration = {
    testRunner: 'tap',
    tap: {
      testFiles: tests(),
      nodeArgs: NODE_ARGUMENTS.split(' '),
    },
    mutate: files,
    mutator: { excludedMutations: NOT_MADE },
    plugins: ['@stryker-mutator/tap-runner', './scripts/mutate/ignore-logging.mjs'],
    ignorers: ['logging'],
    reporters: ['json', 'progress'],
    jsonReporter: { fileName: 'mutants.json' },
    concurrency: jobs,
    coverageAnalysis: 'perTest',
    inPlace: true,
    disableTypeChecks: false,
    // For what end-hangs.cjs does not end sooner.
    timeoutMS: 300_000,
  }
  mkdirSync(join(tree, 'usual-times'))
  writeFileSync(join(tree, 'stryker.conf.json'), JSON.stringify(configuration))
  const entry = join(tools, '@stryker-mutator/core/bin/stryker.js')
  const path = `${dirname(process.execPath)}:${process.env.PATH}`
  const run = spawnSync(process.execPath, [entry, 'run', '--logLevel', 'error'], {
    cwd: tree,
    stdio: 'inherit',
    // Most of what a test file takes is its imports.
    env: { ...process.env, PATH: path, NODE_COMPILE_CACHE: join(tree, 'compile-cache') },
  })
  if (run.status !== 0) throw new Error('Stryker failed')
}

/** What no test noticed, and nobody could write: `of.name.first` where there may be no name. */
function refusedAmong(changed: Report['files']): ReadonlySet<Mutant> {
  const survivors = Object.entries(changed).flatMap(([file, { mutants }]) =>
    mutants
      .filter(({ status }) => SURVIVED.includes(status))
      .map((mutant) => ({ mutant, file, ...mutant, replacement: mutant.replacement ?? '' })),
  )
  const compiler = join(root, 'node_modules/.bin/tsc')
  return new Set([...refusedChanges(tree, compiler, survivors)].map(({ mutant }) => mutant))
}

/** The share of what is killed, refused or explained, in percent. */
function summary({ files: changed }: Report): number {
  const known = readFileSync(join(import.meta.dirname, 'mutate/explained.json'), 'utf8')
  const explained = JSON.parse(known) as readonly Explained[]
  const refused = refusedAmong(changed)
  let [made, explainedCount, survivors] = [0, 0, 0]
  for (const [file, { source, mutants }] of Object.entries(changed)) {
    const lines = source.split('\n')
    const counted = mutants.filter(
      ({ status }) => status !== 'Ignored' && !status.endsWith('Error'),
    )
    const left = counted.filter(({ status }) => SURVIVED.includes(status))
    const open = left.filter((mutant) => {
      if (refused.has(mutant)) return false
      const line = lines[mutant.location.start.line - 1]!.trim()
      const change = changeOf(lines, mutant)
      return !explained.some((e) => e.file === file && e.line === line && e.change === change)
    })
    made += counted.length
    explainedCount +=
      left.length - open.length - left.filter((mutant) => refused.has(mutant)).length
    survivors += open.length
    console.log(`${file}: ${counted.length - left.length} of ${counted.length}`)
    for (const mutant of open) {
      const { line, column } = mutant.location.start
      console.log(`  ${line}:${column}  ${changeOf(lines, mutant)}   in ${lines[line - 1]!.trim()}`)
    }
  }
  const noticed = made - explainedCount - survivors - refused.size
  const percent = made === 0 ? 100 : (100 * (made - survivors)) / made
  console.log(
    `${made} changes: ${noticed} noticed, ${refused.size} refused by the compiler, ${explainedCount} explained, ${survivors} survive: ${percent.toFixed(1)} %`,
  )
  return percent
}

/** `what it was -> what it is`, in one line. */
function changeOf(lines: readonly string[], { location, replacement }: Mutant): string {
  const { start, end } = location
  const text = lines.slice(start.line - 1, end.line)
  text[text.length - 1] = text.at(-1)!.slice(0, end.column - 1)
  text[0] = text[0]!.slice(start.column - 1)
  return `${short(text.join(' '))} -> ${short(replacement ?? '')}`
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 90 ? `${line.slice(0, 87)}...` : line
}
