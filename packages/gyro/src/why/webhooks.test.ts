import assert from 'node:assert/strict'
import { test } from 'node:test'
import { facts, found, quietCluster, webhook } from './example-facts.ts'
import type { Facts, Found, WebhookFact } from './facts.ts'
import { webhookFindings, webhooksAsked } from './webhooks.ts'
import type { NeededWrite } from './webhooks.ts'

const DELETE: NeededWrite = { operation: 'DELETE', subresource: '' }
const FINALIZE: NeededWrite = { operation: 'UPDATE', subresource: 'finalize' }
const pod = found('Pod', 'web-0', { metadata: { labels: { app: 'web' } } })
const node = found('*Node', 'node-1')
const namespace = found('*Namespace', 'shop', { metadata: { labels: { team: 'a' } } })
const rule = (changes: object) => ({
  rules: [
    {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['DELETE' as const],
      resources: ['pods'],
      ...changes,
    },
  ],
})

const ASKED: readonly (readonly [
  string,
  Partial<WebhookFact['webhook']>,
  Found,
  NeededWrite,
  boolean,
])[] = [
  ['the resource and operation by name', rule({}), pod, DELETE, true],
  ['another resource', rule({ resources: ['secrets'] }), pod, DELETE, false],
  ['another group', rule({ apiGroups: ['apps'] }), pod, DELETE, false],
  ['every group', rule({ apiGroups: ['*'] }), pod, DELETE, true],
  ['another operation', rule({ operations: ['CREATE', 'UPDATE'] }), pod, DELETE, false],
  ['every operation', rule({ operations: ['*'] }), pod, DELETE, true],
  ['another version, which counts as equivalent', rule({ apiVersions: ['v2'] }), pod, DELETE, true],
  [
    'another version, exactly',
    { ...rule({ apiVersions: ['v2'] }), matchPolicy: 'Exact' },
    pod,
    DELETE,
    false,
  ],
  ['every resource', rule({ resources: ['*'] }), pod, DELETE, true],
  ['every resource and subresource', rule({ resources: ['*/*'] }), pod, DELETE, true],
  ['only subresources', rule({ resources: ['pods/*'] }), pod, DELETE, false],
  [
    'all subresources',
    rule({ operations: ['UPDATE'], resources: ['namespaces/*'] }),
    namespace,
    FINALIZE,
    true,
  ],
  [
    'a subresource of all',
    rule({ operations: ['UPDATE'], resources: ['*/finalize'] }),
    namespace,
    FINALIZE,
    true,
  ],
  [
    'the object, not its subresource',
    rule({ operations: ['UPDATE'], resources: ['namespaces', '*'] }),
    namespace,
    FINALIZE,
    false,
  ],
  ['namespaced objects only', rule({ resources: ['*'], scope: 'Namespaced' }), pod, DELETE, true],
  ['cluster objects only', rule({ resources: ['*'], scope: 'Cluster' }), pod, DELETE, false],
  ['cluster objects only', rule({ resources: ['*'], scope: 'Cluster' }), node, DELETE, true],
  ['labels of the object', { objectSelector: { matchLabels: { app: 'web' } } }, pod, DELETE, true],
  [
    'other labels of the object',
    { objectSelector: { matchLabels: { app: 'db' } } },
    pod,
    DELETE,
    false,
  ],
  [
    'labels of the namespace',
    { namespaceSelector: { matchLabels: { team: 'a' } } },
    pod,
    DELETE,
    true,
  ],
  [
    'other labels of the namespace',
    { namespaceSelector: { matchLabels: { team: 'b' } } },
    pod,
    DELETE,
    false,
  ],
  [
    'labels of a namespace itself',
    { namespaceSelector: { matchLabels: { team: 'b' } } },
    namespace,
    DELETE,
    false,
  ],
  [
    'labels of namespaces, and it has none',
    { namespaceSelector: { matchLabels: { team: 'b' } } },
    node,
    DELETE,
    true,
  ],
  ['no rule', { rules: [] }, pod, DELETE, false],
]
for (const [title, changes, object, write, isAsked] of ASKED) {
  test(`${title}: ${isAsked ? 'asked' : 'not asked'} about ${write.operation} ${write.subresource} of a ${object.type.kind}`, () => {
    assert.equal(webhooksAsked(given(object, webhook(changes)), [write]).length, isAsked ? 1 : 0)
  })
}

function given(object: Found, ...webhooks: readonly WebhookFact[]): Facts {
  return facts(object, {
    namespace: object.type.namespaced ? namespace.object : undefined,
    cluster: { ...quietCluster, webhooks },
  })
}

test('webhooks are never asked about their own configurations', () => {
  const own = found('*admissionregistration.k8s.io/ValidatingWebhookConfiguration', 'guard')
  assert.deepEqual(webhooksAsked(given(own, webhook()), [DELETE]), [])
})

const FINDINGS: readonly (readonly [string, WebhookFact, number, number])[] = [
  ['without a service', webhook({}, 'no service'), 1, 0],
  ['without ready endpoints', webhook({}, 'no ready endpoints'), 1, 0],
  ['that answers', webhook({}, 'answers'), 0, 0],
  ['that cannot be seen', webhook({}, 'unknown'), 0, 1],
  ['whose failure is ignored', webhook({ failurePolicy: 'Ignore' }, 'no service'), 0, 0],
]
for (const [title, fact, reasons, notes] of FINDINGS) {
  test(`a webhook ${title}: ${reasons} reasons, ${notes} notes`, () => {
    const findings = webhookFindings(given(pod, fact), [DELETE])
    assert.deepEqual([findings.reasons.length, findings.notes.length], [reasons, notes])
  })
}

test('configurations that may not be read are told, where a webhook could be asked', () => {
  const failed = {
    resource: 'validatingwebhookconfigurations.admissionregistration.k8s.io',
    reason: 'no',
    forbidden: true,
  }
  const cluster = { ...quietCluster, unread: { webhooks: [failed], controllers: [] } }
  const { reasons, notes } = webhookFindings(facts(pod, { cluster }), [DELETE])
  assert.deepEqual(reasons, [])
  assert.match(notes[0]!, /^a webhook may stand in the way \(DELETE\): validatingweb.*may not list/)
  const own = found('*admissionregistration.k8s.io/ValidatingWebhookConfiguration', 'guard')
  assert.deepEqual(webhookFindings(facts(own, { cluster }), [DELETE]).notes, [])
})

test('conditions in CEL are named, as they may let the write pass', () => {
  const matchConditions = [{ name: 'not-mine', expression: 'false' }]
  const { reasons } = webhookFindings(given(pod, webhook({ matchConditions })), [DELETE])
  assert.match(reasons[0]!.evidence[1]!, /matchConditions say otherwise: not-mine/)
})
