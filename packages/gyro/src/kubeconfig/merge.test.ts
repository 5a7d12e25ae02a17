import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import type { Clock } from '@gyropilot/foundation'
import { mergeInto, mergeTarget, takeOut } from './merge.ts'

let folder: string
let cluster: { name: string; server: string; kubeconfig: string }
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'merge-'))
  cluster = { name: 'gyro-a', server: 'https://127.0.0.1:1', kubeconfig: join(folder, 'own') }
  writeFileSync(
    cluster.kubeconfig,
    'clusters: [{name: g, cluster: {server: s}}]\nusers: [{name: a, user: {}}]\ncontexts: [{name: g, context: {}}]\n',
  )
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Whoever waits is woken at once, so much later; `waited` is told. */
function hurriedClock(waited = (): void => {}): Clock {
  let now = 0
  return {
    nowMs: () => now,
    monotonicMs: () => now,
    turnMs: () => 0,
    after(delayMs, callback) {
      now += delayMs
      waited()
      queueMicrotask(callback)
      return { cancel() {} }
    },
  }
}
const clock = hurriedClock()

test('the file is ~/.kube/config, or of KUBECONFIG the first that exists, else the last', () => {
  const [first, second] = [join(folder, '1'), join(folder, '2')]
  assert.equal(mergeTarget(cluster.kubeconfig, { HOME: '/home/a' }), '/home/a/.kube/config')
  assert.equal(
    mergeTarget(cluster.kubeconfig, { HOME: '/home/a', KUBECONFIG: '' }),
    '/home/a/.kube/config',
  )
  assert.equal(mergeTarget(cluster.kubeconfig, { KUBECONFIG: `${first}::${second}` }), second)
  writeFileSync(first, '')
  assert.equal(mergeTarget(cluster.kubeconfig, { KUBECONFIG: `${first}:${second}` }), first)
})

test('of several files in KUBECONFIG the cluster’s own is passed over, also by another name', () => {
  const [own, link, team] = [cluster.kubeconfig, join(folder, 'link'), join(folder, 'team')]
  symlinkSync(own, link)
  for (const KUBECONFIG of [`${own}:${team}`, `${link}:${team}`, `${team}:${own}`])
    assert.equal(mergeTarget(own, { KUBECONFIG }), team, KUBECONFIG)
  assert.equal(mergeTarget(own, { KUBECONFIG: own }), own, 'alone it is told what is wrong')
})

test('a file and its folder are made for this user alone; a link stays a link; the lock goes', async () => {
  const target = join(folder, 'home/.kube/config')
  await mergeInto(target, cluster, clock)
  assert.equal(statSync(target).mode & 0o777, 0o600)
  assert.equal(statSync(join(target, '..')).mode & 0o777, 0o700)
  const link = join(folder, 'link')
  symlinkSync(target, link)
  await takeOut(link, cluster, clock)
  assert.ok(lstatSync(link).isSymbolicLink())
  assert.doesNotMatch(readFileSync(target, 'utf8'), /gyro-a/)
  assert.ok(!existsSync(`${target}.lock`) && !existsSync(`${link}.lock`))
})

test('refused: the own file, and what is no kubeconfig; such a file is left as it is', async () => {
  await assert.rejects(mergeInto(cluster.kubeconfig, cluster, clock), {
    code: 'KUBECONFIG_NOT_MERGED',
    message: /is the kubeconfig of the cluster itself/,
  })
  const target = join(folder, 'broken')
  writeFileSync(target, 'a: [')
  chmodSync(target, 0o640)
  await assert.rejects(mergeInto(target, cluster, clock), { message: /broken is not YAML/ })
  assert.equal(readFileSync(target, 'utf8'), 'a: [')
  await assert.rejects(mergeInto('/proc/nope/config', cluster, clock), {
    code: 'KUBECONFIG_NOT_MERGED',
    message: /^\/proc\/nope\/config cannot be written: /,
  })
})

test('who has the lock is waited for, and told of when it does not end', async () => {
  const target = join(folder, 'config')
  writeFileSync(`${target}.lock`, '')
  await assert.rejects(mergeInto(target, cluster, clock), {
    message: /config is locked: another program writes it, or died: then remove .*config\.lock$/,
  })
  assert.ok(existsSync(`${target}.lock`))
  await mergeInto(
    target,
    cluster,
    hurriedClock(() => rmSync(`${target}.lock`, { force: true })),
  )
  assert.match(readFileSync(target, 'utf8'), /gyro-a/)
})

test('a file that is gone has nothing to take out', async () => {
  await takeOut(join(folder, 'nowhere'), cluster, clock)
  assert.ok(!existsSync(join(folder, 'nowhere')))
})
