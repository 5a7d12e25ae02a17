import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

/** What comes of files of tests in which these lines stand. */
function outcomeOf(files: Readonly<Record<string, string>>): {
  status: number | null
  output: string
} {
  const folder = mkdtempSync(join(tmpdir(), 'run-tests-'))
  for (const [name, lines] of Object.entries(files))
    writeFileSync(
      join(folder, `${name}.test.ts`),
      `import assert from 'node:assert/strict'\nimport { after, suite, test } from 'node:test'\n${lines}\n`,
    )
  const args = [join(import.meta.dirname, 'run-tests.ts'), join(folder, '*.test.ts')]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  })
  rmSync(folder, { recursive: true })
  return { status, output: `${stdout}${stderr}` }
}

const PASSING = `suite('s', () => { test('in a suite', () => {}) }); test('alone', (t) => t.test('below', () => {}))`

test('tests of all files are counted, and neither files nor suites', () => {
  const { status, output } = outcomeOf({
    a: PASSING,
    b: PASSING,
    c: `test.skip('not now', () => {})`,
  })
  assert.deepEqual([status, output], [0, '6 passed, 0 failed, 1 skipped\n'])
})

test('a file is loaded when the tests of the one before have ended', () => {
  const { status, output } = outcomeOf({
    a: `globalThis.ended = false
        test('late', () => new Promise((resolve) => setImmediate(resolve)))
        after(() => { globalThis.ended = true })`,
    // Alone in its process, or behind a.
    b: `const { ended } = globalThis; test('b', () => assert.notEqual(ended, false))`,
  })
  assert.deepEqual([status, output], [0, '2 passed, 0 failed\n'])
})

for (const [what, lines, told] of [
  ['a test fails', `test('wrong', () => assert.fail('so it is'))`, 'so it is'],
  ['a file cannot be loaded', `throw new Error('no such luck')`, 'no such luck'],
  ['a hook fails', `after(() => assert.fail('not put away')); test('x', () => {})`, 'not put away'],
  [
    'an error is not caught',
    `const laterMs = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
     test('x', async () => { await laterMs(1); setTimeout(() => { throw new Error('nobody heard') }, 1); await laterMs(20) })`,
    'nobody heard',
  ],
  [
    'a promise is rejected that nobody awaits',
    `test('x', async () => { await 1; Promise.reject(new Error('nobody heard')); await new Promise(setImmediate) })`,
    'nobody heard',
  ],
  ['a file awaits outside its tests', `await 1; test('x', () => {})`, 'ERR_REQUIRE_ASYNC_MODULE'],
  ['a process ends early', `test('x', () => process.exit(0))`, 'before its tests did'],
  ['a process is killed', `test('x', () => { process.kill(process.pid, 'SIGKILL') })`, 'SIGKILL'],
] as const) {
  test(`it fails when ${what}, says what, and runs the others`, () => {
    const { status, output } = outcomeOf({ a: PASSING, b: lines, c: PASSING })
    assert.equal(status, 1, output)
    assert.match(output, new RegExp(told))
    assert.match(output, /[36789] passed, \d failed\n$/)
  })
}

test('it fails when a pattern names no file', () => {
  const { status, output } = outcomeOf({})
  assert.equal(status, 1)
  assert.match(output, /no test is called/)
})
