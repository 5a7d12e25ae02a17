import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../../registry/kind-rules.ts'
import { createErrors, created, podSpec } from '../../fixtures.ts'

const POD = { group: '', version: 'v1', kind: 'Pod' }
const REPLICATION_CONTROLLER = { group: '', version: 'v1', kind: 'ReplicationController' }

test('rules of volumes', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      { emptyDir: {}, hostPath: { path: '/a' } },
      ['hostPath: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      { emptyDir: { sizeLimit: '-1' } },
      ['emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'],
    ],
    [
      { hostPath: { path: '/a/../b', type: 'Door' } },
      [
        'hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
        'hostPath.type: Unsupported value: "Door": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
    ],
    [
      { gitRepo: { repository: '', directory: '../x' } },
      [
        'gitRepo.repository: Required value',
        'gitRepo.directory: Invalid value: "../x": must not contain \'..\'',
      ],
    ],
    [
      { iscsi: { targetPortal: '', iqn: 'x', lun: 300 } },
      [
        'iscsi.targetPortal: Required value',
        'iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
        'iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive',
      ],
    ],
    [
      { nfs: { server: '', path: 'x' } },
      ['nfs.server: Required value', 'nfs.path: Invalid value: "x": must be an absolute path'],
    ],
    [
      { rbd: { monitors: [], image: '' } },
      ['rbd.monitors: Required value', 'rbd.image: Required value'],
    ],
    [{ cephfs: { monitors: [] } }, ['cephfs.monitors: Required value']],
    [{ flexVolume: { driver: '' } }, ['flexVolume.driver: Required value']],
    [
      { fc: {} },
      ['fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both'],
    ],
    [
      { fc: { targetWWNs: ['a'] } },
      ['fc.lun: Required value: lun is required if targetWWNs is specified'],
    ],
    [
      { azureDisk: { diskName: 'a', diskURI: 'x', kind: 'Shared', cachingMode: 'x' } },
      [
        'azureDisk.cachingMode: Unsupported value: "x": supported values: "None", "ReadOnly", "ReadWrite"',
        'azureDisk.diskURI: Unsupported value: "x": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"',
      ],
    ],
    [{ ephemeral: {} }, ['ephemeral.volumeClaimTemplate: Required value']],
    [{ image: { reference: '' } }, ['image.reference: Required value']],
    [{ secret: { secretName: '' } }, ['secret.secretName: Required value']],
    [
      { configMap: { name: '', defaultMode: 512, items: [{ key: '', path: '/a' }] } },
      [
        'configMap.name: Required value',
        'configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
        'configMap.items[0].key: Required value',
        'configMap.items[0].path: Invalid value: "/a": must be a relative path',
      ],
    ],
    [
      { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'spec.x' } }, { path: 'b' }] } },
      [
        'downwardAPI.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x',
        'downwardAPI: Required value: one of fieldRef and resourceFieldRef is required',
      ],
    ],
    [
      { projected: { sources: [{ secret: { name: 'a' }, configMap: { name: 'b' } }, {}] } },
      ['projected.sources[0]: Forbidden: may not specify more than 1 volume type per source'],
    ],
    [
      { projected: { sources: [{ serviceAccountToken: { path: '', expirationSeconds: 10 } }] } },
      [
        'projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
        'projected.path: Required value',
        'projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
      ],
    ],
    [
      {
        projected: {
          sources: [
            { configMap: { name: 'a', items: [{ key: 'k', path: 'p' }] } },
            { secret: { name: 'a', items: [{ key: 'k', path: 'p' }] } },
          ],
        },
      },
      ['projected: Invalid value: "a": conflicting duplicate paths'],
    ],
  ]
  for (const [volume, expected] of cases) {
    const errors = createErrors(POD, { spec: podSpec({}, { volumes: [{ name: 'v', ...volume }] }) })
    assert.deepEqual(
      errors.map((text) => text.replace('spec.volumes[0].', '')),
      expected,
      JSON.stringify(volume),
    )
  }
})

test('the name of a driver is measured in bytes', () => {
  const errors = (letters: number): string => {
    const volumes = [{ name: 'v', csi: { driver: 'é'.repeat(letters) } }]
    return createErrors(POD, { spec: podSpec({}, { volumes }) }).join()
  }
  assert.match(errors(32), /csi\.driver: Too long: may not be more than 63 bytes/)
  assert.doesNotMatch(errors(31), /Too long/)
})

test('what containers say of mounts, environment and resources', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      {
        volumeMounts: [
          { name: 'w', mountPath: '/a' },
          { name: 'w', mountPath: '/a', subPath: '../x', subPathExpr: 'y' },
        ],
      },
      [
        'volumeMounts[0].name: Not found: "w"',
        'volumeMounts[1].name: Not found: "w"',
        'volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
        'volumeMounts.subPath: Invalid value: "../x": must not contain \'..\'',
        'volumeMounts[1].subPathExpr: Invalid value: "y": subPathExpr and subPath are mutually exclusive',
      ],
    ],
    [
      {
        env: [
          { name: '', value: 'a' },
          { name: 'A=B', valueFrom: {} },
          { name: 'C', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
      },
      [
        'env[0].name: Required value',
        'env[1].name: Invalid value: "A=B": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
        'env[1].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
        'env[2].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
      ],
    ],
    [
      {
        env: [
          { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.foo' } } },
          { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } },
        ],
      },
      [
        'env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.foo": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
        'env[1].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
      ],
    ],
    [
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: '' } } }] },
      ['env[0].valueFrom.secretKeyRef.key: Required value'],
    ],
    [
      { resources: { requests: { cpu: '2', 'hugepages-2Mi': '1Mi' }, limits: { cpu: '1' } } },
      [
        'resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        'resources.limits: Required value: Limit must be set for non overcommitable resources',
        'resources.requests[hugepages-2Mi]: Invalid value: "1Mi": 1Mi is not positive integer multiple of hugepages-2Mi',
      ],
    ],
  ]
  for (const [container, expected] of cases) {
    const errors = createErrors(POD, { spec: podSpec(container) })
    assert.deepEqual(
      errors.map((text) => text.replace('spec.containers[0].', '')),
      expected,
      JSON.stringify(container),
    )
  }
})

test('a projected volume without sources says so, in pods and templates', () => {
  for (const projected of [{}, { sources: [] }, { sources: null }]) {
    const spec = { ...podSpec(), volumes: [{ name: 'v', projected }] }
    const pod = created(POD, { spec })
    const controller = created(REPLICATION_CONTROLLER, { spec: { template: { spec } } })
    for (const { volumes } of [pod.spec, controller.spec.template.spec])
      assert.deepEqual(volumes[0].projected, { defaultMode: 420, sources: null })
  }
})
