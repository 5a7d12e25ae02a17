import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { readFileSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'

const MAIN = `import { greeting } from './greeting.ts'
const args: string[] = process.argv.slice(2)
console.log(greeting, process.argv[1]!.endsWith('main.ts'), import.meta.filename.endsWith('main.ts'), ...args)
if (args[0] === 'later') console.log((await import('./later.ts')).later as string)
if (args[0] === 'fail') throw new Error('as asked')
`

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'packed-start-'))
  for (const folder of ['scripts', 'packages/program', 'node_modules'])
    mkdirSync(join(root, folder), { recursive: true })
  copyFileSync(
    join(import.meta.dirname, 'packed-start.mjs'),
    join(root, 'scripts/packed-start.mjs'),
  )
  write('package-lock.json', '{}')
  write('packages/program/package.json', '{"type":"module"}')
  write('packages/program/main.ts', MAIN)
  write('packages/program/greeting.ts', "export const greeting: string = 'hello'\n")
  write('packages/program/later.ts', "export const later: string = 'later on'\n")
})

afterEach(() => rmSync(root, { recursive: true }))

function write(path: string, text: string): void {
  writeFileSync(join(root, path), text)
}

function run(...args: string[]) {
  const flags = ['--disable-warning=ExperimentalWarning', 'scripts/packed-start.mjs']
  const child = spawnSync(process.execPath, [...flags, 'packages/program/main.ts', ...args], {
    cwd: root,
    encoding: 'utf8',
  })
  return { status: child.status, stdout: child.stdout, stderr: child.stderr }
}

const cache = (): string => join(root, 'node_modules/.cache/gyropilot')

function packed(): string[] {
  const [file = ''] = readdirSync(cache())
  const { sources } = JSON.parse(readFileSync(join(cache(), file), 'utf8')) as { sources: object }
  return Object.keys(sources).map((url) => url.slice(url.lastIndexOf('/') + 1))
}

test('a program starts the same without a pack and with one: arguments, its own name, its exit code', () => {
  for (const _ of ['first', 'second']) {
    assert.deepEqual(run('a', 'b'), { status: 0, stdout: 'hello true true a b\n', stderr: '' })
    const failed = run('fail')
    assert.equal(failed.status, 1)
    // Stripping leaves every line where it was.
    assert.match(failed.stderr, /packages\/program\/main\.ts:5[\s\S]*as asked/)
  }
})

test('the second start runs what the first one packed', () => {
  run()
  assert.deepEqual(packed().toSorted(), ['greeting.ts', 'main.ts'])
  const [file = ''] = readdirSync(cache())
  const path = join(cache(), file)
  writeFileSync(path, readFileSync(path, 'utf8').replace("'hello'", "'from the pack'"))
  assert.equal(run().stdout, 'from the pack true true\n')
})

test('what is loaded later is added', () => {
  run()
  assert.equal(run('later').stdout, 'hello true true later\nlater on\n')
  assert.deepEqual(packed().toSorted(), ['greeting.ts', 'later.ts', 'main.ts'])
  assert.equal(run('later').stdout, 'hello true true later\nlater on\n')
})

test('a changed source is seen, of the same length too, and so is another list of packages', () => {
  run()
  const path = join(root, 'packages/program/greeting.ts')
  write('packages/program/greeting.ts', "export const greeting: string = 'hallo'\n")
  utimesSync(path, 1_000_000, 1_000_000)
  assert.equal(run().stdout, 'hallo true true\n')
  write('package-lock.json', '{ }')
  run()
  const [file = ''] = readdirSync(cache())
  const { stamps } = JSON.parse(readFileSync(join(cache(), file), 'utf8')) as {
    stamps: Record<string, string>
  }
  assert.match(stamps[join(root, 'package-lock.json')]!, / 3$/)
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
  const [file = ''] = readdirSync(cache())
  for (const text of ['', '{', 'null', '{"stamps":{}}']) {
    writeFileSync(join(cache(), file), text)
    assert.equal(run().stdout, 'hello true true\n')
    assert.deepEqual(packed().toSorted(), ['greeting.ts', 'main.ts'])
  }
})

test('where nothing can be written, programs start nevertheless', () => {
  write('node_modules/.cache', 'a file')
  for (const _ of ['first', 'second'])
    assert.deepEqual(run(), { status: 0, stdout: 'hello true true\n', stderr: '' })
})
