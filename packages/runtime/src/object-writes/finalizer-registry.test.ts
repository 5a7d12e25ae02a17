import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasFinalizer, withFinalizer, withoutFinalizer } from '@gyropilot/api'
import { website } from '../builder/fixtures.ts'
import type { Website } from '../builder/fixtures.ts'
import { deepFreeze } from '@gyropilot/foundation'
import { FinalizerRegistry } from './finalizer-registry.ts'

const DNS = 'example.com/dns'
const CDN = 'example.com/cdn'
const deleting = (...finalizers: string[]): Website =>
  deepFreeze(website('a', { finalizers, deletionTimestamp: '2026-01-01T00:00:00Z' }))

test('Given the finalizer is present, then add changes nothing', () => {
  const object = website('a', { finalizers: [DNS] })
  assert.equal(withFinalizer(object, DNS), object, 'the same object: nothing to write')
  const added = withFinalizer(object, CDN)
  assert.notEqual(added, object)
  assert.deepEqual(added.metadata?.finalizers, [DNS, CDN])
  assert.equal(withoutFinalizer(object, CDN), object)
  assert.deepEqual(withoutFinalizer(added, DNS).metadata?.finalizers, [CDN])
  assert.ok(hasFinalizer(object, DNS) && !hasFinalizer(object, CDN))
})

test('Given a second registration, then error', () => {
  const registry = new FinalizerRegistry<Website>().register(DNS, () => {})
  assert.throws(() => registry.register(DNS, () => {}), {
    code: 'FINALIZER_REGISTERED',
    message: 'finalizer for key "example.com/dns" already registered',
  })
})

test('on a live object missing finalizers are added and nothing runs', async () => {
  let runs = 0
  const registry = new FinalizerRegistry<Website>()
    .register(DNS, () => void runs++)
    .register(CDN, () => void runs++)
  const added = await registry.finalize(website('a', { finalizers: [CDN] }))
  assert.deepEqual(added.object.metadata?.finalizers, [CDN, DNS])
  assert.deepEqual([added.updated, added.statusUpdated, 'error' in added], [true, false, false])
  const again = await registry.finalize(added.object)
  assert.deepEqual([again.updated, again.statusUpdated], [false, false])
  assert.equal(runs, 0)
})

test('on a deleting object the functions of present finalizers run, and each is removed on success', async () => {
  const ran: string[] = []
  const registry = new FinalizerRegistry<Website>()
    .register(DNS, async () => void ran.push(DNS))
    .register(CDN, async () => void ran.push(CDN))
  const done = await registry.finalize(deleting('other/finalizer', DNS))
  assert.deepEqual(ran, [DNS])
  assert.deepEqual(done.object.metadata?.finalizers, ['other/finalizer'])
  assert.deepEqual([done.updated, done.statusUpdated], [true, false])
})

test('an error keeps the finalizer, lets the others run, and what was written into the draft counts', async () => {
  const registry = new FinalizerRegistry<Website>()
    .register(DNS, (draft) => {
      draft.status = { ready: false }
      throw new Error('zone is locked')
    })
    .register(CDN, () => {})
  const failed = await registry.finalize(deleting(DNS, CDN))
  assert.equal(failed.error?.message, 'finalizer "example.com/dns" failed: zone is locked')
  assert.equal((failed.error?.cause as Error | undefined)?.message, 'zone is locked')
  assert.deepEqual(failed.object.metadata?.finalizers, [DNS])
  assert.deepEqual(failed.object.status, { ready: false })
  assert.deepEqual([failed.updated, failed.statusUpdated], [true, true])

  const both = new FinalizerRegistry<Website>()
  for (const name of [DNS, CDN])
    both.register(name, () => {
      throw new Error('no')
    })
  const worse = await both.finalize(deleting(DNS, CDN))
  assert.equal(
    worse.error?.message,
    '[finalizer "example.com/dns" failed: no, finalizer "example.com/cdn" failed: no]',
  )
  assert.deepEqual([worse.updated, worse.statusUpdated], [false, false])
})
