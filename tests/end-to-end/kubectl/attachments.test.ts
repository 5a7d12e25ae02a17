/** What kubectl does with attached volumes. Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { begin, expectAll, file, finish, gyro } from './session.ts'

before(begin)
after(finish)

const STORAGE = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'by-hand',
}
const VOLUME = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'disk' },
  spec: {
    ...STORAGE,
    capacity: { storage: '1Gi' },
    csi: { driver: 'nobody.example.com', volumeHandle: 'disk-1' },
    claimRef: { namespace: 'default', name: 'data' },
  },
}
const CLAIM = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data' },
  spec: { ...STORAGE, volumeName: 'disk', resources: { requests: { storage: '1Gi' } } },
}

const pod = (name: string, nodeName: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    nodeName,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'c', image: 'nginx:1.27' }],
    volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
  },
})

const given = (name: string, object: object): string =>
  gyro.ok('apply', '-f', file(`${name}.json`, object))

test('a volume is attached when its driver says so, refused to a second node, and let go', () => {
  given('volume', VOLUME)
  given('claim', CLAIM)
  gyro.ok('wait', 'pvc/data', '--for=jsonpath={.status.phase}=Bound', '--timeout=30s')
  given('one', pod('one', 'node-1'))
  gyro.ok('wait', 'volumeattachment', '--all', '--for=create', '--timeout=20s')
  const name = gyro.ok('get', 'volumeattachment', '-o', 'name').trim()
  assert.match(name, /^volumeattachment.storage.k8s.io\/csi-[0-9a-f]{64}$/)
  expectAll([
    [
      'get volumeattachments',
      /ATTACHER +PV +NODE +ATTACHED +AGE\n.* nobody.example.com +disk +node-1 +false +/,
    ],
  ])
  gyro.ok(
    'patch',
    name,
    '--subresource=status',
    '--type=merge',
    '-p',
    '{"status":{"attached":true}}',
  )
  gyro.ok(
    'wait',
    'node/node-1',
    '--for=jsonpath={.status.volumesAttached[0].name}=kubernetes.io/csi/nobody.example.com^disk-1',
    '--timeout=20s',
  )
  expectAll([
    ['get volumeattachments', / +disk +node-1 +true +/],
    [
      'describe pod one',
      /SuccessfulAttachVolume .*attachdetach-controller +AttachVolume.Attach succeeded for volume "disk"/,
    ],
  ])
  given('two', pod('two', 'node-2'))
  gyro.ok(
    'wait',
    'event',
    '--for=create',
    '--field-selector=reason=FailedAttachVolume',
    '--timeout=20s',
  )
  expectAll([
    [
      'describe pod two',
      /FailedAttachVolume .*attachdetach-controller +Multi-Attach error for volume "disk" Volume is already used by pod\(s\) one/,
    ],
  ])
  gyro.ok('delete', 'pod', 'two', 'one', '--wait=false')
  gyro.ok('wait', name, '--for=delete', '--timeout=20s')
  expectAll([['get node node-1 -o jsonpath={.status.volumesAttached}', '']])
})
