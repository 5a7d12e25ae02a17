/** `gyro simulate` as a user runs it. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const binary = join(import.meta.dirname, '../../bin/gyro')
const folder = mkdtempSync(join(tmpdir(), 'simulate-'))
after(() => rmSync(folder, { recursive: true }))

function gyro(...args: readonly string[]) {
  return spawnSync(binary, ['simulate', ...args], { encoding: 'utf8', timeout: 120_000 })
}

const broken = join(folder, 'broken.mjs')
writeFileSync(
  broken,
  `export default { name: 'broken', async play() {}, *ends() { yield 'it is broken' } }\n`,
)

/** Disturbed anywhere it says that it is broken. */
const fragile = join(folder, 'fragile.mjs')
writeFileSync(
  fragile,
  `const hit = new WeakSet()
export default {
  name: 'fragile',
  nodes: 0,
  subject: 'probe',
  prepare(cluster) {
    cluster.observe({ fault: () => hit.add(cluster) })
    cluster.run('probe', async (life) => {
      const raw = cluster.network.transport({ life, name: 'probe', user: { name: 'admin', groups: ['system:masters'], extra: {} } })
      await new Promise((resolve) => life.clock.after(7000, resolve))
      await raw.send({ method: 'DELETE', path: '/api/v1/namespaces/default/configmaps/none', headers: {} })
      await new Promise(() => {})
    })
  },
  play: (cluster) => cluster.advance(10000),
  *ends(cluster) { if (hit.has(cluster)) yield 'the first fault was too much' },
}\n`,
)

test('a violation ends with exit code 1 and the line that plays it again; without --shrink nothing else is tried', () => {
  const flags = ['--seed', '5', '--minutes', '1', '--shrink', '0']
  const first = gyro('--scenario', broken, ...flags)
  assert.equal(first.status, 1)
  assert.match(first.stdout, /scenario: it is broken/)
  assert.doesNotMatch(first.stdout, /it takes/)
  const [, line = ''] = /play it again: gyro simulate (.*)/.exec(first.stdout) ?? []
  const again = gyro(...line.split(' ').map((word) => word.replaceAll("'", '')), '--shrink', '0')
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
  const { seed, violations, shrunk, ...rest } = JSON.parse(stdout)
  assert.equal(seed, '5')
  assert.match(rest.historyHash, /^[0-9a-f]{64}$/)
  for (const field of ['virtualSeconds', 'realSeconds', 'writes'])
    assert.equal(typeof rest[field], 'number', field)
  assert.equal(typeof rest.faults, 'object')
  assert.deepEqual([shrunk.schedule, shrunk.isMinimal], [[], true])
  assert.match(shrunk.replay, /^gyro simulate --seed 5 .* --schedule '\[\]'$/)
  assert.deepEqual(
    violations.map(({ message }: { message: string }) => message),
    ['it is broken'],
  )
})

test('what fails without any fault is shrunk to nothing, and the line plays just that', () => {
  const { stdout } = gyro('--scenario', broken, '--seed', '5', '--minutes', '1')
  assert.match(stdout, /it takes 0 entries of \d+ \(none can be left out; \d+ replays\)/)
  const [, line = ''] = /play only that: gyro simulate (.*)/.exec(stdout) ?? []
  const again = gyro(...line.split(' ').map((word) => word.replaceAll("'", '')))
  assert.equal(again.status, 1)
  assert.match(again.stdout, /scenario: it is broken/)
  assert.match(again.stdout, /faults {4}none/)
})

test('a failing schedule of an exploration comes with the line that plays it, which tells its history', () => {
  const first = gyro('--explore', '--scenario', fragile, '--seed', '5', '--stride', '3')
  assert.equal(first.status, 1, first.stderr)
  const [, quotedFlags = ''] = /play it again: gyro simulate (.*)/.exec(first.stdout) ?? []
  const flags = [...quotedFlags.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, inner, bare]) => inner ?? bare!,
  )
  const again = gyro(...flags)
  assert.equal(again.status, 1)
  assert.match(again.stdout, /FAIL {2}fragile: 1 schedule over/)
  assert.match(again.stdout, /scenario: the first fault was too much/)
  assert.match(again.stdout, /the last of its history:\n +\d+\.\d{3} /)
})

test('a schedule that is none is refused in one line, with exit code 2', () => {
  const { status, stderr } = gyro('--schedule', join(folder, 'none.json'))
  assert.equal(status, 2)
  assert.match(stderr, /^gyro: --schedule: .*none\.json: no such file or directory\n$/)
})

test('Ctrl-C ends with what was done so far and exit code 130', async () => {
  const child = spawn(binary, ['simulate', '--seeds', '1000', '--minutes', '1'])
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  for await (const text of child.stdout.setEncoding('utf8')) {
    stdout += String(text)
    if (/as it must be/.test(stdout) && !child.killed) child.kill('SIGINT')
  }
  const code = child.exitCode ?? (await once(child, 'exit'))[0]
  assert.equal(code, 130)
  assert.match(stdout, /\d+ runs?: .* 0 violations\n$/)
  assert.match(stderr, /^gyro: interrupted in run \d+ of 1000\n$/)
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
  assert.match(stderr, /^gyro: scenario .*nothing\.mjs" is neither a part of .* nor a file\n$/)
})

test('help lists every flag', () => {
  const { status, stdout } = gyro('--help')
  assert.equal(status, 0)
  for (const flag of ['seed', 'minutes', 'faults', 'scenario', 'explore', 'output'])
    assert.match(stdout, new RegExp(`--${flag}`))
})
