import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Secret } from '@gyropilot/api'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { tokenSecret } from '../bootstrap-token-support/fixtures.ts'
import { tokenCleanerLogic, tokenCleanerController } from './index.ts'

const HOUR_MS = 3_600_000
const at = (offsetMs: number): string => new Date(NOW_MS + offsetMs).toISOString()

function sync(secret: Secret, options: DriveOptions = {}) {
  const logic = tokenCleanerLogic({
    informers: fakeInformers([secret]),
    logger: new RecordingLogger(),
  })
  const observed = logic.observe('kube-system/bootstrap-token-abc123')
  assert.ok(observed)
  const { effects, result } = drive(logic.reconcile(observed), { nowMs: NOW_MS, ...options })
  return { effects, result }
}

const NOTHING = { effects: [], result: undefined }

test('Given a token Secret without expiration, when synced, then no request', () => {
  assert.deepEqual(sync(tokenSecret()), NOTHING)
  assert.deepEqual(sync(tokenSecret({ expiration: '' })), NOTHING)
})

const DELETED = {
  effects: [
    {
      effect: 'write',
      write: {
        verb: 'delete',
        type: resources.secrets,
        namespace: 'kube-system',
        name: 'bootstrap-token-abc123',
        options: { preconditions: { uid: 'uid-abc123' } },
      },
    },
  ],
  result: undefined,
}

test('Given an expiration one hour ago, then one DELETE with the uid precondition', () => {
  assert.deepEqual(sync(tokenSecret({ expiration: at(-HOUR_MS) })), DELETED)
})

test('the uid precondition is left out only if there is no uid', () => {
  const { metadata, ...rest } = tokenSecret({ expiration: at(-HOUR_MS) })
  const { effects } = sync({ ...rest, metadata: { ...metadata, uid: undefined } })
  assert.deepEqual(
    effects.map(
      (effect) => effect.effect === 'write' && 'options' in effect.write && effect.write.options,
    ),
    [undefined],
  )
})

test('Given an expiration one hour ahead, then no request', () => {
  assert.deepEqual(sync(tokenSecret({ expiration: at(HOUR_MS) })), {
    effects: [],
    result: { requeueAfterMs: HOUR_MS },
  })
})

test('Given an expiration two seconds ahead, when synced now, then no request; after it passes, then DELETE', () => {
  const secret = tokenSecret({ expiration: at(2_000) })
  assert.deepEqual(sync(secret), { effects: [], result: { requeueAfterMs: 2_000 } })
  assert.deepEqual(sync(secret, { nowMs: NOW_MS + 1_999 }).result, { requeueAfterMs: 1 })
  assert.deepEqual(sync(secret, { nowMs: NOW_MS + 2_000 }), DELETED)
})

test('Given `expiration` is `not-a-time`, then the Secret is deleted', () => {
  assert.deepEqual(sync(tokenSecret({ expiration: 'not-a-time' })), DELETED)
})

test('RFC3339 with any offset and fractional seconds must parse; comparison is on the instant', () => {
  const ahead = '2026-01-01T05:30:00.250+05:30'
  assert.deepEqual(sync(tokenSecret({ expiration: ahead })).result, { requeueAfterMs: 250 })
})

test('a malformed token Secret with an expired time is deleted too, whatever its other keys', () => {
  const secret = tokenSecret({ expiration: at(-1), 'token-id': '', 'token-secret': '' })
  assert.deepEqual(sync(secret), DELETED)
})

test('Given a Secret that is not a bootstrap token in kube-system, then it is never queued', () => {
  const [watch] = tokenCleanerLogic({
    informers: fakeInformers(),
    logger: new RecordingLogger(),
  }).watches
  const { onAdd, onUpdate, onDelete, resyncPeriodMs } = watch!
  const token = tokenSecret()
  const elsewhere = { ...token, metadata: { ...token.metadata, namespace: 'default' } }
  const opaque = { ...token, type: 'Opaque' }
  assert.deepEqual([...onAdd!(token)], ['kube-system/bootstrap-token-abc123'])
  assert.deepEqual([...onUpdate!(opaque, token)], ['kube-system/bootstrap-token-abc123'])
  for (const other of [elsewhere, opaque]) {
    assert.deepEqual([...onAdd!(other), ...onUpdate!(token, other)], [])
    assert.deepEqual(
      drive(
        tokenCleanerLogic({ informers: fakeInformers(), logger: new RecordingLogger() }).reconcile(
          other,
        ),
      ).effects,
      [],
    )
  }
  assert.deepEqual([onDelete, resyncPeriodMs], [undefined, 0])
})

test('Given DELETE returns 500, then nothing more happens until the Secret changes or the controller restarts', () => {
  const secret = tokenSecret({ expiration: at(-1) })
  // That it is gone or another one by now is no failure.
  for (const [code, told] of [
    [404, 0],
    [409, 0],
    [500, 1],
  ] as const) {
    const logger = new RecordingLogger()
    const { reconcile } = tokenCleanerLogic({ informers: fakeInformers(), logger })
    const onWrite = () => refused(code, 'Reason')
    const { effects, result } = drive(reconcile(secret), { nowMs: NOW_MS, onWrite })
    assert.deepEqual([effects.length, result, logger.lines.length], [1, undefined, told], `${code}`)
  }
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = tokenCleanerController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['token-cleaner-controller', ['tokencleaner'], 'token-cleaner', false],
  )
})
