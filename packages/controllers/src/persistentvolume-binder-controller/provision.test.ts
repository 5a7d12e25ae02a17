import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../workload-support/fixtures.ts'
import {
  BOUND_ALL,
  WITH_CLASS,
  checkClaims,
  claim,
  deleted,
  podUsing,
  storageClass,
  volume,
  world,
} from './fixtures.ts'

const inClass = (className: string | null, more = {}) => claim('c', { className, ...more })
const missing = 'ProvisioningFailed: storageclass.storage.k8s.io "fast" not found'
const LATE = storageClass('fast', 'example.com/disk', { volumeBindingMode: 'WaitForFirstConsumer' })
const selected = { annotations: { 'volume.kubernetes.io/selected-node': 'n' } }
const ANNOTATED = 'claim c: volume -'
const waiting = (provisioner: string) => [
  `ExternalProvisioning: Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
]

checkClaims('with delayed binding only pre-bound volumes are bound here', [
  {
    title: 'a free one',
    objects: [LATE, volume('v', WITH_CLASS), inClass('fast')],
    done: [],
    told: ['WaitForFirstConsumer: waiting for first consumer to be created before binding'],
  },
  {
    title: 'a pre-bound one',
    objects: [LATE, volume('v', { claimUid: '', ...WITH_CLASS }), inClass('fast')],
    done: BOUND_ALL,
  },
  {
    title: 'one pod waits',
    objects: [
      LATE,
      podUsing('p'),
      podUsing('there', 'n'),
      podUsing('over', '', 'Failed'),
      podUsing('done', '', 'Succeeded'),
      deleted(podUsing('gone')),
      inClass('fast'),
    ],
    done: [],
    told: ['WaitForPodScheduled: waiting for pod p to be scheduled'],
  },
  {
    title: 'two pods wait',
    objects: [LATE, podUsing('q'), podUsing('p'), inClass('fast')],
    done: [],
    told: ['WaitForPodScheduled: waiting for pods p,q to be scheduled'],
  },
  {
    title: 'only pods with a node',
    objects: [LATE, podUsing('there', 'n'), inClass('fast')],
    done: [],
    told: ['WaitForFirstConsumer: waiting for first consumer to be created before binding'],
  },
  {
    title: 'a node was selected',
    objects: [LATE, inClass('fast', selected)],
    done: [ANNOTATED],
    told: waiting('example.com/disk'),
  },
  ...[undefined, null].map((mode) => ({
    title: `a class without a mode: ${mode}`,
    objects: [storageClass('fast', 'p', { volumeBindingMode: mode as undefined }), inClass('fast')],
    done: [],
    error: 'VolumeBindingMode not set for StorageClass "fast"',
  })),
])

const asked = (provisioner: string) => ({
  annotations: {
    'volume.kubernetes.io/storage-provisioner': provisioner,
    'volume.beta.kubernetes.io/storage-provisioner': provisioner,
  },
})
const HOST_PATH = 'kubernetes.io/host-path'

checkClaims(
  'Given provisioning success, failures, save errors, external, migrated, mount options, data source, then events and annotations.',
  [
    {
      title: 'external',
      objects: [storageClass('fast'), inClass('fast')],
      done: [ANNOTATED],
      told: waiting('example.com/disk'),
    },
    {
      title: 'external, asked already: told every time',
      objects: [storageClass('fast'), inClass('fast', asked('example.com/disk'))],
      done: [],
      told: waiting('example.com/disk'),
    },
    {
      title: 'external, asked already without the older annotation',
      objects: [
        storageClass('fast'),
        inClass('fast', {
          annotations: { 'volume.kubernetes.io/storage-provisioner': 'example.com/disk' },
        }),
      ],
      done: [],
      told: waiting('example.com/disk'),
    },
    {
      title: 'never the status',
      objects: [
        storageClass('fast'),
        inClass('fast', { phase: 'Lost', ...asked('example.com/disk') }),
      ],
      done: [],
      told: waiting('example.com/disk'),
    },
    {
      title: 'the annotation cannot be saved',
      objects: [storageClass('fast'), inClass('fast')],
      done: [ANNOTATED],
      error: 'Conflict',
      options: { onWrite: () => refused(409, 'Conflict') },
    },
    {
      title: 'migrated',
      objects: [storageClass('fast', 'kubernetes.io/aws-ebs'), inClass('fast')],
      done: [ANNOTATED],
      told: waiting('ebs.csi.aws.com'),
    },
    { title: 'no such class', objects: [inClass('fast')], done: [], told: [missing] },
    {
      title: 'no such plugin',
      objects: [storageClass('fast', 'kubernetes.io/no-provisioner'), inClass('fast')],
      done: [],
      told: ['ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner'],
    },
    {
      title: 'host paths',
      objects: [storageClass('fast', HOST_PATH), inClass('fast')],
      done: [ANNOTATED],
      told: [
        `ProvisioningFailed: Failed to create provisioner: provisioning in volume plugin "${HOST_PATH}" is disabled`,
      ],
    },
    {
      title: 'its volume is there',
      objects: [
        storageClass('fast', HOST_PATH),
        volume('pvc-c-uid', { phase: 'Pending' }),
        inClass('fast'),
      ],
      done: [ANNOTATED],
    },
    {
      title: 'mount options',
      objects: [storageClass('fast', HOST_PATH, { mountOptions: ['a', 'b'] }), inClass('fast')],
      done: [ANNOTATED],
      told: [
        'ProvisioningFailed: Mount options are not supported by the provisioner but StorageClass "fast" has mount options [a b]',
      ],
    },
    {
      title: 'data source',
      objects: [
        storageClass('fast', HOST_PATH),
        inClass('fast', {
          spec: { storageClassName: 'fast', dataSource: { kind: 'VolumeSnapshot', name: 's' } },
        }),
      ],
      done: [],
      told: [
        `ProvisioningFailed: plugin "${HOST_PATH}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource`,
      ],
    },
    {
      title: 'switched off',
      objects: [storageClass('fast'), inClass('fast')],
      done: [],
      options: { settings: { enableDynamicProvisioning: false } },
    },
  ],
)

test('who is asked stands in both annotations', () => {
  const [write] =
    world([storageClass('fast', 'kubernetes.io/gce-pd'), inClass('fast')]).syncClaim()?.writes ?? []
  assert.ok(write?.verb === 'update')
  assert.deepEqual(write.object.metadata?.annotations, asked('pd.csi.storage.gke.io').annotations)
})
