import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleted, facts, found } from './example-facts.ts'
import { explain } from './explain.ts'
import type { Facts, Found } from './facts.ts'
import { knownFinalizer, knownFinalizerNames } from './known-finalizers.ts'
import { shortName } from './words.ts'

const claimVolume = { name: 'd', persistentVolumeClaim: { claimName: 'data' } }
const pod = (name: string, fields: object) => found('Pod', name, fields)
const onNode = (...volumes: readonly object[]) => ({ spec: { nodeName: 'node-1', volumes } })
const ephemeral = { name: 'cache', ephemeral: {} }
const attachment = (name: string, volume: string) => ({
  ...found('*storage.k8s.io/VolumeAttachment', name, {
    spec: { source: { persistentVolumeName: volume } },
  }),
})

interface Case {
  readonly finalizer: string
  readonly on: Found
  readonly related?: readonly Found[]
  readonly more?: Partial<Facts>
  readonly keepers?: readonly string[]
  readonly evidence?: RegExp
}

const CASES: readonly Case[] = [
  {
    finalizer: 'kubernetes.io/pvc-protection',
    on: found('PersistentVolumeClaim', 'data'),
    related: [
      pod('user', onNode({ name: 'e', emptyDir: {} }, claimVolume)),
      pod('finished', { ...onNode(claimVolume), status: { phase: 'Succeeded' } }),
      pod('unscheduled', { spec: { volumes: [claimVolume] } }),
      pod('other', onNode({ name: 'd', persistentVolumeClaim: { claimName: 'else' } })),
      pod('plain', onNode({ name: 'd', emptyDir: {} })),
    ],
    keepers: ['pod/user', 'pod/finished'],
    evidence: /^kept by 2 pods$/,
  },
  {
    finalizer: 'kubernetes.io/pvc-protection',
    on: found('PersistentVolumeClaim', 'web-cache', {
      metadata: {
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web' }],
      },
    }),
    related: [
      pod('web', onNode(ephemeral)),
      { ...pod('web', { ...onNode(ephemeral), metadata: { uid: 'uid-later' } }) },
    ],
    keepers: ['pod/web'],
  },
  {
    finalizer: 'kubernetes.io/pvc-protection',
    on: found('PersistentVolumeClaim', 'data'),
    evidence: /nothing that would keep it is to be seen: its remover has to act/,
  },
  {
    finalizer: 'kubernetes.io/pv-protection',
    on: found('*PersistentVolume', 'vol', {
      spec: { claimRef: { uid: 'uid-data', name: 'data', namespace: 'shop' } },
      status: { phase: 'Bound' },
    }),
    related: [found('PersistentVolumeClaim', 'data'), found('PersistentVolumeClaim', 'else')],
    keepers: ['persistentvolumeclaim/data'],
    evidence: /the volume is Bound/,
  },
  {
    finalizer: 'kubernetes.io/pv-protection',
    on: found('*PersistentVolume', 'vol', {
      spec: { claimRef: { uid: 'uid-data' } },
      status: { phase: 'Released' },
    }),
    related: [found('PersistentVolumeClaim', 'data')],
    evidence: /the volume is Released/,
  },
  {
    finalizer: 'kubernetes.io/pv-protection',
    on: found('*PersistentVolume', 'by-name', {
      spec: { claimRef: { name: 'data', namespace: 'shop' } },
      status: { phase: 'Bound' },
    }),
    related: [
      found('PersistentVolumeClaim', 'data'),
      found('PersistentVolumeClaim', 'else'),
      found('PersistentVolumeClaim', 'data', { metadata: { namespace: 'other', uid: 'x' } }),
    ],
    keepers: ['persistentvolumeclaim/data'],
  },
  {
    finalizer: 'kubernetes.io/vac-protection',
    on: found('*storage.k8s.io/VolumeAttributesClass', 'gold'),
    related: [
      found('PersistentVolumeClaim', 'a', { spec: { volumeAttributesClassName: 'gold' } }),
      found('PersistentVolumeClaim', 'b', { status: { currentVolumeAttributesClassName: 'gold' } }),
      found('PersistentVolumeClaim', 'c', {
        status: { modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold' } },
      }),
      found('*PersistentVolume', 'd', { spec: { volumeAttributesClassName: 'gold' } }),
      found('PersistentVolumeClaim', 'e', { spec: { volumeAttributesClassName: 'silver' } }),
    ],
    keepers: [
      'persistentvolumeclaim/a',
      'persistentvolumeclaim/b',
      'persistentvolumeclaim/c',
      'persistentvolume/d',
    ],
  },
  {
    finalizer: 'kubernetes.io/pv-controller',
    on: found('*PersistentVolume', 'vol', { status: { phase: 'Failed', message: 'no such disk' } }),
    evidence: /the volume is Failed: no such disk/,
  },
  {
    finalizer: 'external-provisioner.volume.kubernetes.io/finalizer',
    on: found('*PersistentVolume', 'vol', { status: { phase: 'Released' } }),
    related: [attachment('a1', 'vol'), attachment('a2', 'else')],
    keepers: ['volumeattachment.storage.k8s.io/a1'],
    evidence: /the volume is Released/,
  },
  {
    finalizer: 'external-attacher/ebs-csi-aws-com',
    on: found('*PersistentVolume', 'vol'),
    related: [attachment('a1', 'vol'), attachment('a2', 'else')],
    keepers: ['volumeattachment.storage.k8s.io/a1'],
  },
  {
    finalizer: 'external-attacher/ebs-csi-aws-com',
    on: found('*storage.k8s.io/VolumeAttachment', 'a1', {
      spec: { nodeName: 'node-1', source: {} },
      status: { attached: true, detachError: { message: 'volume in use' } },
    }),
    evidence: /attached to node node-1 \| last detach failed: volume in use/,
  },
  {
    finalizer: 'provisioner.storage.kubernetes.io/cloning-protection',
    on: found('PersistentVolumeClaim', 'data'),
  },
  {
    finalizer: 'scheduling.k8s.io/podgroup-protection',
    on: found('scheduling.k8s.io/PodGroup', 'g'),
    related: [
      pod('a', { spec: { schedulingGroup: { podGroupName: 'g' } }, status: { phase: 'Running' } }),
      pod('b', {
        spec: { schedulingGroup: { podGroupName: 'g' } },
        status: { phase: 'Succeeded' },
      }),
      pod('c', { spec: { schedulingGroup: { podGroupName: 'g' } }, status: { phase: 'Failed' } }),
      pod('d', { spec: { schedulingGroup: { podGroupName: 'h' } } }),
    ],
    keepers: ['pod/a'],
  },
  {
    finalizer: 'batch.kubernetes.io/job-tracking',
    on: pod('work-0', { status: { phase: 'Running' } }),
    more: {
      owners: [
        {
          reference: {
            apiVersion: 'batch/v1',
            kind: 'Job',
            name: 'work',
            uid: 'u',
            controller: true,
          },
          owner: {
            state: 'there',
            found: found('batch/Job', 'work', { metadata: deleted(3, 'example.com/x') }),
          },
        },
      ],
    },
    keepers: ['job.batch/work'],
    evidence: /the pod is Running/,
  },
  {
    finalizer: 'networking.k8s.io/service-cidr-finalizer',
    on: found('*networking.k8s.io/ServiceCIDR', 'more', {
      spec: { cidrs: ['10.1.0.0/24', 'fd00:1::/112'] },
      status: { conditions: [{ type: 'Ready', status: 'False', message: 'addresses are in use' }] },
    }),
    related: ['10.1.0.7', '10.2.0.7', 'fd00:1::7', 'no address'].map((name) =>
      found('*networking.k8s.io/IPAddress', name),
    ),
    keepers: ['ipaddress.networking.k8s.io/10.1.0.7', 'ipaddress.networking.k8s.io/fd00:1::7'],
    evidence: /condition Ready: addresses are in use/,
  },
  {
    finalizer: 'service.kubernetes.io/load-balancer-cleanup',
    on: found('Service', 'web', {
      spec: { type: 'LoadBalancer' },
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
    }),
    evidence: /^type LoadBalancer, 1 addresses of a load balancer$/,
  },
  {
    finalizer: 'resource.kubernetes.io/delete-protection',
    on: found('resource.k8s.io/ResourceClaim', 'gpu', {
      status: { reservedFor: [{ uid: 'uid-a' }] },
    }),
    related: [pod('a', {}), pod('b', {})],
    keepers: ['pod/a'],
  },
  {
    finalizer: 'customresourcecleanup.apiextensions.k8s.io',
    on: found('*apiextensions.k8s.io/CustomResourceDefinition', 'widgets.example.com', {
      status: {
        conditions: [
          { type: 'Established', status: 'True', message: 'the kind is served' },
          { type: 'Terminating', status: 'True', message: 'instances remain' },
        ],
      },
    }),
    more: {
      contents: {
        found: [found('example.com/Widget', 'blue')],
        failed: [],
      },
    },
    keepers: ['widget.example.com/blue'],
    evidence: /^kept by 1 widgets.example.com \| condition Terminating: instances remain$/,
  },
  {
    finalizer: 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection',
    on: found('snapshot.storage.k8s.io/VolumeSnapshot', 's'),
  },
]
for (const { finalizer, on, related = [], more = {}, keepers = [], evidence } of CASES) {
  test(`${finalizer} of ${shortName(on)}: kept by ${keepers.join(', ') || 'nothing seen'}`, () => {
    const metadata = { ...on.object.metadata, ...deleted(9, finalizer) }
    const given = facts(
      { ...on, object: { ...on.object, metadata } },
      {
        related: { found: related, failed: [] },
        ...more,
      },
    )
    const [reason, ...others] = explain(given).reasons
    assert.deepEqual(others, [])
    assert.equal(reason!.holds, `finalizer ${finalizer}`)
    assert.deepEqual(reason!.waitsFor.map(shortName), keepers)
    assert.match(reason!.evidence.join(' | '), evidence ?? /^/)
    assert.ok(reason!.remover && reason!.release)
    assert.doesNotMatch(
      reason!.release,
      /kubectl patch/,
      'nobody is told to skip what Kubernetes does',
    )
  })
}

test('every finalizer of Kubernetes that is known stands in the table of cases, the collector’s beside', () => {
  const tested = new Set([
    ...CASES.map(({ finalizer }) => finalizer),
    'foregroundDeletion',
    'orphan',
  ])
  assert.deepEqual(
    knownFinalizerNames.filter((name) => !tested.has(name)),
    [],
  )
})

test('names that objects have by nature are no finalizers', () => {
  for (const name of ['toString', 'constructor', 'external-attacher/', 'external-attacher'])
    assert.equal(knownFinalizer(name), undefined, name)
})

test('a list that failed is told beside a known finalizer', () => {
  const claim = found('PersistentVolumeClaim', 'data', {
    metadata: deleted(9, 'kubernetes.io/pvc-protection'),
  })
  const failed = [{ resource: 'pods', reason: 'x', forbidden: true }]
  const [reason] = explain(facts(claim, { related: { found: [], failed } })).reasons
  assert.ok(reason!.evidence.includes('pods could not be looked at: this user may not list them'))
})
