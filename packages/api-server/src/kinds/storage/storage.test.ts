import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { createErrors, updateErrors } from '../fixtures.ts'
import type { KindName } from '../fixtures.ts'

const kind = (name: string, namespaced = false): KindName => ({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: name,
  namespaced,
})
const STORAGE_CLASS = kind('StorageClass')
const VOLUME_ATTACHMENT = kind('VolumeAttachment')
const INLINE = 'spec.source.inlineVolumeSpec'
const CSI_DRIVER = kind('CSIDriver')
const CSI_NODE = kind('CSINode')

test('what a create is refused for', () => {
  const cases: readonly (readonly [KindName, Draft, readonly string[]])[] = [
    [
      STORAGE_CLASS,
      {
        provisioner: 'A b',
        parameters: { '': 'x' },
        reclaimPolicy: 'Recycle',
        volumeBindingMode: 'X',
        allowedTopologies: [
          {
            matchLabelExpressions: [
              { key: 'a', values: [] },
              { key: 'a', values: ['x', 'x'] },
            ],
          },
        ],
      },
      [
        "provisioner: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'parameters: Invalid value: "": field can not be empty.',
        'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
        'volumeBindingMode: Unsupported value: "X": supported values: "Immediate", "WaitForFirstConsumer"',
        'allowedTopologies[0].matchLabelExpressions[0].values: Required value',
        'allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "x"',
        'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "a"',
      ],
    ],
    [
      VOLUME_ATTACHMENT,
      {},
      [
        'spec.attacher: Required value',
        'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
        "spec.nodeName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      VOLUME_ATTACHMENT,
      { spec: { attacher: 'a', nodeName: 'n', source: { inlineVolumeSpec: {} } } },
      [
        `${INLINE}.csi: Required value: has to be specified in the context of inline volumes`,
        `${INLINE}.accessModes: Required value`,
        `${INLINE}: Required value: must specify a volume type`,
      ],
    ],
    [
      VOLUME_ATTACHMENT,
      {
        spec: {
          attacher: 'a',
          nodeName: 'n',
          source: {
            inlineVolumeSpec: {
              accessModes: ['ReadWriteOnce'],
              capacity: { storage: '1' },
              claimRef: { name: 'c' },
              hostPath: { path: '/..' },
              nodeAffinity: {},
              persistentVolumeReclaimPolicy: 'Recycle',
              storageClassName: 's',
              volumeMode: 'Block',
            },
          },
        },
      },
      [
        `${INLINE}.claimRef: Forbidden: may not be specified in the context of inline volumes`,
        `${INLINE}.capacity: Forbidden: may not be specified in the context of inline volumes`,
        `${INLINE}.csi: Required value: has to be specified in the context of inline volumes`,
        `${INLINE}.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes`,
        `${INLINE}.nodeAffinity: Forbidden: may not be specified in the context of inline volumes`,
        `${INLINE}.hostPath.path: Invalid value: "/..": must not contain '..'`,
        `${INLINE}.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'`,
        `${INLINE}.storageClassName: Forbidden: may not be specified in the context of inline volumes`,
        `${INLINE}.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes`,
      ],
    ],
    [
      VOLUME_ATTACHMENT,
      { spec: { attacher: 'a'.repeat(64), nodeName: 'n', source: { persistentVolumeName: '' } } },
      [
        'spec.attacher: Too long: may not be more than 63 bytes',
        'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
        "spec.source.persistentVolumeName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      CSI_DRIVER,
      {
        spec: {
          fsGroupPolicy: 'X',
          volumeLifecycleModes: ['X'],
          tokenRequests: [{ audience: 'a', expirationSeconds: 1 }, { audience: 'a' }],
          nodeAllocatableUpdatePeriodSeconds: 1,
        },
      },
      [
        'spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", "ReadWriteOnceWithFSType"',
        'spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
        'spec.tokenRequests[1].audience: Duplicate value: "a"',
        'spec.volumeLifecycleModes: Unsupported value: "X": supported values: "Persistent", "Ephemeral"',
        'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 1: must be greater than or equal to 10 seconds',
      ],
    ],
    [
      CSI_NODE,
      {
        spec: {
          drivers: [
            { name: 'a', nodeID: '', topologyKeys: ['', 'a', 'a'] },
            { name: 'a', nodeID: 'x', allocatable: { count: -1 } },
          ],
        },
      },
      [
        'spec.drivers[0].nodeID: Required value',
        'spec.drivers[0]: Required value',
        'spec.drivers[0]: Invalid value: "": name part must be non-empty',
        "spec.drivers[0]: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'spec.drivers[0]: Duplicate value: "a"',
        'spec.drivers[1].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
        'spec.drivers[1].name: Duplicate value: "a"',
      ],
    ],
  ]
  for (const [type, object, errors] of cases)
    assert.deepEqual(createErrors(type, object), errors, JSON.stringify(object))
})

test('what may not change', () => {
  const cases: readonly (readonly [KindName, Draft, Draft, readonly string[]])[] = [
    [
      STORAGE_CLASS,
      { provisioner: 'a' },
      {
        provisioner: 'b',
        reclaimPolicy: 'Retain',
        parameters: { a: 'b' },
        volumeBindingMode: 'WaitForFirstConsumer',
      },
      [
        'parameters: Invalid value: {"a":"b"}: field is immutable',
        'provisioner: Invalid value: "b": field is immutable',
        'reclaimPolicy: Invalid value: "Retain": field is immutable',
        'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
      ],
    ],
    [
      VOLUME_ATTACHMENT,
      { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } } },
      { spec: { attacher: 'a', nodeName: 'm', source: { persistentVolumeName: 'p' } } },
      [
        'spec: Invalid value: {"Attacher":"a","Source":{"PersistentVolumeName":"p","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable',
      ],
    ],
    [
      CSI_NODE,
      { spec: { drivers: [{ name: 'a', nodeID: 'x' }] } },
      { spec: { drivers: [{ name: 'a', nodeID: 'y' }] } },
      [
        'spec.drivers: Invalid value: {"Name":"a","NodeID":"y","TopologyKeys":null,"Allocatable":null}: field is immutable',
      ],
    ],
  ]
  for (const [type, before, after, errors] of cases)
    assert.deepEqual(updateErrors(type, before, after), errors, JSON.stringify(after))
})

test('the name of a driver is measured in bytes', () => {
  const errors = (letters: number): string =>
    createErrors(CSI_NODE, {
      spec: { drivers: [{ name: 'é'.repeat(letters), nodeID: 'n' }] },
    }).join()
  assert.match(errors(32), /spec\.drivers\[0\]\.name: Too long: may not be more than 63 bytes/)
  assert.doesNotMatch(errors(31), /Too long/)
})
