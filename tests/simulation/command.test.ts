/** `gyro simulate` as a user runs it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const main = join(import.meta.dirname, '../../packages/gyro/src/main.ts')
const folder = mkdtempSync(join(tmpdir(), 'simulate-'))
after(() => rmSync(folder, { recursive: true }))

function gyro(...args: readonly string[]) {
  return spawnSync(process.execPath, [main, 'simulate', ...args], {
    encoding: 'utf8',
    timeout: 120_000,
  })
}

const broken = join(folder, 'broken.mjs')
writeFileSync(
  broken,
  `export default { name: 'broken', async play() {}, *ends() { yield 'it is broken' } }\n`,
)

test('a violation ends with exit code 1 and the line that plays it again', () => {
  const first = gyro('--scenario', broken, '--seed', '5', '--minutes', '1')
  assert.equal(first.status, 1)
  assert.match(first.stdout, /scenario: it is broken/)
  const [, line = ''] = /play it again: gyro simulate (.*)/.exec(first.stdout) ?? []
  const again = gyro(...line.split(' ').map((word) => word.replaceAll("'", '')))
  assert.equal(again.status, 1)
  assert.equal(historyOf(again.stdout), historyOf(first.stdout))
})

function historyOf(text: string): string {
  return /history\s+([0-9a-f]{64})/.exec(text)?.[1] ?? assert.fail(text)
}

test('as JSON a violation is in the one object that is printed', () => {
  const { status, stdout } = gyro(
    '--scenario',
    broken,
    '--seed',
    '5',
    '--minutes',
    '1',
    '--output',
    'json',
  )
  assert.equal(status, 1)
  const { seed, violations } = JSON.parse(stdout)
  assert.equal(seed, '5')
  assert.deepEqual(
    violations.map(({ message }: { message: string }) => message),
    ['it is broken'],
  )
})

test('several seeds are summed up', () => {
  const { status, stdout } = gyro(
    '--seed',
    'x',
    '--seeds',
    '2',
    '--minutes',
    '1',
    '--output',
    'json',
  )
  assert.equal(status, 0)
  const { runs, writes } = JSON.parse(stdout)
  assert.deepEqual(
    runs.map(({ seed }: { seed: string }) => seed),
    ['x', 'x-2'],
  )
  assert.equal(writes, runs[0].writes + runs[1].writes)
})

test('a scenario that is none is an error in one line', () => {
  const { status, stderr } = gyro('--scenario', join(folder, 'nothing.mjs'))
  assert.equal(status, 2)
  assert.match(stderr, /^gyro: scenario .*nothing\.mjs: .*\n$/)
})

test('help lists every flag', () => {
  const { status, stdout } = gyro('--help')
  assert.equal(status, 0)
  for (const flag of ['seed', 'minutes', 'faults', 'scenario', 'explore', 'output'])
    assert.match(stdout, new RegExp(`--${flag}`))
})
