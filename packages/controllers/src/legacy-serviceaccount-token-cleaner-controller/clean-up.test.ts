import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ConfigMap, KubernetesObject, Pod, Secret, ServiceAccount } from '@gyropilot/api'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refused } from '../workload-support/fixtures.ts'
import { cleanUp } from './clean-up.ts'
import { legacyTokenCleanerLogic, legacyTokenCleanerController } from './index.ts'

const DAY_MS = 24 * 3_600_000
const NOW_MS = Date.UTC(2026, 5, 30, 15)
const day = (daysAgo: number): string =>
  new Date(NOW_MS - daysAgo * DAY_MS).toISOString().slice(0, 10)
const LAST_USED = 'kubernetes.io/legacy-token-last-used'
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'

function account(overrides: Partial<ServiceAccount> = {}): ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace: 'ns', name: 'robot', uid: 'account-uid' },
    secrets: [{ name: 'tok' }],
    ...overrides,
  }
}

interface TokenOptions {
  readonly labels?: Record<string, string>
  readonly annotations?: Record<string, string>
  readonly createdMsAgo?: number
  readonly deleting?: boolean
  readonly type?: string
}

/** Made by itself, two years ago, never used. */
function token(given: TokenOptions = {}): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace: 'ns',
      name: 'tok',
      uid: 'secret-uid',
      resourceVersion: '9',
      creationTimestamp: new Date(NOW_MS - (given.createdMsAgo ?? 730 * DAY_MS)).toISOString(),
      ...(given.deleting && { deletionTimestamp: new Date(NOW_MS).toISOString() }),
      ...(given.labels && { labels: given.labels }),
      annotations: given.annotations ?? { 'kubernetes.io/service-account.name': 'robot' },
    },
    type: given.type ?? 'kubernetes.io/service-account-token',
  }
}

function podWith(name: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'ns', name: 'p' },
    spec: { containers: [], volumes: [{ name: 'v', secret: { secretName: name } }] },
    status: { phase: 'Succeeded' },
  }
}

const tracking = (data?: Record<string, string>): ConfigMap => ({ data })
const TRACKED = tracking({ since: day(800) })

interface Run extends DriveOptions {
  readonly tracking?: ConfigMap | undefined
  readonly cleanUpPeriodMs?: number
}

function run(cached: readonly KubernetesObject[], given: Run = {}) {
  const logger = new RecordingLogger()
  const configuration = {
    ...defaultControllersConfiguration,
    legacyTokenCleaner: { cleanUpPeriodMs: given.cleanUpPeriodMs ?? 365 * DAY_MS },
  }
  const logic = legacyTokenCleanerLogic({ informers: fakeInformers(cached), configuration, logger })
  const known = 'tracking' in given ? given.tracking : TRACKED
  const driven = drive(logic.round(), {
    nowMs: NOW_MS,
    onRead: (read) => {
      assert.deepEqual(
        [read.verb, read.verb === 'get' && [read.type.resource, read.namespace, read.name]],
        [
          'get',
          ['configmaps', 'kube-system', 'kube-apiserver-legacy-service-account-token-tracking'],
        ],
      )
      return known === undefined ? refused(404, 'NotFound') : { ok: true, object: known }
    },
    ...given,
  })
  return { ...driven, logger }
}

const fates = (cached: readonly KubernetesObject[], given: Run = {}) =>
  run(cached, given).writes.map(({ verb }) => verb)

const unready: readonly [string, ConfigMap | undefined][] = [
  ['no ConfigMap', undefined],
  ['no data', tracking()],
  ['no `since`', tracking({ other: 'x' })],
  ['an unparsable `since`', tracking({ since: '2024-13-01' })],
  ['a `since` with a time', tracking({ since: '2024-01-01T00:00:00Z' })],
  ['a `since` a period ago to the day', tracking({ since: day(365) })],
]
test('Given no ConfigMap, no `since`, an unparsable `since`, or `since` younger than P, then only the GET is sent', () => {
  for (const [what, known] of unready) {
    const { effects } = run([account(), token()], { tracking: known })
    assert.deepEqual(
      effects.map(({ effect }) => effect),
      ['read'],
      what,
    )
  }
})

test('the start of tracking is rounded up to the next midnight', () => {
  const given = { tracking: tracking({ since: day(366) }) }
  assert.deepEqual(fates([account(), token()], given), ['patch'])
})

const kept: readonly [string, readonly KubernetesObject[]][] = [
  ['another Secret type', [account(), token({ type: 'Opaque' })]],
  ['not referenced by the account', [account({ secrets: [] }), token()]],
  ['an account without a list', [account({ secrets: undefined }), token()]],
  ['created a period ago to the second', [account(), token({ createdMsAgo: 365 * DAY_MS })]],
  ['being deleted', [account(), token({ deleting: true })]],
  ['last used a period ago to the day', [account(), token({ labels: { [LAST_USED]: day(365) } })]],
  ['unparsable last-used', [account(), token({ labels: { [LAST_USED]: 'yesterday' } })]],
  ['account missing', [token()]],
  ['empty account-name annotation', [account(), token({ annotations: {} })]],
  [
    'an account of another uid',
    [
      account(),
      token({
        annotations: {
          'kubernetes.io/service-account.name': 'robot',
          'kubernetes.io/service-account.uid': 'other',
        },
      }),
    ],
  ],
]
test('Given another Secret type, not referenced by the account, created too late, being deleted, last used too late, unparsable last-used, account missing, empty account-name annotation, then only the GET', () => {
  for (const [what, cached] of kept) assert.deepEqual(fates(cached), [], what)
})

test('Given the Secret is used by a Pod, then only the GET', () => {
  assert.deepEqual(fates([account(), token(), podWith('tok')]), [])
  assert.deepEqual(fates([account(), token(), podWith('other')]), ['patch'])
  const elsewhere = { ...podWith('tok'), metadata: { namespace: 'elsewhere', name: 'p' } }
  assert.deepEqual(fates([account(), token(), elsewhere]), ['patch'])
})

test('Given an unused, unreferenced auto-generated token without label, then one PATCH with invalid-since today', () => {
  const annotations = {
    'kubernetes.io/service-account.name': 'robot',
    'kubernetes.io/service-account.uid': 'account-uid',
  }
  const created = { createdMsAgo: 365 * DAY_MS + 1, annotations }
  for (const secret of [token(created), token({ labels: { [LAST_USED]: day(366) } })]) {
    assert.deepEqual(run([account(), secret]).writes, [
      {
        verb: 'patch',
        type: resources.secrets,
        namespace: 'ns',
        name: 'tok',
        patch: {
          type: 'merge',
          value: {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: {
              name: 'tok',
              namespace: 'ns',
              uid: 'secret-uid',
              labels: { [INVALID_SINCE]: '2026-06-30' },
            },
          },
        },
        subresource: undefined,
      },
    ])
  }
})

test('Given invalid-since unparsable, then a PATCH with today', () => {
  for (const text of ['', 'long ago', '2024-02-30'])
    assert.deepEqual(fates([account(), token({ labels: { [INVALID_SINCE]: text } })]), ['patch'])
})

test('Given invalid-since younger than P, then nothing; older, then DELETE', () => {
  const since = (daysAgo: number) => token({ labels: { [INVALID_SINCE]: day(daysAgo) } })
  assert.deepEqual(fates([account(), since(364)]), [])
  assert.deepEqual(fates([account(), since(365)]), [])
  assert.deepEqual(run([account(), since(366)]).writes, [
    {
      verb: 'delete',
      type: resources.secrets,
      namespace: 'ns',
      name: 'tok',
      options: { preconditions: { resourceVersion: '9' } },
    },
  ])
})

test('a label does not help where a pod takes the Secret by now', () => {
  const old = token({ labels: { [INVALID_SINCE]: day(500) } })
  assert.deepEqual(fates([account(), old, podWith('tok')]), [])
})

test('One failing Secret must not stop the run; 404 and 409 of a deletion are not worth a word', () => {
  const named = (name: string, labels?: Record<string, string>): Secret => {
    const secret = token(labels ? { labels } : {})
    return { ...secret, metadata: { ...secret.metadata, name } }
  }
  const cached = [
    account({ secrets: ['a', 'b', 'c'].map((name) => ({ name })) }),
    ...['a', 'b', 'c'].map((name) => named(name, { [INVALID_SINCE]: day(500) })),
  ]
  const codes = [404, 409, 500]
  const { writes, logger } = run(cached, {
    onWrite: (_, index) => refused(codes[index]!, 'Reason'),
  })
  assert.deepEqual([writes.length, logger.lines.length], [3, 1])
  const patches = run([account(), token()], { onWrite: () => refused(409, 'Conflict') })
  assert.equal(patches.logger.lines.length, 1)
})

test('the period must be more than nothing', () => {
  for (const [cleanUpPeriodMs, text] of [
    [0, '0s'],
    [-3_600_000, '-1h0m0s'],
  ] as const) {
    const message = `failed to init the legacy service account token cleaner: invalid CleanUpPeriod: ${text}`
    assert.throws(() => run([], { cleanUpPeriodMs }), { message })
  }
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = legacyTokenCleanerController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'legacy-serviceaccount-token-cleaner-controller',
      ['legacy-service-account-token-cleaner'],
      'legacy-service-account-token-cleaner',
      true,
    ],
  )
})

test('a run waits for accounts, Secrets and pods: the next one is a day away', () => {
  const informers = fakeInformers([])
  const configuration = defaultControllersConfiguration
  const logger = new RecordingLogger()
  const { caches } = legacyTokenCleanerLogic({ informers, configuration, logger })
  const { serviceaccounts, secrets, pods } = resources
  assert.deepEqual(
    caches,
    [serviceaccounts, secrets, pods].map((type) => informers.informer<KubernetesObject>(type)),
  )
})

test('the period has passed when it is over to the millisecond, and is a year by default', () => {
  const dayBeginsMs = Date.parse(`${day(10)}T00:00:00Z`)
  const cleanUpPeriodMs = NOW_MS - dayBeginsMs - DAY_MS
  const given = { tracking: tracking({ since: day(10) }), cleanUpPeriodMs }
  assert.deepEqual(fates([account(), token()], given), ['patch'])
  const { legacyTokenCleaner } = defaultControllersConfiguration
  assert.equal(legacyTokenCleaner.cleanUpPeriodMs, 365 * DAY_MS)
})

test('a last use that is no day protects, whatever it is', () => {
  for (const lastUsed of ['', '0', 'never', '2020-1-1'])
    assert.deepEqual(fates([account(), token({ labels: { [LAST_USED]: lastUsed } })]), [], lastUsed)
})

test('the pods of a namespace are looked through once for all its tokens', () => {
  const { informer } = fakeInformers([
    account({ secrets: [{ name: 'tok' }, { name: 'other' }] }),
    token(),
    { ...token(), metadata: { ...token().metadata, name: 'other' } },
  ])
  let looks = 0
  const pods = {
    ...informer(resources.pods).lister,
    list: () => {
      looks++
      return [podWith('other')]
    },
  }
  const rules = cleanUp({
    accounts: informer(resources.serviceaccounts).lister,
    secrets: informer(resources.secrets).lister,
    pods,
    cleanUpPeriodMs: 365 * DAY_MS,
    onFailure: (_, error) => assert.fail(String(error)),
  })
  const onRead = () => ({ ok: true, object: TRACKED }) as const
  const { writes } = drive(rules, { nowMs: NOW_MS, onRead })
  assert.deepEqual([writes.length, looks], [1, 1])
})
