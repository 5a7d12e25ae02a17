import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, EphemeralContainer, Pod } from '../generated/types.ts'
import { secretNamesOf } from './pod-secrets.ts'

const environment = (name: string): Pick<Container, 'name' | 'env' | 'envFrom'> => ({
  name,
  env: [{ name: 'E', valueFrom: { secretKeyRef: { name: `${name}-key`, key: 'k' } } }],
  envFrom: [{ secretRef: { name: `${name}-all` } }, { configMapRef: { name: 'not-this' } }],
})
const ref = (name: string) => ({ secretRef: { name } })

const pod: Pod = {
  spec: {
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [environment('init')],
    containers: [environment('main')],
    ephemeralContainers: [environment('debug') as EphemeralContainer],
    volumes: [
      { name: 'v', secret: { secretName: 'secret' } },
      { name: 'v', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: {} }] } },
      { name: 'v', azureFile: { secretName: 'azure', shareName: 's' } },
      { name: 'v', cephfs: { monitors: [], ...ref('ceph') } },
      { name: 'v', cinder: { volumeID: 'x', ...ref('cinder') } },
      { name: 'v', flexVolume: { driver: 'd', ...ref('flex') } },
      { name: 'v', iscsi: { targetPortal: 'p', iqn: 'q', lun: 0, ...ref('iscsi') } },
      { name: 'v', rbd: { monitors: [], image: 'i', ...ref('rbd') } },
      { name: 'v', scaleIO: { gateway: 'g', system: 's', ...ref('scale') } },
      { name: 'v', storageos: ref('storageos') },
      { name: 'v', csi: { driver: 'd', nodePublishSecretRef: { name: 'csi' } } },
      { name: 'v', emptyDir: {} },
      { name: 'v', secret: { secretName: '' } },
    ],
  },
}

test('a Secret is named by image pulls, environments of all containers, and volumes of every kind that can', () => {
  assert.deepEqual(
    [...secretNamesOf(pod)].sort(),
    [
      'pull',
      'init-all',
      'init-key',
      'main-all',
      'main-key',
      'debug-all',
      'debug-key',
      'secret',
      'projected',
      'azure',
      'ceph',
      'cinder',
      'flex',
      'iscsi',
      'rbd',
      'scale',
      'storageos',
      'csi',
    ].sort(),
  )
  assert.deepEqual(secretNamesOf({}), [])
})
