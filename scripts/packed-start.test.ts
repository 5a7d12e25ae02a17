import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import type { SpawnSyncOptions } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'

const MAIN = `import { greeting } from './greeting.ts'
const args: string[] = process.argv.slice(2)
console.log(greeting, process.argv[1]!.endsWith('main.ts'), import.meta.filename.endsWith('main.ts'), ...args)
if (args[0] === 'later') console.log((await import('./later.ts')).later as string)
if (args[0] === 'fail') throw new Error('as asked')
if (args[0] === 'fail later') (await import('./later.ts')).fail()
`
/** The same without an await at its top. */
const SCRIPT = `import { greeting } from './greeting.ts'
const args: string[] = process.argv.slice(2)
async function main() {
  console.log(greeting, process.argv[1]!.endsWith('main.ts'), import.meta.filename.endsWith('main.ts'), ...args)
  if (args[0] === 'later') console.log((await import('./later.ts')).later as string)
  if (args[0] === 'fail') throw new Error('as asked')
  if (args[0] === 'fail later') (await import('./later.ts')).fail()
}
void main()
`
const LATER = `interface Nothing {}
export const later: string = 'later on'
export function fail(): Nothing {
  throw new TypeError('as asked')
}
`
const repository = join(import.meta.dirname, '..')

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'packed-start-'))
  for (const folder of ['scripts', 'packages/program', 'node_modules'])
    mkdirSync(join(root, folder), { recursive: true })
  for (const script of ['packed-start.cjs', 'bundle-program.mjs'])
    copyFileSync(join(import.meta.dirname, script), join(root, 'scripts', script))
  symlinkSync(join(repository, 'node_modules/esbuild'), join(root, 'node_modules/esbuild'))
  write('package-lock.json', '{}')
  write('packages/program/package.json', '{"type":"module"}')
  write('packages/program/main.ts', MAIN)
  write('packages/program/greeting.ts', "export const greeting: string = 'hello'\n")
  write('packages/program/later.ts', LATER)
})

afterEach(() => rmSync(root, { recursive: true }))

function write(path: string, text: string): void {
  writeFileSync(join(root, path), text)
}

function run(...args: string[]) {
  return runIn(root, ...args)
}

function runIn(cwd: string, ...args: string[]) {
  const flags = ['--disable-warning=ExperimentalWarning', 'scripts/packed-start.cjs']
  // Node would keep what it compiles there instead of where the program says.
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  return node([...flags, 'packages/program/main.ts', ...args], { cwd, env })
}

function node(args: readonly string[], options: SpawnSyncOptions = { cwd: root }) {
  const child = spawnSync(process.execPath, args, { ...options, encoding: 'utf8' })
  return { status: child.status, stdout: child.stdout, stderr: child.stderr }
}

const HELLO = { status: 0, stdout: 'hello true true\n', stderr: '' }

function cache(): string {
  const folder = join(root, 'node_modules/.cache/gyropilot')
  return join(folder, readdirSync(folder).join(' and '))
}

interface Index {
  readonly folder: string
  readonly stamps: Readonly<Record<string, readonly [modifiedMs: number, bytes: number]>>
}

function index(): Index {
  return JSON.parse(readFileSync(join(cache(), 'index.json'), 'utf8')) as Index
}

test('a program starts the same without a pack and with one: arguments, its own name, its exit code, its stack traces', () => {
  for (const _ of ['first', 'second']) {
    assert.deepEqual(run('a', 'b'), { status: 0, stdout: 'hello true true a b\n', stderr: '' })
    assert.equal(run('later').stdout, 'hello true true later\nlater on\n')
    for (const [how, place] of [
      ['fail', 'main.ts:5:31'],
      ['fail later', 'later.ts:4:9'],
    ] as const) {
      const failed = run(how)
      assert.equal(failed.status, 1)
      assert.match(failed.stderr, new RegExp(`Error: as asked\\n +at .*packages/program/${place}`))
    }
  }
})

test('the second start runs what the first one packed, and the third what V8 made of it', () => {
  run()
  const { folder } = index()
  const path = join(folder, 'program.mjs')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"hello"', '"from the pack"'))
  assert.ok(!existsSync(join(folder, 'compiled')))
  for (const _ of ['second', 'third']) {
    assert.equal(run().stdout, 'from the pack true true\n')
    assert.equal(readdirSync(join(folder, 'compiled')).length, 1)
  }
})

test('a program that awaits nothing while it is loaded is one script, of which V8 keeps what it compiled at the end of a short life', () => {
  write('packages/program/main.ts', SCRIPT)
  run()
  const { folder } = index()
  const path = join(folder, 'program.cjs')
  writeFileSync(path, readFileSync(path, 'latin1').replace('"hello"', '"from the pack"'))
  const kept = () => readdirSync(folder).filter((name) => name.includes('-compiled-'))
  assert.deepEqual(kept(), [])
  for (const _ of ['second', 'third']) {
    assert.equal(run().stdout, 'from the pack true true\n')
    assert.equal(kept().length, 1)
    assert.match(kept()[0]!, /-short$/)
  }
})

test('such a script loads late what is to be loaded late, and its stack traces name the sources', () => {
  write('packages/program/main.ts', SCRIPT)
  for (const _ of ['first', 'second', 'third']) {
    assert.equal(run('later').stdout, 'hello true true later\nlater on\n')
    for (const [how, place] of [
      ['fail', 'main.ts:6:33'],
      ['fail later', 'later.ts:4:9'],
    ] as const) {
      const failed = run(how)
      assert.equal(failed.status, 1)
      assert.match(failed.stderr, new RegExp(`Error: as asked\\n +at .*packages/program/${place}`))
    }
  }
})

test('what V8 compiled is made anew when it is damaged, and what a long life left is preferred to that of a short one', () => {
  write('packages/program/main.ts', SCRIPT)
  run()
  run()
  const { folder } = index()
  const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('-short'))
  const short = join(folder, name)
  const good = readFileSync(short)
  const bad = Buffer.from(good)
  bad[bad.length >> 1]! ^= 1
  writeFileSync(short, bad)
  assert.deepEqual(run(), HELLO)
  assert.notDeepEqual(readFileSync(short), bad)
  writeFileSync(short.replace(/-short$/, ''), good)
  writeFileSync(short, bad)
  assert.deepEqual(run(), HELLO)
  assert.deepEqual(readFileSync(short), bad)
})

test('modules of Node are loaded while V8 has the flags that they were compiled with, and the program with those of the launcher', () => {
  const tag = 'require("node:v8").cachedDataVersionTag()'
  write(
    'packages/program/main.ts',
    "import { cachedDataVersionTag } from 'node:v8'\nconsole.log(cachedDataVersionTag())\n",
  )
  write(
    'watch.cjs',
    `const nodeModule = require('node:module')
const load = nodeModule._load
nodeModule._load = (name, ...rest) => {
  if (name === 'node:cluster') console.log(${tag})
  return load(name, ...rest)
}
`,
  )
  const launcher = ['bin/kube-controller-manager', 'scripts/small-node.sh']
    .map((path) => readFileSync(join(repository, path), 'utf8'))
    .join('')
  const flags = launcher.match(/--[a-z-]+=\d+/g)!
  assert.ok(flags.length > 4)
  const start = ['--require=./watch.cjs', 'scripts/packed-start.cjs', 'packages/program/main.ts']
  const expected = node(['-p', tag]).stdout + node([...flags, '-p', tag]).stdout
  for (const _ of ['first', 'second', 'third'])
    assert.equal(node([...flags, ...start]).stdout, expected)
})

test('who waits at a terminal for the first start is told why, and the line is taken back', () => {
  write('terminal.cjs', 'process.stderr.isTTY = true')
  const start = ['--require=./terminal.cjs', 'scripts/packed-start.cjs', 'packages/program/main.ts']
  const { stdout, stderr } = node(start)
  assert.equal(stdout, HELLO.stdout)
  assert.match(stderr, /^(Putting the modules of the program together.*)\r +\r$/)
  assert.deepEqual(node(start), HELLO)
})

test('a changed source is seen, of the same length too, and so is another list of packages', () => {
  run()
  const path = join(root, 'packages/program/greeting.ts')
  write('packages/program/greeting.ts', "export const greeting: string = 'hallo'\n")
  utimesSync(path, 1_000_000, 1_000_000)
  assert.equal(run().stdout, 'hallo true true\n')
  write('package-lock.json', '{ }')
  run()
  assert.equal(index().stamps[join(root, 'package-lock.json')]![1], 3)
})

test('a copied checkout runs its own sources, not those of the one that it was copied from', () => {
  assert.deepEqual(run(), HELLO)
  const copy = `${root}-copy`
  cpSync(root, copy, { recursive: true, preserveTimestamps: true })
  try {
    const greeting = "export const greeting: string = 'howdy'\n"
    writeFileSync(join(copy, 'packages/program/greeting.ts'), greeting)
    assert.deepEqual(runIn(copy), { ...HELLO, stdout: 'howdy true true\n' })
  } finally {
    rmSync(copy, { recursive: true })
  }
})

test('a source that is gone is missed as without a pack', () => {
  run()
  rmSync(join(root, 'packages/program/greeting.ts'))
  const { status, stderr } = run()
  assert.equal(status, 1)
  assert.match(stderr, /Cannot find module.*greeting\.ts/)
})

test('a pack that is damaged is made anew', () => {
  run()
  for (const damage of [
    () => writeFileSync(join(cache(), 'index.json'), '{'),
    () => writeFileSync(join(cache(), 'index.json'), '{}'),
    () => rmSync(join(index().folder, 'program.mjs')),
  ]) {
    damage()
    assert.deepEqual(run(), HELLO)
    assert.ok(existsSync(join(index().folder, 'program.mjs')))
  }
})

test('files of former sources are left for a day to those who run them', () => {
  run()
  const { folder } = index()
  write('package-lock.json', '{ }')
  run()
  assert.ok(existsSync(folder))
  utimesSync(folder, 1_000_000, 1_000_000)
  write('package-lock.json', '{  }')
  run()
  assert.ok(!existsSync(folder))
  assert.equal(readdirSync(cache()).length, 3)
})

test('where nothing can be written, or nothing can pack, programs start nevertheless', () => {
  write('node_modules/.cache', 'a file')
  assert.deepEqual(run(), HELLO)
  rmSync(join(root, 'node_modules/.cache'))
  rmSync(join(root, 'node_modules/esbuild'))
  assert.deepEqual(run(), HELLO)
})

test('what is packed of the real programs is ASCII: of other text V8 keeps two bytes for each character', () => {
  for (const program of ['manager', 'gyro']) {
    const main = join(repository, `packages/${program}/src/main.ts`)
    const folder = join(root, program)
    const child = spawnSync(process.execPath, ['scripts/bundle-program.mjs', main, folder], {
      cwd: repository,
    })
    assert.equal(child.status, 0)
    const files = readdirSync(folder).filter((name) => /\.[cm]js$/.test(name))
    assert.ok(files.includes(program === 'gyro' ? 'program.mjs' : 'program.cjs'), files.join(' '))
    for (const name of files) {
      const text = readFileSync(join(folder, name))
      const at = text.findIndex((byte) => byte > 127)
      assert.equal(at, -1, `${name}: ${text.toString('utf8', Math.max(0, at - 80), at + 20)}`)
    }
  }
})
