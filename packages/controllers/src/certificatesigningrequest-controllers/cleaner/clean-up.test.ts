import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { CertificateSigningRequest } from '@gyropilot/api'
import { generateKeyPair, issueCertificate } from '@gyropilot/foundation/x509'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import { refused } from '../../workload-support/fixtures.ts'
import { certificateCleanerLogic, certificateCleanerController } from './index.ts'
import { isOver } from './age-rules.ts'

const NOW_MS = Date.UTC(2026, 0, 2)
const HOUR_MS = 3_600_000
const ago = (ms: number): string => new Date(NOW_MS - ms).toISOString()

/** Base64 of the PEM text. */
function certificate(notAfterMs: number): string {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName: 'a' }
  const pem = issueCertificate(
    {
      subject,
      publicKey,
      usage: 'client',
      serialNumber: Uint8Array.of(1),
      notBeforeMs: NOW_MS - 48 * HOUR_MS,
      notAfterMs,
    },
    { subject, privateKey },
  )
  return Buffer.from(pem).toString('base64')
}

const VALID = certificate(NOW_MS + HOUR_MS)
const ENDS_NOW = certificate(NOW_MS)
const EXPIRED = certificate(NOW_MS - 1_000)

interface Given {
  /** Type and age of conditions; null: without a time. */
  readonly conditions?: readonly (readonly [string, number | null])[]
  readonly certificate?: string
  readonly createdMsAgo?: number
}

function request(given: Given, name = 'csr'): CertificateSigningRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, creationTimestamp: ago(given.createdMsAgo ?? 100 * HOUR_MS) },
    spec: { request: '', signerName: 'a.b/c' },
    status: {
      ...(given.certificate && { certificate: given.certificate }),
      ...(given.conditions && {
        conditions: given.conditions.map(([type, ageMs]) => ({
          type,
          status: 'True',
          ...(ageMs !== null && { lastUpdateTime: ago(ageMs) }),
        })),
      }),
    },
  }
}

const table: readonly (readonly [string, Given, boolean])[] = [
  ['issued, old', { certificate: VALID, conditions: [['Approved', HOUR_MS + 1]] }, true],
  ['issued, at the limit', { certificate: VALID, conditions: [['Approved', HOUR_MS]] }, false],
  ['issued, no time', { certificate: VALID, conditions: [['Approved', null]] }, false],
  ['issued, not approved', { certificate: VALID, conditions: [['Other', 90 * HOUR_MS]] }, false],
  ['denied, old', { conditions: [['Denied', HOUR_MS + 1]] }, true],
  ['denied, at the limit', { conditions: [['Denied', HOUR_MS]] }, false],
  ['failed, old', { conditions: [['Failed', HOUR_MS + 1]] }, true],
  ['failed, at the limit', { conditions: [['Failed', HOUR_MS]] }, false],
  [
    'failed after approval, old',
    {
      conditions: [
        ['Approved', 0],
        ['Failed', HOUR_MS + 1],
      ],
    },
    true,
  ],
  ['pending, old', { createdMsAgo: 24 * HOUR_MS + 1 }, true],
  ['pending, at the limit', { createdMsAgo: 24 * HOUR_MS }, false],
  ['empty list of conditions', { conditions: [], createdMsAgo: 24 * HOUR_MS + 1 }, true],
  ['expired', { certificate: EXPIRED, conditions: [['Approved', 0]] }, true],
  ['expires now', { certificate: ENDS_NOW, conditions: [['Approved', 0]] }, false],
  ['expired, not approved', { certificate: EXPIRED, conditions: [['Other', 0]] }, false],
  ['unreadable', { certificate: 'eA==', conditions: [['Approved', 0]] }, false],
  ['approved, not issued, old', { conditions: [['Approved', 24 * HOUR_MS + 1]] }, true],
  ['approved, not issued, at the limit', { conditions: [['Approved', 24 * HOUR_MS]] }, false],
  [
    'conditions of other types only: never pending',
    { conditions: [['Other', 90 * HOUR_MS]] },
    false,
  ],
]

test('Given CSRs in each age class, then the cleaner deletes exactly the listed ones', () => {
  for (const [what, given, over] of table) assert.equal(isOver(request(given), NOW_MS), over, what)
  const cached = table.map(([what, given]) => request(given, what))
  const { writes } = run(cached)
  assert.deepEqual(
    writes.map((write) => write.verb === 'delete' && write.name).toSorted(),
    table.flatMap(([what, , over]) => (over ? [what] : [])).toSorted(),
  )
})

function run(cached: readonly CertificateSigningRequest[], code?: number) {
  const logger = new RecordingLogger()
  const logic = certificateCleanerLogic({ informers: fakeInformers(cached), logger })
  const driven = drive(logic.round(), {
    nowMs: NOW_MS,
    ...(code !== undefined && { onWrite: () => refused(code, 'Reason') }),
  })
  return { ...driven, logger, logic }
}

test('the cleaner deletes plainly, and a refusal stops nothing', () => {
  const cached = ['a', 'b'].map((name) => request({}, name))
  const { writes, logger, logic } = run(cached, 500)
  assert.deepEqual([writes.length, logger.lines.length], [2, 2])
  assert.deepEqual(writes[0], {
    verb: 'delete',
    type: resources.certificatesigningrequests,
    namespace: undefined,
    name: 'a',
    options: undefined,
  })
  assert.deepEqual([logic.periodMs, logic.caches], [HOUR_MS, []])
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = certificateCleanerController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'certificatesigningrequest-cleaner-controller',
      ['csrcleaner'],
      'certificate-controller',
      true,
    ],
  )
})
