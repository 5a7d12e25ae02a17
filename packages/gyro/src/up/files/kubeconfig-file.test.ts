import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { isReplaceable, kubeconfigPlace, ownedText, runningOwnerOf } from './kubeconfig-file.ts'
import { keptPort, portsToTry, rememberPort } from './port-file.ts'

const wish = { path: '.gyropilot/kubeconfig', asked: false, port: 7001 }

test('the file of a cluster that still runs is left alone, unless it was asked for', () => {
  assert.deepEqual(
    kubeconfigPlace(wish, () => undefined),
    { path: wish.path, note: undefined },
  )
  const own = kubeconfigPlace(wish, () => 42)
  assert.equal(own.path, '.gyropilot/kubeconfig-7001')
  assert.match(own.note ?? '', /process 42, which still runs/)
  const asked = kubeconfigPlace({ ...wish, asked: true }, () => 42)
  assert.equal(asked.path, wish.path)
  assert.match(asked.note ?? '', /process 42, which still runs/)
})

test('a file knows its process; only others that run count', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'kubeconfig')
  assert.equal(runningOwnerOf(path, []), undefined)
  for (const [text, owner] of [
    [ownedText('kind: Config\n', process.ppid), process.ppid],
    [ownedText('kind: Config\n', process.pid), undefined],
    [ownedText('kind: Config\n', 2 ** 22 + 1), undefined],
    [`# gyro up, process ${process.ppid}\nkind: Config\n`, process.ppid],
    [`# gyro up, process ${process.ppid} of another start\nkind: Config\n`, undefined],
    ['kind: Config\n', undefined],
  ] as const) {
    writeFileSync(path, text)
    assert.equal(runningOwnerOf(path, []), owner, text)
  }
})

test('a file that kubectl has edited is still of the cluster that runs with it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'kubeconfig')
  const running = [
    { kubeconfig: join(folder, 'other'), processId: 1 },
    { kubeconfig: path, processId: process.pid },
    { kubeconfig: path, processId: process.ppid },
  ]
  assert.equal(runningOwnerOf(path, running), undefined, 'a file that is gone is lost by nobody')
  writeFileSync(path, 'kind: Config\n')
  assert.equal(runningOwnerOf(path, running), process.ppid)
  assert.equal(runningOwnerOf(path, running.slice(0, 2)), undefined)
  // Another has been told to write there since.
  writeFileSync(path, ownedText('kind: Config\n', process.pid))
  assert.equal(runningOwnerOf(path, running), undefined)
})

test('a file is replaced when it is ours, also when kubectl has edited it, and never with clusters of others', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'kubeconfig')
  assert.ok(isReplaceable(path))
  const ours = 'clusters:\n- cluster:\n    server: a\n  name: gyro\nusers:\n- name: "admin"\n'
  for (const [text, is] of [
    ['', true],
    [' \n', true],
    [ownedText('kind: Config\n', 2 ** 22 + 1), true],
    [ours, true],
    [`${ours}- name: other\n`, false],
    ['{\n  "clusters": [\n    {\n      "name": "kind"\n', false],
    ['{"clusters":[{"name":"kind"}]}', false],
    ['a diary\n', false],
  ] as const) {
    writeFileSync(path, text)
    assert.equal(isReplaceable(path), is, text)
  }
})

test(
  'a process that has ended owns no file, though nobody has waited for it',
  { skip: process.platform !== 'linux', timeout: 10_000 },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
    // Becomes a program that waits for no child, and so keeps the number of the first one, which ends only then.
    const child = 'while grep -qs sh /proc/$PPID/comm; do :; done'
    const parent = spawn('sh', ['-c', `sh -c '${child}' & echo $!; exec sleep 60`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.after(() => {
      parent.kill()
      rmSync(folder, { recursive: true })
    })
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const path = join(folder, 'kubeconfig')
    writeFileSync(path, `# gyro up, process ${Number(line.toString())}\n`)
    while (runningOwnerOf(path, []) !== undefined) await turn()
    assert.doesNotThrow(
      () => process.kill(Number(line.toString()), 0),
      'its number is not given again',
    )
  },
)

test('a data directory remembers its port', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'port-'))
  t.after(() => rmSync(folder, { recursive: true }))
  assert.equal(keptPort(folder), undefined)
  assert.equal(rememberPort(folder, 7001), true)
  assert.equal(keptPort(folder), 7001)
  rememberPort(folder, 7002)
  assert.equal(keptPort(folder), 7002)
  writeFileSync(join(folder, 'port'), 'what')
  assert.equal(keptPort(folder), undefined)
  assert.equal(rememberPort(join(folder, 'port', 'in a file'), 7003), false)
})

test('which ports are tried: one that is asked for alone, else the kept or usual one and its neighbours', () => {
  const usual = { port: 6443, portIsGiven: false, dataDir: '', kept: undefined }
  assert.deepEqual(portsToTry({ ...usual, port: 7, portIsGiven: true, kept: 8 }), [7])
  assert.deepEqual(portsToTry({ ...usual, dataDir: 'd', kept: 8 }), [8])
  for (const [wish, first] of [
    [usual, [6443, 6444]],
    [{ ...usual, dataDir: 'd' }, [6443, 6444]],
    [{ ...usual, kept: 6450 }, [6450, 6443, 6444]],
  ] as const) {
    const ports = portsToTry(wish)
    assert.deepEqual(ports.slice(0, first.length), first)
    assert.equal(ports.at(-1), 0)
    assert.equal(new Set(ports).size, ports.length)
  }
})
