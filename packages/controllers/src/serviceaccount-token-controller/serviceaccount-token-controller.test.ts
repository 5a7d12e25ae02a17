import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, Secret, ServiceAccount } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { Driven, DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { observeAccount, reconcileAccount } from './account-sync.ts'
import { CA_PEM, COMPLETE, account, tokenSecret } from './fixtures.ts'
import { accountKeyOf, secretKeyOf } from './keys.ts'
import { observeSecret, reconcileSecret } from './secret-sync.ts'
import type { SecretSyncSettings } from './secret-sync.ts'
import { accountWatch, secretWatch } from './watches.ts'

function listersOf(objects: readonly KubernetesObject[]) {
  const informers = fakeInformers(objects)
  return {
    accounts: informers.informer(resources.serviceaccounts).lister,
    secrets: informers.informer(resources.secrets).lister,
  }
}

function settings(extra: Partial<SecretSyncSettings> = {}): SecretSyncSettings {
  return {
    rootCaPem: CA_PEM,
    sign: ({ metadata }, secret) => `token of ${metadata?.name} for ${secret.metadata?.name}`,
    pauseMs: () => 100,
    onReferenceLeft: (_, error) => assert.fail(String(error)),
    ...extra,
  }
}

/** What was read live and written, a word each. */
function callsOf(driven: Driven<unknown> | undefined): readonly string[] {
  return (driven?.effects ?? []).map((effect) => {
    if (effect.effect === 'read' && effect.read.verb === 'get')
      return `get ${effect.read.type.resource} ${effect.read.name}`
    assert.ok(effect.effect === 'write')
    const { write } = effect
    const name = 'object' in write ? write.object.metadata?.name : 'name' in write && write.name
    return `${write.verb} ${write.type.resource} ${name}`
  })
}

function syncAccount(
  key: ServiceAccount,
  objects: readonly KubernetesObject[],
  options: DriveOptions = {},
) {
  const observed = observeAccount(accountKeyOf(key), listersOf(objects))
  return observed && drive(reconcileAccount(observed), options)
}

interface SecretSync extends DriveOptions {
  /** What a live read answers; default: what is cached. */
  readonly live?: readonly KubernetesObject[]
  readonly settings?: Partial<SecretSyncSettings>
}

function syncSecret(key: Secret, cached: readonly KubernetesObject[], given: SecretSync = {}) {
  const observed = observeSecret(secretKeyOf(key), listersOf(cached))
  if (observed === undefined) return undefined
  const live = given.live ?? cached
  return drive(reconcileSecret(observed, settings(given.settings)), {
    onRead: (read) => {
      assert.ok(read.verb === 'get')
      const found = live.find(
        ({ kind, metadata }) => kind === read.type.kind && metadata?.name === read.name,
      )
      return found === undefined ? refused(404, 'NotFound') : { ok: true, object: found }
    },
    ...given,
  })
}

function written(driven: Driven<unknown> | undefined): Secret & ServiceAccount {
  const [write, ...more] = driven?.writes ?? []
  assert.ok(write?.verb === 'update' && more.length === 0 && write.subresource === undefined)
  return write.object as Secret & ServiceAccount
}

const opaque = tokenSecret({ name: 'opaque', type: 'Opaque' })

test('Given a new or updated account with no, missing, non-token or token Secrets, then no write', () => {
  for (const secrets of [undefined, ['missing'], ['opaque'], ['tok']]) {
    const known = account({ ...(secrets && { secrets }) })
    assert.equal(syncAccount(known, [known, opaque, tokenSecret()]), undefined)
  }
  assert.equal(accountKeyOf(account()), [...accountWatch.onAdd!(account())][0])
  assert.equal(accountKeyOf(account()), [...accountWatch.onUpdate!(account(), account())][0])
})

test('Given a deleted account with token Secrets, then DELETE of each with uid precondition; with other or missing Secrets, then none', () => {
  const second = tokenSecret({ name: 'second', uid: 'u2', accountUid: 'account-uid' })
  const others = [
    opaque,
    tokenSecret({ name: 'of-another', accountName: 'other' }),
    tokenSecret({ name: 'of-the-next', accountUid: 'next-uid' }),
    tokenSecret({ name: 'of-nobody', accountName: undefined }),
    { ...tokenSecret(), metadata: { ...tokenSecret().metadata, namespace: 'elsewhere' } },
  ]
  const driven = syncAccount(account(), [tokenSecret(), second, ...others])
  assert.deepEqual(
    driven?.writes.map((write) => write.verb === 'delete' && [write.name, write.options]),
    [
      ['second', { preconditions: { uid: 'u2' } }],
      ['tok', { preconditions: { uid: 'secret-uid' } }],
    ],
  )
  assert.deepEqual(callsOf(syncAccount(account({ secrets: ['opaque', 'missing'] }), [opaque])), [])
})

test('the delete key of an old uid leaves the Secrets of the account that has the name now', () => {
  const current = tokenSecret({ name: 'current', accountUid: 'new-uid' })
  const old = tokenSecret({ name: 'old', accountUid: 'account-uid' })
  const driven = syncAccount(account(), [account({ uid: 'new-uid' }), current, old, tokenSecret()])
  assert.deepEqual(callsOf(driven), ['delete secrets old', 'delete secrets tok'])
})

test('a deletion that was refused is retried after all others were tried; gone and recreated ones are done', () => {
  const secrets = [tokenSecret(), tokenSecret({ name: 'z' })]
  for (const [code, isRetried] of [
    [404, false],
    [409, false],
    [500, true],
  ] as const) {
    const driven = syncAccount(account(), secrets, {
      onWrite: (_, index) => (index === 0 ? refused(code, 'Reason') : undefined),
    })
    assert.equal(driven?.writes.length, 2)
    assert.equal(driven.result !== undefined && 'error' in driven.result, isRetried)
  }
})

test('a key that names nothing is dropped, and so is a Secret without the name annotation', () => {
  for (const metadata of [
    { namespace: 'ns', name: 'robot' },
    { namespace: 'ns', uid: 'u' },
    { name: 'robot', uid: 'u' },
  ])
    assert.equal(syncAccount({ ...account(), metadata }, []), undefined)
  assert.equal(syncSecret(tokenSecret({ accountName: undefined }), []), undefined)
  assert.equal(syncSecret(tokenSecret({ uid: '' }), []), undefined)
})

test('Given an added or updated token Secret without account, then GET account and DELETE Secret', () => {
  const driven = syncSecret(tokenSecret(), [tokenSecret()])
  assert.deepEqual(callsOf(driven), ['get serviceaccounts robot', 'delete secrets tok'])
  assert.deepEqual(driven?.writes[0]?.verb === 'delete' && driven.writes[0].options, {
    preconditions: { uid: 'secret-uid' },
  })
  assert.equal(driven?.result, undefined)
})

test('the live account counts: found, it is used; of another uid, the Secret goes; a failed look is retried', () => {
  const secret = tokenSecret({ accountUid: 'account-uid' })
  const cached = [secret]
  assert.deepEqual(callsOf(syncSecret(secret, cached, { live: [secret, account()] })), [
    'get serviceaccounts robot',
    'get secrets tok',
    'update secrets tok',
  ])
  const renewed = account({ uid: 'other' })
  assert.deepEqual(callsOf(syncSecret(secret, [secret, renewed])), [
    'get serviceaccounts robot',
    'delete secrets tok',
  ])
  const failed = refused(500, 'InternalError')
  assert.ok(!failed.ok)
  const driven = syncSecret(secret, cached, { onRead: () => failed })
  assert.deepEqual([driven?.writes, driven?.result], [[], { error: failed.error }])
})

test('a Secret whose deletion fails is retried', () => {
  const driven = syncSecret(tokenSecret(), [tokenSecret()], { onWrite: () => refused(500, 'x') })
  assert.ok(driven?.result && driven.result.error)
})

test('Given an added token Secret with complete data, then nothing', () => {
  const complete = tokenSecret({ data: COMPLETE })
  assert.deepEqual(callsOf(syncSecret(complete, [complete, account()])), [])
})

const lacking: readonly [string, Record<string, string>][] = [
  ['all', {}],
  ['token', { 'ca.crt': CA_PEM, namespace: 'ns' }],
  ['ca', { token: 'ABC', namespace: 'ns' }],
  ['mismatched ca', { ...COMPLETE, 'ca.crt': CA_PEM.trim() }],
  ['namespace', { token: 'ABC', 'ca.crt': CA_PEM }],
]
test('Given a token Secret without token, without CA, with other CA, or without namespace, then GET and UPDATE of the Secret with all parts', () => {
  for (const [what, data] of lacking) {
    const secret = tokenSecret({ data })
    const driven = syncSecret(secret, [secret, account()])
    assert.deepEqual(callsOf(driven), ['get secrets tok', 'update secrets tok'], what)
    const { metadata, data: filled } = written(driven)
    const text = (key: string) => Buffer.from(filled?.[key] ?? '', 'base64').toString()
    assert.deepEqual(
      [text('token'), text('ca.crt'), text('namespace')],
      ['token' in data ? 'ABC' : 'token of robot for tok', CA_PEM, 'ns'],
    )
    assert.deepEqual(metadata?.annotations, {
      'kubernetes.io/service-account.name': 'robot',
      'kubernetes.io/service-account.uid': 'account-uid',
    })
    assert.equal(metadata?.resourceVersion, '5')
  }
})

test('Given a custom namespace value, then no change; other data and annotations stay', () => {
  const custom = tokenSecret({ data: { ...COMPLETE, namespace: 'custom' } })
  assert.deepEqual(callsOf(syncSecret(custom, [custom, account()])), [])
  const { metadata, ...rest } = tokenSecret({ data: { namespace: 'custom', more: 'x' } })
  const annotations = { ...metadata?.annotations, mine: 'y' }
  const secret = { ...rest, metadata: { ...metadata, annotations } }
  const filled = written(syncSecret(secret, [secret, account()]))
  assert.equal(Buffer.from(filled.data?.['namespace'] ?? '', 'base64').toString(), 'custom')
  assert.deepEqual(Object.keys(filled.data ?? {}).sort(), ['ca.crt', 'more', 'namespace', 'token'])
  assert.equal(filled.metadata?.annotations?.['mine'], 'y')
})

test('with no CA from either source `ca.crt` is never written', () => {
  const secret = tokenSecret({ data: { token: 'ABC', namespace: 'ns' } })
  const given = { settings: { rootCaPem: '' } }
  assert.deepEqual(callsOf(syncSecret(secret, [secret, account()], given)), [])
  const empty = tokenSecret()
  const filled = written(syncSecret(empty, [empty, account()], given))
  assert.deepEqual(Object.keys(filled.data ?? {}).sort(), ['namespace', 'token'])
})

test('when the live Secret has another resourceVersion, is complete or is gone, then nothing is written', () => {
  const secret = tokenSecret()
  const cases: readonly KubernetesObject[][] = [
    [tokenSecret({ resourceVersion: '6' })],
    [tokenSecret({ data: COMPLETE })],
    [],
  ]
  for (const live of cases) {
    const driven = syncSecret(secret, [secret, account()], { live })
    assert.deepEqual([callsOf(driven), driven?.result], [['get secrets tok'], undefined])
  }
})

test('a live read of the Secret that fails otherwise is retried', () => {
  const failed = refused(500, 'InternalError')
  assert.ok(!failed.ok)
  const driven = syncSecret(tokenSecret(), [tokenSecret(), account()], { onRead: () => failed })
  assert.deepEqual(driven?.result, { error: failed.error })
})

test('A conflict on UPDATE is success, and so is a Secret that is gone; other errors are retried', () => {
  for (const [code, isRetried] of [
    [409, false],
    [404, false],
    [500, true],
  ] as const) {
    const driven = syncSecret(tokenSecret(), [tokenSecret(), account()], {
      onWrite: () => refused(code, code === 409 ? 'Conflict' : 'Reason'),
    })
    assert.equal(driven?.writes.length, 1)
    assert.equal(driven.result?.error !== undefined, isRetried)
  }
})

test('Given a deleted Secret and no account, then nothing; with a reference, then GET and UPDATE of the account; without reference, then GET only', () => {
  assert.deepEqual(callsOf(syncSecret(tokenSecret(), [])), [])
  const referring = account({ secrets: ['first', 'tok', 'last'] })
  const driven = syncSecret(tokenSecret(), [referring])
  assert.deepEqual(callsOf(driven), ['get serviceaccounts robot', 'update serviceaccounts robot'])
  assert.deepEqual(written(driven).secrets, [{ name: 'first' }, { name: 'last' }])
  const without = account({ secrets: ['other'] })
  assert.deepEqual(callsOf(syncSecret(tokenSecret(), [without])), ['get serviceaccounts robot'])
  assert.deepEqual(callsOf(syncSecret(tokenSecret(), [account()])), ['get serviceaccounts robot'])
})

test('a Secret of the same name and another uid counts as gone', () => {
  const renewed = tokenSecret({ uid: 'other' })
  assert.deepEqual(callsOf(syncSecret(tokenSecret(), [renewed, account({ secrets: ['tok'] })])), [
    'get serviceaccounts robot',
    'update serviceaccounts robot',
  ])
})

test('Removing a reference never touches an account with another uid, and one that is gone is done', () => {
  const key = tokenSecret({ accountUid: 'account-uid' })
  const cached = [account({ secrets: ['tok'] })]
  for (const live of [[account({ uid: 'other', secrets: ['tok'] })], []])
    assert.deepEqual(callsOf(syncSecret(key, cached, { live })), ['get serviceaccounts robot'])
  assert.deepEqual(callsOf(syncSecret(key, [account({ uid: 'other' })])), [])
  const gone = syncSecret(key, cached, { onWrite: () => refused(404, 'NotFound') })
  assert.equal(gone?.writes.length, 1)
})

test('taking off a reference is tried ten times on conflict, with a pause between, and then left; other errors are left at once', () => {
  for (const [code, tries] of [
    [409, 10],
    [500, 1],
  ] as const) {
    let left = 0
    const driven = syncSecret(tokenSecret(), [account({ secrets: ['tok'] })], {
      onWrite: () => refused(code, code === 409 ? 'Conflict' : 'x'),
      settings: { onReferenceLeft: () => void left++ },
    })
    const waits = driven?.effects.filter(({ effect }) => effect === 'wait')
    assert.deepEqual([driven?.writes.length, waits?.length, left], [tries, tries - 1, 1])
    assert.equal(driven?.result, undefined)
  }
})

test('Given a tombstone for an account, then its key is queued', () => {
  // The shell unwraps a tombstone to the last known object; of one without any there is no uid to act on.
  assert.deepEqual([...accountWatch.onDelete!(account())], [accountKeyOf(account())])
  const unknown = new DeletedFinalStateUnknown<ServiceAccount>('ns/robot', undefined)
  assert.deepEqual([...accountWatch.onDelete!(unknown)], [])
})

test('an account whose deletion and re-creation were seen as one change is queued as it was, too', () => {
  const next = account({ uid: 'next-uid' })
  assert.deepEqual(
    [...accountWatch.onUpdate!(account(), next)],
    [accountKeyOf(account()), accountKeyOf(next)],
  )
  assert.equal([...accountWatch.onUpdate!(next, next)].length, 1)
})

test('only token Secrets are queued, with what their event said; a tombstone is not', () => {
  const key = secretKeyOf(tokenSecret())
  assert.notEqual(key, secretKeyOf(tokenSecret({ accountUid: 'x' })))
  assert.notEqual(key, secretKeyOf(tokenSecret({ accountName: 'other' })))
  assert.deepEqual([...secretWatch.onAdd!(tokenSecret())], [key])
  assert.deepEqual([...secretWatch.onUpdate!(opaque, tokenSecret())], [key])
  assert.deepEqual([...secretWatch.onUpdate!(tokenSecret(), opaque)], [key])
  assert.deepEqual([...secretWatch.onDelete!(tokenSecret())], [key])
  assert.deepEqual(
    [
      ...secretWatch.onAdd!(opaque),
      ...secretWatch.onUpdate!(opaque, opaque),
      ...secretWatch.onDelete!(opaque),
      ...secretWatch.onDelete!(new DeletedFinalStateUnknown<Secret>('ns/tok', undefined)),
    ],
    [],
  )
  assert.deepEqual([accountWatch.resyncPeriodMs, secretWatch.resyncPeriodMs], [0, 0])
})

test('a Secret keeps all but what it lacks, and is told its account', () => {
  const secret: Secret = {
    ...tokenSecret(),
    immutable: false,
    data: { mine: 'eA==' },
  }
  const live = { ...secret, metadata: { ...secret.metadata, labels: { team: 'x' } } }
  const driven = syncSecret(live, [account(), live])
  const sent = written(driven)
  const { name, uid } = account().metadata ?? {}
  assert.deepEqual(sent, {
    ...live,
    metadata: {
      ...live.metadata,
      annotations: {
        ...live.metadata?.annotations,
        'kubernetes.io/service-account.name': name,
        'kubernetes.io/service-account.uid': uid,
      },
    },
    data: {
      mine: 'eA==',
      'ca.crt': sent.data?.['ca.crt'],
      namespace: sent.data?.['namespace'],
      token: sent.data?.['token'],
    },
  })
})
