import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { CertificateSigningRequest, SubjectAccessReview } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { drive, testContext } from '@gyropilot/runtime/testing'
import type { Outcome, Write } from '@gyropilot/runtime'
import { NODE, certificateRequest } from '../fixtures.ts'
import type { RequestOptions } from '../fixtures.ts'
import { requestWatch } from '../watches.ts'
import { refused } from '../../workload-support/fixtures.ts'
import { certificateApprovingLogic, certificateApprovingController } from './index.ts'
import { reconcile } from './reconcile.ts'

const SELF = { username: 'system:node:n1' }

function answered(review: Partial<SubjectAccessReview>, allowed: boolean): Outcome {
  const object: Partial<SubjectAccessReview> = { ...review, status: { allowed } }
  return { ok: true, object }
}

/** Allows what `allowed` names. */
function run(object: CertificateSigningRequest, ...allowed: readonly string[]) {
  const asked: string[] = []
  const driven = drive(reconcile(object), {
    onWrite: (write: Write): Outcome | undefined => {
      if (write.type !== resources.subjectaccessreviews || write.verb !== 'create') return undefined
      const review = write.object as SubjectAccessReview
      const { subresource = '' } = review.spec.resourceAttributes ?? {}
      asked.push(subresource)
      return answered(review, allowed.includes(subresource))
    },
  })
  return { ...driven, asked, approvals: driven.writes.slice(asked.length) }
}

test('Given recognized/allowed combinations, then no call; one SAR and error; SAR plus update of `approval` with AutoApproved', () => {
  const stranger = certificateRequest({ request: { commonName: 'bob' } })
  assert.deepEqual(run(stranger, 'nodeclient'), {
    result: undefined,
    effects: [],
    writes: [],
    events: [],
    asked: [],
    approvals: [],
  })
  const refusedOne = run(certificateRequest())
  assert.deepEqual([refusedOne.asked, refusedOne.approvals], [['nodeclient'], []])
  assert.deepEqual(
    [(refusedOne.result as { error: Error }).error.message, refusedOne.result?.expected],
    ['recognized csr "csr" as [nodeclient] but subject access review was not approved', true],
  )
  const { asked, approvals, result } = run(certificateRequest(), 'nodeclient')
  assert.deepEqual([asked, result], [['nodeclient'], undefined])
  const [approval] = approvals
  assert.ok(approval?.verb === 'update' && approval.subresource === 'approval')
  assert.deepEqual((approval.object as CertificateSigningRequest).status?.conditions, [
    {
      type: 'Approved',
      status: 'True',
      reason: 'AutoApproved',
      message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    },
  ])
})

test('a kubelet that renews is asked about itself first, then as any node', () => {
  const own = certificateRequest({ spec: SELF })
  const first = run(own, 'selfnodeclient', 'nodeclient')
  assert.deepEqual(first.asked, ['selfnodeclient'])
  assert.match(
    JSON.stringify(first.approvals),
    /Auto approving self kubelet client certificate after SubjectAccessReview\./,
  )
  assert.deepEqual(run(own, 'nodeclient').asked, ['selfnodeclient', 'nodeclient'])
  assert.match(String((run(own).result as { error: Error }).error), /\[selfnodeclient nodeclient\]/)
})

test('the review is about the requester, with all that is known of it', () => {
  const [review] = run(certificateRequest()).writes
  assert.ok(review?.verb === 'create')
  assert.deepEqual((review.object as SubjectAccessReview).spec, {
    user: 'system:bootstrap:abcdef',
    uid: 'user-uid',
    groups: ['system:bootstrappers'],
    extra: { reason: ['join'] },
    resourceAttributes: {
      verb: 'create',
      group: 'certificates.k8s.io',
      version: '*',
      resource: 'certificatesigningrequests',
      subresource: 'nodeclient',
    },
  })
})

const unrecognized: readonly [string, RequestOptions][] = [
  ['organization', { request: { ...NODE, organizations: ['a'] }, spec: SELF }],
  ['common name', { request: { ...NODE, commonName: 'n1' }, spec: { username: 'n1' } }],
  ['usages', { spec: { ...SELF, usages: ['client auth', 'server auth'] } }],
  ['alternative names', { request: { ...NODE, dnsNames: ['n1'] }, spec: SELF }],
  ['another signer', { spec: { ...SELF, signerName: 'kubernetes.io/kubelet-serving' } }],
]
test('Given node client CSRs with wrong organization, CN, usages, SANs, then not recognized', () => {
  for (const [what, options] of unrecognized)
    assert.deepEqual(run(certificateRequest(options)).effects, [], what)
})

test('kubelet-serving CSRs are never auto-approved here', () => {
  const serving = certificateRequest({
    request: { ...NODE, dnsNames: ['n1'] },
    spec: {
      ...SELF,
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
    },
  })
  assert.deepEqual(run(serving, 'nodeclient', 'selfnodeclient').effects, [])
})

test('Approval looks at the presence of Approved/Denied, not at their status; a certificate ends it too', () => {
  const condition = (type: string) => ({ conditions: [{ type, status: 'False' }] })
  const done = [condition('Approved'), condition('Denied'), { certificate: 'eA==' }]
  for (const status of done)
    assert.deepEqual(run(certificateRequest({ status }), 'nodeclient').effects, [])
  const other = certificateRequest({ status: condition('Other') })
  const [approval] = run(other, 'nodeclient').approvals
  assert.ok(approval?.verb === 'update')
  const { conditions = [] } = (approval.object as CertificateSigningRequest).status ?? {}
  assert.deepEqual(
    conditions.map(({ type }) => type),
    ['Other', 'Approved'],
  )
})

test('what cannot be read is retried, and so are refused writes', () => {
  const unreadable = run(certificateRequest({ request: 'nothing' }))
  assert.match(String((unreadable.result as { error: Error }).error), /unable to parse csr "csr"/)
  for (const refusedAt of [0, 1]) {
    const { result } = drive(reconcile(certificateRequest()), {
      onWrite(write, index): Outcome {
        if (index === refusedAt) return refused(409, 'Conflict')
        return answered(write.verb === 'create' ? (write.object as SubjectAccessReview) : {}, true)
      },
    })
    assert.ok(result?.error && result.expected === undefined, String(refusedAt))
  }
})

test('every event about a request enqueues its name, a deletion that was missed too', () => {
  const request = certificateRequest()
  const missed = new DeletedFinalStateUnknown<CertificateSigningRequest>('csr', undefined)
  assert.deepEqual([...requestWatch.onAdd!(request)], ['csr'])
  assert.deepEqual([...requestWatch.onUpdate!(request, request)], ['csr'])
  assert.deepEqual([...requestWatch.onDelete!(request)], ['csr'])
  assert.deepEqual([...requestWatch.onDelete!(missed)], ['csr'])
})

test('queue, workers and retries are those of the page', () => {
  const { queueName, workers, rateLimiter } = certificateApprovingLogic(
    testContext({ configuration: undefined }),
  )
  assert.deepEqual([queueName, workers], ['certificate', 5])
  assert.deepEqual([rateLimiter?.whenMs('a'), rateLimiter?.whenMs('a')], [200, 400])
  for (let i = 0; i < 20; i++) rateLimiter?.whenMs('a')
  assert.equal(rateLimiter?.whenMs('a'), 1000_000)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = certificateApprovingController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'certificatesigningrequest-approving-controller',
      ['csrapproving'],
      'certificate-controller',
      true,
    ],
  )
})
