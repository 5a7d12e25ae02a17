import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ago, deleted, facts, found, quietCluster, webhook } from './example-facts.ts'
import { explain } from './explain.ts'
import type { Facts, Reason } from './facts.ts'
import { shortName } from './words.ts'

/** A reason in one text, for patterns. */
const text = ({ code, holds, remover = '', since = '', evidence, release, waitsFor }: Reason) =>
  [code, holds, remover, since, ...evidence, release, ...waitsFor.map(shortName)].join(' | ')

interface Case {
  readonly title: string
  readonly facts: Facts
  /** One pattern for each reason. */
  readonly reasons: readonly RegExp[]
}

const pod = (seconds: number, grace: number, fields: object = {}) =>
  found('Pod', 'web-0', {
    metadata: { deletionTimestamp: ago(seconds), deletionGracePeriodSeconds: grace },
    spec: { nodeName: 'node-1' },
    ...fields,
  })
const node = (status: string) =>
  found('*Node', 'node-1', {
    status: {
      conditions: [
        { type: 'MemoryPressure', status: 'Unknown' },
        { type: 'Ready', status, lastTransitionTime: ago(600), message: 'no status posted' },
      ],
    },
  }).object
const lease = (seconds: number) => ({
  metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
  spec: { holderIdentity: 'm1', renewTime: ago(seconds), leaseDurationSeconds: 15 },
})
const cluster = (more: Partial<Facts['cluster']>): Facts['cluster'] => ({
  ...quietCluster,
  ...more,
})
const namespace = (fields: object = {}) =>
  found('*Namespace', 'shop', {
    metadata: { deletionTimestamp: ago(60) },
    spec: { finalizers: ['kubernetes'] },
    ...fields,
  })
const refersTo = (uid: string, blockOwnerDeletion?: boolean) => ({
  metadata: {
    ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid, blockOwnerDeletion }],
  },
})

const deletions: readonly Case[] = [
  {
    title: 'a pod within its grace period: its kubelet, the time left, the containers that run',
    facts: facts(
      pod(-20, 30, {
        status: {
          containerStatuses: [
            { name: 'app', state: { running: {} } },
            { name: 'log', state: { terminated: {} } },
          ],
        },
      }),
    ),
    reasons: [
      /^GracePeriod \| its grace period of 30s, 20s left \| the kubelet on node node-1 \| 2026-01-02T03:03:55Z \| still running: container app \| the containers end/,
    ],
  },
  {
    title: 'a pod whose grace period is over: nobody has confirmed',
    facts: facts(pod(0, 30), { node: node('True') }),
    reasons: [/^GracePeriod \| its grace period of 30s ended 0s ago, [^]*\| the kubelet stops/],
  },
  {
    title: 'a pod on a node that is not ready: since when, and what a person may do',
    facts: facts(pod(90, 30), { node: node('Unknown') }),
    reasons: [
      /ended 1m30s ago[^|]*\|[^|]*\|[^|]*\| node node-1 is not ready \(Ready is Unknown\), since \S+ \(10m ago\): no status posted \| the node comes back; [^]*out-of-service/,
    ],
  },
  {
    title: 'a pod on a node that is gone: the pod garbage collector',
    facts: facts(pod(90, 30), { node: 'missing' }),
    reasons: [/its node does not exist any more \| the pod garbage collector/],
  },
  {
    title: 'no finalizer and no grace period: ask again',
    facts: facts(found('ConfigMap', 'c', { metadata: deleted(1) })),
    reasons: [/^NothingLeft/],
  },
  {
    title: 'foregroundDeletion: the dependents that block, not the others',
    facts: facts(found('apps/Deployment', 'web', { metadata: deleted(5, 'foregroundDeletion') }), {
      dependents: {
        found: [
          found('Pod', 'a', refersTo('uid-web', true)),
          found('Pod', 'b', refersTo('uid-web', false)),
          found('Pod', 'c', refersTo('uid-web')),
          found('Pod', 'd', refersTo('uid-other', true)),
        ],
        failed: [{ resource: 'widgets.example.com', reason: 'boom', forbidden: false }],
      },
    }),
    reasons: [
      /^Dependents \| finalizer foregroundDeletion \| the garbage collector[^|]*\| {2}\| blockOwnerDeletion of 1 pods \| 3 dependents without that do not hold it \| widgets.example.com cannot be listed: boom \|[^|]*\| pod\/a$/,
    ],
  },
  {
    title: 'foregroundDeletion with no dependent in sight: the garbage collector',
    facts: facts(found('apps/Deployment', 'web', { metadata: deleted(5, 'foregroundDeletion') })),
    reasons: [/no dependent that blocks is to be seen: the garbage collector has to act/],
  },
  {
    title: 'orphan: dependents are counted and not waited for',
    facts: facts(found('apps/Deployment', 'web', { metadata: deleted(5, 'orphan') }), {
      dependents: { found: [found('Pod', 'a', refersTo('uid-web', true))], failed: [] },
    }),
    reasons: [/1 dependent still name it as owner \| the garbage collector takes [^|]*$/],
  },
  {
    title: 'a namespace: pods first, then what finalizers hold, then the rest; its conditions',
    facts: facts(
      namespace({
        status: {
          conditions: [
            {
              type: 'NamespaceContentRemaining',
              status: 'True',
              message: 'some',
              lastTransitionTime: ago(9),
            },
            { type: 'NamespaceDeletionDiscoveryFailure', status: 'False', message: 'fine' },
          ],
        },
      }),
      {
        contents: {
          found: [
            found('Secret', 's'),
            found('ConfigMap', 'going', { metadata: deleted(1) }),
            found('ConfigMap', 'held', { metadata: deleted(1, 'example.com/x') }),
            found('Pod', 'web-0'),
          ],
          failed: [{ resource: 'secrets', reason: 'no', forbidden: true }],
        },
      },
    ),
    reasons: [
      /^NamespaceContent \| finalizer kubernetes \(spec.finalizers\) \| the namespace controller[^|]*\| 2026-01-02T03:03:56Z \| left: 2 configmaps, 1 pods, 1 secrets \| pods go first[^|]*\| condition NamespaceContentRemaining: some \| secrets could not be looked at: this user may not list them \|[^|]*\| pod\/web-0 \| configmap\/held \| configmap\/going \| secret\/s$/,
    ],
  },
  {
    title: 'a namespace of a moment ago: the controller has not begun',
    facts: facts(namespace({ metadata: { deletionTimestamp: ago(4) } })),
    reasons: [/nothing is left in it \| the controller begins five seconds after/],
  },
  {
    title: 'a namespace and a kind whose list fails, or a group that discovery cannot read',
    facts: facts(namespace(), {
      contents: {
        found: [],
        failed: [
          { resource: 'widgets.example.com', reason: 'conversion failed', forbidden: false },
        ],
      },
      cluster: cluster({ failedGroups: new Map([['metrics.k8s.io/v1beta1', 'no answer']]) }),
    }),
    reasons: [
      /nothing that can be listed is left in it \| the controller looks again/,
      /^KindUnreadable \| widgets.example.com cannot be listed \|[^]*conversion failed \|/,
      /^KindUnreadable \| API group metrics.k8s.io\/v1beta1 cannot be read \|[^]*no answer \|[^]*apiservice\/v1beta1.metrics.k8s.io is deleted/,
    ],
  },
  {
    title: 'a namespace with both lists of finalizers: each has its owner',
    facts: facts(
      namespace({
        metadata: { deletionTimestamp: ago(60), finalizers: ['example.com/meta'] },
        spec: { finalizers: ['kubernetes', 'example.com/spec'] },
      }),
    ),
    reasons: [
      /^Finalizer \| finalizer example.com\/meta \|/,
      /^NamespaceContent/,
      /^NamespaceFinalizer \| finalizer example.com\/spec \(spec.finalizers\) \|/,
    ],
  },
  {
    title: 'a kind that is called Namespace in another group is no namespace',
    facts: facts({ ...namespace(), type: { ...namespace().type, group: 'example.com' } }),
    reasons: [/^NothingLeft/],
  },
  {
    title: 'no manager leads: said beside a finalizer that one of its controllers removes',
    facts: facts(
      found('PersistentVolumeClaim', 'd', { metadata: deleted(5, 'kubernetes.io/pvc-protection') }),
      {
        cluster: cluster({ leases: [lease(31)] }),
      },
    ),
    reasons: [
      /^Finalizer/,
      /^ControllerStopped \|[^|]*\| {2}\| 2026-01-02T03:03:34Z \| lease kube-system\/kube-controller-manager of m1 was renewed 31s ago/,
    ],
  },
  {
    title: 'a manager that leads, within twice its lease, is not mentioned',
    facts: facts(
      found('PersistentVolumeClaim', 'd', { metadata: deleted(5, 'kubernetes.io/pvc-protection') }),
      {
        cluster: cluster({ leases: [lease(30)] }),
      },
    ),
    reasons: [/^Finalizer/],
  },
  {
    title: "a manager that does not lead is nothing to another program's finalizer",
    facts: facts(found('ConfigMap', 'd', { metadata: deleted(5, 'example.com/x') }), {
      cluster: cluster({ leases: [lease(500)] }),
    }),
    reasons: [/^Finalizer/],
  },
  {
    title: 'a finalizer and a webhook for updates that nobody answers',
    facts: facts(found('ConfigMap', 'd', { metadata: deleted(5, 'example.com/x') }), {
      cluster: cluster({
        webhooks: [
          webhook({
            rules: [{ ...webhook().webhook.rules![0]!, operations: ['UPDATE'], resources: ['*'] }],
          }),
        ],
      }),
    }),
    reasons: [/^Finalizer/, /^BlockedByWebhook[^]*every UPDATE of this kind/],
  },
  {
    title: 'a pod in its grace period and a webhook for deletions: the kubelet deletes once more',
    facts: facts(pod(-5, 30), {
      cluster: cluster({
        webhooks: [
          webhook({
            rules: [
              { ...webhook().webhook.rules![0]!, operations: ['DELETE'], resources: ['pods'] },
            ],
          }),
        ],
      }),
    }),
    reasons: [/^GracePeriod/, /^BlockedByWebhook[^]*every DELETE of this kind/],
  },
  {
    title: 'a namespace and a webhook for its finalize subresource',
    facts: facts(namespace(), {
      cluster: cluster({
        webhooks: [
          webhook({
            rules: [{ ...webhook().webhook.rules![0]!, resources: ['namespaces/finalize'] }],
          }),
        ],
      }),
    }),
    reasons: [/^NamespaceContent/, /^BlockedByWebhook/],
  },
]
for (const { title, facts: given, reasons } of deletions) {
  test(title, () => {
    const { state, reasons: said } = explain(given)
    assert.equal(state, 'deleting')
    assert.equal(said.length, reasons.length, said.map(text).join('\n'))
    for (const [at, reason] of said.entries()) assert.match(text(reason), reasons[at]!)
  })
}

test('a deletion was asked for its grace period before its deletionTimestamp', () => {
  assert.equal(explain(facts(pod(-20, 30))).since, '2026-01-02T03:03:55Z')
  assert.equal(explain(facts(found('ConfigMap', 'c', { metadata: deleted(7) }))).since, ago(7))
})

test('pods go first is said only of a namespace that has pods and more', () => {
  const evidence = (...objects: ReturnType<typeof found>[]): string =>
    explain(facts(namespace(), { contents: { found: objects, failed: [] } }))
      .reasons.map(text)
      .join()
  assert.doesNotMatch(evidence(found('Pod', 'a')), /pods go first/)
  assert.doesNotMatch(evidence(found('Secret', 'a')), /pods go first/)
  assert.match(evidence(found('Pod', 'a'), found('Secret', 'b')), /pods go first/)
})

test('one of several owners that blocks is enough', () => {
  const two = found('Pod', 'a', {
    metadata: {
      ownerReferences: [
        { apiVersion: 'v1', kind: 'X', name: 'y', uid: 'uid-y' },
        { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'uid-web', blockOwnerDeletion: true },
      ],
    },
  })
  const web = found('apps/Deployment', 'web', { metadata: deleted(5, 'foregroundDeletion') })
  const given = facts(web, { dependents: { found: [two], failed: [] } })
  const [reason] = explain(given).reasons
  assert.deepEqual(reason!.waitsFor.map(shortName), ['pod/a'])
  assert.deepEqual(reason!.evidence, ['blockOwnerDeletion of 1 pods'])
})

test('warnings about it are notes', () => {
  const given = facts(found('ConfigMap', 'c', { metadata: deleted(7, 'example.com/x') }), {
    warnings: ['FailedX: y'],
  })
  assert.deepEqual(explain(given).notes, ['last warning about it: FailedX: y'])
})

const owner = (state: object) => [
  {
    reference: {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'rs',
      uid: 'uid-rs',
      controller: true,
    },
    owner: state as Facts['owners'][0]['owner'],
  },
]
const there = (metadata: object = {}) => ({
  state: 'there',
  found: found('apps/ReplicaSet', 'rs', { metadata }),
})

const present: readonly (Case & { readonly notes?: readonly RegExp[] })[] = [
  { title: 'not being deleted: no reason', facts: facts(found('ConfigMap', 'c')), reasons: [] },
  {
    title: 'not being deleted, with a finalizer: told beforehand',
    facts: facts(found('ConfigMap', 'c', { metadata: { finalizers: ['example.com/x'] } })),
    reasons: [],
    notes: [/a deletion would wait for the finalizer example.com\/x/],
  },
  {
    title: 'an owner that makes another like it',
    facts: facts(found('Pod', 'a'), { owners: owner(there()) }),
    reasons: [],
    notes: [/when it is deleted, replicaset.apps\/rs in shop may make another like it/],
  },
  {
    title: 'an owner that is gone: the garbage collector',
    facts: facts(found('Pod', 'a'), { owners: owner({ state: 'gone' }) }),
    reasons: [/^OwnerGone \| its owner ReplicaSet rs \(uid uid-rs\) does not exist any more/],
  },
  {
    title: 'an owner of a kind that the server does not have',
    facts: facts(found('Pod', 'a'), { owners: owner({ state: 'unknown kind' }) }),
    reasons: [/^OwnerGone[^]*of a kind \(apps\/v1\) that the server does not have/],
  },
  {
    title: 'an owner in a namespace of what has none, beside one that is gone: never collected',
    facts: facts(found('*Node', 'n'), {
      owners: [...owner({ state: 'gone' }), ...owner({ state: 'no namespace' })],
    }),
    reasons: [/^OwnerGone[^]*OwnerRefInvalidNamespace[^]*never deletes[^]*reference is taken away/],
  },
  {
    title: 'an owner that cannot be read',
    facts: facts(found('Pod', 'a'), { owners: owner({ state: 'unreadable', reason: 'boom' }) }),
    reasons: [/^OwnerGone[^]*cannot be read \|[^]*boom/],
  },
  {
    title: 'an owner that is deleted in the foreground',
    facts: facts(found('Pod', 'a'), { owners: owner(there(deleted(3, 'foregroundDeletion'))) }),
    reasons: [/^OwnerDeleting \| its owner replicaset.apps\/rs/],
    notes: [/another like it/],
  },
  {
    title: 'an owner that is deleted, not in the foreground, is there until it is gone',
    facts: facts(found('Pod', 'a'), { owners: owner(there(deleted(3, 'example.com/x'))) }),
    reasons: [],
    notes: [/another like it/],
  },
  {
    title: 'one owner that stays is enough to stay',
    facts: facts(found('Pod', 'a'), {
      owners: [...owner({ state: 'gone' }), ...owner(there())],
    }),
    reasons: [],
    notes: [/another like it/],
  },
  {
    title: 'a namespace that is being deleted and has not come to it',
    facts: facts(found('Secret', 's'), { namespace: namespace().object }),
    reasons: [/^NamespaceTerminating[^]*it deletes pods first[^]*gyro why namespace\/shop/],
  },
  {
    title: 'a webhook for deletions that nobody answers',
    facts: facts(found('Secret', 's'), {
      cluster: cluster({ webhooks: [webhook({}, 'no ready endpoints')] }),
    }),
    reasons: [
      /^BlockedByWebhook \| webhook guard.example.com of ValidatingWebhookConfiguration\/guard \|[^]*every DELETE [^]*its service guards\/guard has no ready endpoints/,
    ],
  },
  {
    title: 'a webhook at a URL: nothing is known',
    facts: facts(found('Secret', 's'), {
      cluster: cluster({ webhooks: [webhook({}, 'unknown')] }),
    }),
    reasons: [],
    notes: [/whether it answers cannot be seen/],
  },
]
for (const { title, facts: given, reasons, notes = [] } of present) {
  test(title, () => {
    const explanation = explain(given)
    assert.equal(explanation.state, 'present')
    assert.equal(explanation.since, undefined)
    assert.equal(explanation.reasons.length, reasons.length, explanation.reasons.map(text).join())
    for (const [at, reason] of explanation.reasons.entries())
      assert.match(text(reason), reasons[at]!)
    assert.equal(explanation.notes.length, notes.length, explanation.notes.join())
    for (const [at, note] of explanation.notes.entries()) assert.match(note, notes[at]!)
  })
}

test('an address that nobody deletes names its Service', () => {
  const address = found('*networking.k8s.io/IPAddress', '10.0.0.1', {
    spec: { parentRef: { resource: 'services', namespace: 'shop', name: 'web' } },
  })
  const given = facts({ ...address, type: { ...address.type, resource: 'ipaddresses' } })
  assert.deepEqual(explain(given).notes, [
    'it is the address of services web in shop, and goes with it',
  ])
})
