import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume, PersistentVolumeSpec, Pod, Volume } from '@gyropilot/api'
import { translatedInlineVolume, translatedVolume } from './csi-translation.ts'

const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'ns', name: 'p' } }

function volume(spec: PersistentVolumeSpec, labels: Record<string, string> = {}): PersistentVolume {
  return { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'pv', labels }, spec }
}

const URI = '/subscriptions/x/resourceGroups/y/providers/Microsoft.Compute/disks/d'
const ZONE = 'topology.kubernetes.io/zone'
const OLD_ZONE = 'failure-domain.beta.kubernetes.io/zone'
const secretName = 'azure-storage-account-acc-secret'

/** As upstream names them. */
const HANDLES: readonly (readonly [
  PersistentVolumeSpec,
  string,
  string,
  Record<string, string>?,
])[] = [
  [{ awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-1' } }, 'ebs.csi.aws.com', 'vol-1'],
  [{ awsElasticBlockStore: { volumeID: 'aws:///vol-3' } }, 'ebs.csi.aws.com', 'vol-3'],
  [{ awsElasticBlockStore: { volumeID: 'vol-2' } }, 'ebs.csi.aws.com', 'vol-2'],
  [{ awsElasticBlockStore: { volumeID: 'disk-4' } }, 'ebs.csi.aws.com', 'disk-4'],
  [{ awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-5/' } }, 'ebs.csi.aws.com', 'vol-5'],
  [
    { gcePersistentDisk: { pdName: 'g' } },
    'pd.csi.storage.gke.io',
    'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/g',
  ],
  [
    { gcePersistentDisk: { pdName: 'g' } },
    'pd.csi.storage.gke.io',
    'projects/UNSPECIFIED/zones/z1/disks/g',
    { [ZONE]: 'z1', [OLD_ZONE]: 'z2' },
  ],
  [
    { gcePersistentDisk: { pdName: 'g' } },
    'pd.csi.storage.gke.io',
    'projects/UNSPECIFIED/regions/us-east1/disks/g',
    { [OLD_ZONE]: 'us-east1-b__us-east1-c' },
  ],
  [{ azureDisk: { diskName: 'd', diskURI: URI } }, 'disk.csi.azure.com', URI],
  [
    { azureFile: { secretName, shareName: 's', secretNamespace: 'other' } },
    'file.csi.azure.com',
    '#acc#s#pv#other',
  ],
  [
    {
      azureFile: { secretName: 'plain', shareName: 's' },
      claimRef: { namespace: 'ns', name: 'c' },
    },
    'file.csi.azure.com',
    '#plain#s#pv#ns',
  ],
  [
    {
      azureFile: { secretName: `my-${secretName}-2`, shareName: 's', secretNamespace: 'other' },
      claimRef: { namespace: 'ns', name: 'c' },
    },
    'file.csi.azure.com',
    '#acc#s#pv#other',
  ],
  [{ cinder: { volumeID: 'cv' } }, 'cinder.csi.openstack.org', 'cv'],
  [{ vsphereVolume: { volumePath: '[ds] x.vmdk' } }, 'csi.vsphere.vmware.com', '[ds] x.vmdk'],
  [{ portworxVolume: { volumeID: 'px' } }, 'pxd.portworx.com', 'px'],
]

/** Of these nobody can tell the driver. */
const UNTOLD: readonly (readonly [PersistentVolumeSpec, RegExp, Record<string, string>?])[] = [
  [{ awsElasticBlockStore: { volumeID: 'aws://us-east-1a/disk-1' } }, /invalid format for AWS/],
  [{ awsElasticBlockStore: { volumeID: 'aws://us-east-1a/a/vol-1' } }, /invalid format for AWS/],
  [{ gcePersistentDisk: { pdName: 'g' } }, /unexpected format: z1$/, { [ZONE]: 'z1__z2' }],
  [{ gcePersistentDisk: { pdName: 'g' } }, /several regions/, { [ZONE]: 'us-east1-b__us-west1-b' }],
]

for (const [spec, reason, labels] of UNTOLD) {
  test(`${JSON.stringify(spec)} cannot be told to its driver`, () => {
    assert.throws(() => translatedVolume(volume(spec, labels)), reason)
  })
}

for (const [spec, driver, handle, labels] of HANDLES) {
  test(`${Object.keys(spec)[0]} is ${handle} to ${driver}`, () => {
    assert.deepEqual(translatedVolume(volume(spec, labels)), { driver, handle })
  })
}

test('the resource group of a share stands before its account', () => {
  const share = volume({ azureFile: { secretName, shareName: 's', secretNamespace: 'other' } })
  const annotations = { 'kubernetes.io/azure-file-resource-group': 'group' }
  const named = { ...share, metadata: { ...share.metadata, annotations } }
  assert.equal(translatedVolume(named)?.handle, 'group#acc#s#pv#other')
})

test('a share whose secret is in a namespace that nobody names is refused', () => {
  assert.throws(() => translatedVolume(volume({ azureFile: { secretName, shareName: 's' } })), {
    message: 'could not find a secret namespace in PersistentVolumeSource or ClaimRef',
  })
})

test('other volumes have not moved', () => {
  for (const spec of [
    { nfs: { server: 's', path: '/' } },
    { csi: { driver: 'd', volumeHandle: 'h' } },
    {},
  ])
    assert.equal(translatedVolume(volume(spec as PersistentVolumeSpec)), undefined)
  assert.equal(translatedInlineVolume(pod, { name: 'v', emptyDir: {} }), undefined)
})

type Inline = Omit<Volume, 'name'>
type Csi = Partial<NonNullable<PersistentVolumeSpec['csi']>>

/** As upstream's VolumeAttachments have them. */
const INLINE: readonly (readonly [Inline, string, Csi, string?])[] = [
  [
    { awsElasticBlockStore: { volumeID: 'vol-1', fsType: 'ext4', partition: 1, readOnly: true } },
    'ebs.csi.aws.com-vol-1',
    { volumeHandle: 'vol-1', readOnly: true, fsType: 'ext4', volumeAttributes: { partition: '1' } },
  ],
  [
    { awsElasticBlockStore: { volumeID: 'vol-2' } },
    'ebs.csi.aws.com-vol-2',
    { volumeHandle: 'vol-2', volumeAttributes: { partition: '0' } },
  ],
  [
    { gcePersistentDisk: { pdName: 'g', fsType: 'ext4', partition: 2, readOnly: true } },
    'pd.csi.storage.gke.io-g',
    {
      volumeHandle: 'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/g',
      readOnly: true,
      fsType: 'ext4',
      volumeAttributes: { partition: '2' },
    },
    'ReadOnlyMany',
  ],
  [
    { gcePersistentDisk: { pdName: 'g' } },
    'pd.csi.storage.gke.io-g',
    {
      volumeHandle: 'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/g',
      volumeAttributes: { partition: '' },
    },
  ],
  [
    {
      azureDisk: {
        diskName: 'd',
        diskURI: URI,
        kind: 'Managed',
        cachingMode: 'None',
        fsType: 'xfs',
        readOnly: true,
      },
    },
    URI,
    {
      volumeHandle: URI,
      readOnly: true,
      fsType: 'xfs',
      volumeAttributes: { cachingmode: 'None', fstype: 'xfs', kind: 'Managed' },
    },
  ],
  [
    { azureDisk: { diskName: 'd', diskURI: URI, kind: 'Managed', cachingMode: 'ReadWrite' } },
    URI,
    {
      volumeHandle: URI,
      fsType: 'ext4',
      volumeAttributes: { cachingmode: 'ReadWrite', fstype: 'ext4', kind: 'Managed' },
    },
  ],
  [
    { azureFile: { secretName, shareName: 's', readOnly: true } },
    '#acc#s#v#ns',
    {
      volumeHandle: '#acc#s#v#ns',
      readOnly: true,
      volumeAttributes: { sharename: 's' },
      nodeStageSecretRef: { name: secretName, namespace: 'ns' },
    },
    'ReadWriteMany',
  ],
  [
    { cinder: { volumeID: 'cv', fsType: 'ext3', readOnly: true } },
    'cinder.csi.openstack.org-cv',
    { volumeHandle: 'cv', readOnly: true, fsType: 'ext3' },
  ],
  [
    { vsphereVolume: { volumePath: '[ds] x.vmdk', storagePolicyName: 'gold' } },
    'csi.vsphere.vmware.com-[ds] x.vmdk',
    { volumeHandle: '[ds] x.vmdk' },
  ],
  [{ portworxVolume: { volumeID: 'px' } }, 'pxd.portworx.com-px', { volumeHandle: 'px' }],
]

for (const [source, name, csi, mode = 'ReadWriteOnce'] of INLINE) {
  test(`inline ${JSON.stringify(source)} is ${name}`, () => {
    const found = translatedInlineVolume(pod, { name: 'v', ...source })!
    assert.equal(found.name, name)
    // As it is sent.
    const sent = JSON.parse(JSON.stringify(found.spec)) as unknown
    const expected = {
      csi: { driver: found.driver, ...csi },
      accessModes: [mode],
      volumeMode: 'Filesystem',
    }
    assert.deepEqual(sent, expected)
    assert.equal(found.handle, csi.volumeHandle)
  })
}
