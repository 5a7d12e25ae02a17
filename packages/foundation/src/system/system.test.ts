import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { LONG_TURN_MS } from '../clock.ts'
import { FileError } from '../host-environment.ts'
import { PrometheusRegistry } from '../metrics-registry.ts'
import { exposeProcessMetrics, exposeProcessStart } from './process-metrics.ts'
import { SystemClock } from './system-clock.ts'
import { SystemHost } from './system-host.ts'
import { SystemRandom } from './system-random.ts'

test('the clock calls back after returning, in order of delay, and not when cancelled', async () => {
  const clock = new SystemClock()
  const seen: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const startedMs = clock.monotonicMs()
  // So much later that a pause of the machine between the two calls does not turn them round.
  clock.after(200, () => resolve(void seen.push('later')))
  clock.after(-5, () => seen.push('past'))
  clock.after(1, () => seen.push('cancelled')).cancel()
  assert.equal(seen.length, 0)
  await promise
  assert.deepEqual(seen, ['past', 'later'])
  assert.ok(clock.monotonicMs() >= startedMs + 1)
  clock.after(2 ** 40, () => seen.push('in decades')).cancel()
})

test('a timer is not early, not by a fraction of a millisecond', async () => {
  const clock = new SystemClock()
  const early: number[] = []
  const waits = Array.from({ length: 400 }, async (_, index) => {
    const delayMs = 1 + (index % 40) / 4
    const startMs = clock.monotonicMs()
    await new Promise<void>((resolve) => void clock.after(delayMs, () => resolve()))
    if (clock.monotonicMs() - startMs < delayMs) early.push(delayMs)
    await new Promise<void>((resolve) => void clock.after(delayMs, () => resolve()))
    if (clock.monotonicMs() - startMs < 2 * delayMs) early.push(delayMs)
  })
  await Promise.all(waits)
  assert.deepEqual(early, [])
})

const workFor = (clock: SystemClock, ms: number): void => {
  for (const startMs = clock.monotonicMs(); clock.monotonicMs() - startMs < ms;);
}

test('a turn of the event loop begins when somebody first asks in it, and ends before the next timer', async () => {
  const clock = new SystemClock()
  const nextTurn = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0))
  await nextTurn()
  workFor(clock, 5)
  assert.equal(clock.turnMs(), 0)
  workFor(clock, 5)
  assert.ok(clock.turnMs() >= 5)
  // Promises are settled in the same turn.
  await Promise.resolve()
  workFor(clock, 5)
  assert.ok(clock.turnMs() >= 10)
  await nextTurn()
  assert.equal(clock.turnMs(), 0)
})

test('a timer of the clock asks, too', async () => {
  const clock = new SystemClock()
  await new Promise<void>((resolve) => void clock.after(0, () => resolve()))
  workFor(clock, 5)
  assert.ok(clock.turnMs() >= 5)
})

test('timers that are due together are called in as many turns as they take, in order', async () => {
  const clock = new SystemClock()
  const called: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const workForATurn = (name: string): void => {
    setImmediate(() => called.push('the next turn'))
    workFor(clock, LONG_TURN_MS)
    called.push(name)
  }
  clock.after(0, () => workForATurn('long'))
  clock.after(0, () => {
    cancelled.cancel()
    clock.after(0, () => resolve(void called.push('due later')))
    void Promise.resolve().then(() => workForATurn('long in a promise'))
  })
  const cancelled = clock.after(0, () => called.push('cancelled while it waits'))
  clock.after(0, () => called.push('short'))
  await promise
  assert.deepEqual(called, [
    'long',
    'the next turn',
    'long in a promise',
    'the next turn',
    'short',
    'due later',
  ])
})

test('a turn that ended long ago is not taken for the one in which data arrive', async () => {
  const clock = new SystemClock()
  const server = createServer((socket) => void setTimeout(() => socket.end('x'), 30))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  clock.turnMs()
  const inItMs = await new Promise<number>((resolve) =>
    socket.once('data', () => resolve(clock.turnMs())),
  )
  assert.equal(inItMs, 0)
  server.close()
})

test('random numbers are in range and differ', () => {
  const random = new SystemRandom()
  const drawn = Array.from({ length: 3000 }, () => random.next())
  for (const value of drawn) assert.ok(value >= 0 && value < 1)
  assert.ok(new Set(drawn).size > 2990)
})

test('files and programs that are missing are FileErrors in the words of Go', async () => {
  const host = new SystemHost()
  await assert.rejects(
    host.readTextFile('/nonexistent/file'),
    (error) =>
      error instanceof FileError &&
      error.code === 'ENOENT' &&
      error.message === 'open /nonexistent/file: no such file or directory',
  )
  await assert.rejects(
    host.runCommand({ command: '/nonexistent/program', args: [], env: {}, interactive: false }),
    (error) => error instanceof FileError && error.code === 'ENOENT',
  )
})

test('a program gets arguments and variables, and gives its output and exit code', async () => {
  const script = 'process.stdout.write(process.env.ADDED + process.argv[1]); process.exitCode = 3'
  const result = await new SystemHost().runCommand({
    command: process.execPath,
    args: ['-e', script, 'argument'],
    env: { ADDED: 'variable-' },
    interactive: false,
  })
  assert.deepEqual(result, { exitCode: 3, stdout: 'variable-argument' })
})

test('reads files', async () => {
  assert.match(await new SystemHost().readTextFile(import.meta.filename), /reads files/)
})

test('a file that it makes is for its owner alone; one that was there keeps its rights, and its links', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gyropilot-'))
  try {
    const host = new SystemHost()
    const [made, there, link] = ['made', 'there', 'link'].map((name) => join(folder, name))
    await host.writeTextFile(made!, 'ü')
    assert.equal(await host.readTextFile(made!), 'ü')
    assert.equal(statSync(made!).mode & 0o777, 0o600)
    writeFileSync(there!, 'a longer text', { mode: 0o640 })
    symlinkSync(there!, link!)
    await host.writeTextFile(link!, 'new')
    assert.equal(await host.readTextFile(there!), 'new')
    assert.equal(statSync(there!).mode & 0o777, 0o640)
    await assert.rejects(host.writeTextFile(join(folder, 'none', 'x'), ''), FileError)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the process shows its time, memory and files under the usual names', () => {
  const registry = new PrometheusRegistry()
  exposeProcessMetrics(registry)
  const valueOf = (name: string): number => {
    const line = registry
      .expose()
      .split('\n')
      .find((text) => text.startsWith(`${name} `))
    return Number(line?.split(' ')[1])
  }
  assert.ok(valueOf('process_resident_memory_bytes') > 10_000_000)
  const before = valueOf('process_cpu_seconds_total')
  assert.ok(before > 0)
  // CPU time, not time on the wall, of which a busy machine gives to others.
  for (const until = process.cpuUsage().user + 20_000; process.cpuUsage().user < until;);
  const spent = valueOf('process_cpu_seconds_total') - before
  assert.ok(spent > 0.01 && spent < 5, String(spent))
  const ageSeconds = Date.now() / 1000 - valueOf('process_start_time_seconds')
  assert.ok(ageSeconds > 0 && ageSeconds < 600, String(ageSeconds))
  assert.ok(valueOf('process_open_fds') > 2)
  assert.ok(valueOf('process_max_fds') >= valueOf('process_open_fds'))
  // Those of every Prometheus client, without a level: a scrape of ours and of others must not show two.
  const helps = registry.expose().match(/^# HELP .*$/gm)
  assert.deepEqual(helps, [
    '# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.',
    '# HELP process_max_fds Maximum number of open file descriptors.',
    '# HELP process_open_fds Number of open file descriptors.',
    '# HELP process_resident_memory_bytes Resident memory size in bytes.',
    '# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.',
  ])
})

test('the start of the process is shown alone, and forgotten by a reset', () => {
  const registry = new PrometheusRegistry()
  exposeProcessStart(registry, 'ALPHA')
  assert.match(
    registry.expose(),
    /^# HELP process_start_time_seconds \[ALPHA\] .*\n# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds [\d.e+]+\n$/,
  )
  registry.clear()
  assert.equal(registry.expose(), '')
})
