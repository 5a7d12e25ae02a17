/** `gyro up --detach`, status, kubeconfig and down, as somebody uses them in the first minute. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually, kubectlBinary, repository } from './gyro-process.ts'

const gyroBinary = join(repository, 'bin/gyro')
const home = mkdtempSync(join(tmpdir(), 'first-minute-'))
const shop = join(home, 'my shop')
const config = join(home, '.kube/config')
const env = {
  PATH: process.env['PATH'],
  HOME: home,
  XDG_STATE_HOME: join(home, 'state'),
  KUBECACHEDIR: join(home, 'cache'),
}
const SMALL = ['--components=api-server', '--port=0']

before(() => mkdirSync(shop))
after(() => {
  gyro(['down', '--all'])
  rmSync(home, { recursive: true })
})

function gyro(args: readonly string[], cwd = shop): { code: number; said: string; error: string } {
  const run = spawnSync(gyroBinary, args, { cwd, env, encoding: 'utf8', timeout: 60_000 })
  return { code: run.status ?? -1, said: run.stdout, error: run.stderr }
}

test('nothing runs: each command says so, and what to do', () => {
  const none = 'gyro: no cluster runs: start one with gyro up\n'
  assert.deepEqual(gyro(['status']), { code: 1, said: '', error: none })
  assert.deepEqual(gyro(['kubeconfig']), { code: 1, said: '', error: none })
  assert.deepEqual(gyro(['down']), { code: 0, said: none.replace('gyro: ', ''), error: '' })
  assert.deepEqual(JSON.parse(gyro(['status', '--output=json']).said), { clusters: [] })
})

test('a detached cluster is up when the command returns, found by the others, and gone after down', () => {
  const flags = [...SMALL, '--detach', '--merge-kubeconfig']
  const first = gyro(['up', ...flags])
  assert.equal(first.code, 0, first.error)
  assert.match(first.said, /context gyro-my-shop now.*gyro down stops the cluster\.\n$/s)
  assert.match(readFileSync(join(shop, '.gyropilot/up.log'), 'utf8'), /ready in/)

  // kubectl itself reads what was merged, and keeps it.
  const kubectl = (...args: readonly string[]): string =>
    spawnSync(kubectlBinary, args, { env, encoding: 'utf8' }).stdout
  assert.equal(kubectl('config', 'current-context'), 'gyro-my-shop\n')
  assert.match(kubectl('get', 'namespaces', '-o', 'name'), /namespace\/default/)
  const metrics = kubectl('get', '--raw', '/metrics')
  assert.match(metrics, /^process_resident_memory_bytes \d/m)
  assert.match(metrics, /^gyropilot_event_loop_delay_seconds_count [1-9]/m)
  assert.match(metrics, /^kubernetes_feature_enabled\{name="AllAlpha",stage="ALPHA"\} 0/m)
  kubectl('config', 'set-cluster', 'other', '--server=https://example.com')

  const again = gyro(['up', ...flags])
  assert.deepEqual([again.code, again.error], [0, ''])
  assert.match(again.said, /^https:\S+ runs already, process \d+; see gyro status\n$/)
  const others = gyro(['up', ...SMALL, '--detach'])
  assert.equal(others.code, 1)
  assert.match(
    others.error,
    /^gyro: a cluster runs in this folder with other flags .*: gyro down stops it\n$/,
  )

  const { clusters } = JSON.parse(gyro(['status', '-o', 'json']).said)
  assert.equal(clusters.length, 1)
  assert.deepEqual(
    [clusters[0].folder, clusters[0].nodes, clusters[0].merged],
    [shop, { total: 0, ready: 0 }, config],
  )
  assert.match(gyro(['status'], home).error, /^gyro: no cluster runs in .*, elsewhere one does/)
  assert.match(gyro(['status', '--all'], home).said, /^https:.*  folder      .*my shop\n/s)
  assert.equal(gyro(['kubeconfig']).said, readFileSync(join(shop, '.gyropilot/kubeconfig'), 'utf8'))

  const down = gyro(['down'])
  assert.deepEqual([down.code, down.error], [0, ''])
  assert.match(down.said, /^the cluster of .*my shop \(process \d+\) has ended\n$/)
  assert.doesNotMatch(readFileSync(config, 'utf8'), /gyro/)
  assert.match(readFileSync(config, 'utf8'), /example\.com/)
})

test('a cluster that cannot start detached says why and leaves nothing', () => {
  const failed = gyro(['up', '--detach', '--components=api-server', '--bind-address=192.0.2.1'])
  assert.equal(failed.code, 1)
  assert.match(failed.error, /^gyro: cannot listen on 192\.0\.2\.1:/)
  assert.equal(gyro(['status']).code, 1)
})

test('what a killed cluster left is cleared away', async () => {
  gyro(['up', ...SMALL, '--detach'])
  assert.match(gyro(['kubeconfig', '--merge']).said, /^kubectl uses context gyro-my-shop now, by /)
  const { clusters } = JSON.parse(gyro(['status', '-o', 'json']).said)
  process.kill(clusters[0].processId, 'SIGKILL')
  await eventually('the process is gone', 10_000, () => gyro(['status']).code === 1 || undefined)
  assert.match(gyro(['down']).said, /had ended already: cleared away\n$/)
  assert.doesNotMatch(readFileSync(config, 'utf8'), /gyro-my-shop/)
})

test('a terminal that is closed ends the cluster in order', async () => {
  const child = spawn(gyroBinary, ['up', ...SMALL, '--merge-kubeconfig'], { cwd: shop, env })
  child.stdout.resume()
  const isMerged = (): boolean =>
    existsSync(config) && /gyro-my-shop/.test(readFileSync(config, 'utf8'))
  await eventually('it is merged', 20_000, () => isMerged() || undefined)
  await eventually('it is known', 10_000, () => gyro(['status']).code === 0 || undefined)
  const ended = once(child, 'exit')
  child.kill('SIGHUP')
  assert.deepEqual(await ended, [0, null])
  assert.ok(!isMerged())
  assert.equal(gyro(['status']).code, 1)
})

test('a start that is interrupted leaves nothing, and says by its exit code that it was none', async () => {
  const folder = join(home, 'interrupted')
  mkdirSync(folder)
  // Who writes the kubeconfig is waited for: so long the cluster starts.
  mkdirSync(dirname(config), { recursive: true })
  writeFileSync(`${config}.lock`, '')
  const args = ['up', ...SMALL, '--merge-kubeconfig', '--output=json']
  const child = spawn(gyroBinary, args, { cwd: folder, env })
  const ended = once(child, 'exit')
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const own = join(folder, '.gyropilot/kubeconfig')
  await eventually('it has a kubeconfig', 20_000, () => existsSync(own) || undefined)
  child.kill('SIGTERM')
  await eventually('it stops', 10_000, () => said.includes('stopping') || undefined)
  rmSync(`${config}.lock`)
  assert.deepEqual(await ended, [143, null])
  assert.deepEqual(
    said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type),
    ['stopping'],
  )
  assert.doesNotMatch(readFileSync(config, 'utf8'), /gyro-interrupted/)
  assert.equal(gyro(['status'], folder).code, 1)
})

test('a folder keeps the port that it got when the usual one was taken; two in one folder are told', async () => {
  const folder = join(home, 'ports')
  mkdirSync(join(folder, '.gyropilot'), { recursive: true })
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as AddressInfo
  free.close()
  await once(free, 'close')
  writeFileSync(join(folder, '.gyropilot/port'), `${port}\n`)
  const start = async (): Promise<{ line: string; stop(): Promise<void> }> => {
    const args = ['up', '--components=api-server', '--output=json']
    const child = spawn(gyroBinary, args, {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
    const stop = async (): Promise<void> => {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    return { line: chunk.toString(), stop }
  }
  const first = await start()
  const second = await start()
  assert.equal(new URL(JSON.parse(first.line).server).port, String(port))
  assert.deepEqual(JSON.parse(first.line).notes, [])
  const { notes, server } = JSON.parse(second.line)
  assert.match(
    notes[0],
    new RegExp(`^port ${port} is in use: this folder has port \\d+, and keeps it$`),
  )
  assert.match(
    notes[1],
    /is of the cluster of process \d+, which still runs: this one has a file of its own$/,
  )
  assert.match(
    gyro(['down'], folder).error,
    /^gyro: several clusters run in .*: choose one with --process, of /,
  )
  assert.equal(readFileSync(join(folder, '.gyropilot/port'), 'utf8').trim(), new URL(server).port)
  await first.stop()
  await second.stop()
  assert.ok(existsSync(join(home, 'state')))
  assert.equal(gyro(['status'], folder).code, 1)
})
