import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { kubeconfigPlace, ownedText, runningOwnerOf } from './kubeconfig-file.ts'
import { rememberPort, rememberedPort } from './port-file.ts'

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
  assert.equal(runningOwnerOf(path), undefined)
  for (const [text, owner] of [
    [ownedText('kind: Config\n', process.ppid), process.ppid],
    [ownedText('kind: Config\n', process.pid), undefined],
    [ownedText('kind: Config\n', 2 ** 22 + 1), undefined],
    ['kind: Config\n', undefined],
  ] as const) {
    writeFileSync(path, text)
    assert.equal(runningOwnerOf(path), owner, text)
  }
})

test('a data directory remembers its port', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'port-'))
  t.after(() => rmSync(folder, { recursive: true }))
  assert.equal(rememberedPort(folder), undefined)
  rememberPort(folder, 7001)
  assert.equal(rememberedPort(folder), 7001)
  rememberPort(folder, 7002)
  assert.equal(rememberedPort(folder), 7002)
  writeFileSync(join(folder, 'port'), 'what')
  assert.equal(rememberedPort(folder), undefined)
})
