/** What kubectl does with StatefulSets. Contract: docs/behaviour/controllers/statefulset-controller.md. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../gyro-process.ts'
import { begin, expectAll, finish, gyro, rolloutStatus } from './session.ts'

before(begin)
after(finish)

function statefulSet(name: string, spec: object = {}, podSpec: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      serviceName: name,
      replicas: 2,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'c', image: 'nginx:1' }], ...podSpec },
      },
      ...spec,
    },
  }
}

const names = (kind: string, app: string): string =>
  gyro.ok('get', kind, '-l', `app=${app}`, '-o', 'jsonpath={.items[*].metadata.name}')

test('rollout of a StatefulSet: status, history, undo, restart', async () => {
  gyro.apply(statefulSet('web'))
  assert.match(
    gyro.ok('rollout', 'status', 'sts/web'),
    /partitioned roll out complete: 2 new pods have been updated\.\.\.\n$/,
  )
  assert.equal(names('pods', 'web'), 'web-0 web-1')
  const updated = await rolloutStatus(
    'sts/web',
    () => gyro.ok('set', 'image', 'sts/web', 'c=nginx:2'),
    /Waiting for partitioned roll out to finish: 0 out of 2 new pods have been updated/,
  )
  assert.match(
    updated,
    /\nWaiting for partitioned roll out to finish: 1 out of 2 new pods have been updated[^]*complete: 2 new pods have been updated\.\.\.\n$/,
  )
  expectAll([
    ['rollout history sts/web', /\n1 +<none>\n2 +<none>\n/],
    ['rollout history sts/web --revision=1', /Image:\s+nginx:1\n/],
    ['rollout undo sts/web', 'statefulset.apps/web rolled back\n'],
    ['rollout status sts/web', /roll out complete: 2 new pods/],
    ['rollout history sts/web', /\n2 +<none>\n3 +<none>\n/],
  ])
  assert.equal(gyro.json('get', 'pod', 'web-1').spec.containers[0].image, 'nginx:1')
  const before = gyro.json('get', 'pod', 'web-0').metadata.uid
  expectAll([
    ['rollout restart sts/web', 'statefulset.apps/web restarted\n'],
    ['rollout status sts/web', /roll out complete: 2 new pods/],
  ])
  assert.notEqual(gyro.json('get', 'pod', 'web-0').metadata.uid, before)
  assert.equal(names('controllerrevisions', 'web').split(' ').length, 3)
})

test('a StatefulSet is scaled, told of and deleted with its pods', () => {
  gyro.apply(statefulSet('sized'))
  gyro.ok('rollout', 'status', 'sts/sized')
  gyro.ok('scale', 'sts', 'sized', '--replicas=1')
  gyro.ok('wait', '--for=delete', 'pod/sized-1', '--timeout=30s')
  expectAll([
    ['get sts sized --no-headers', /^sized +1\/1 /],
    [
      'describe sts sized',
      /Normal +SuccessfulDelete .*Delete Pod sized-1 in StatefulSet sized successful/,
    ],
    ['describe sts sized', /Replicas: +1 desired \| 1 total\n/],
  ])
  gyro.ok('delete', 'sts', 'sized')
  gyro.ok('wait', '--for=delete', 'pod/sized-0', '--timeout=30s')
})

test('a claim that an earlier set has left is used again, and a new one is made beside it', () => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  // There is a default class: who wants a volume without one says so.
  const bound = { ...spec, volumeName: 'left', storageClassName: '' }
  gyro.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'left' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/x' },
    },
  })
  const metadata = { name: 'data-disk-0' }
  gyro.apply({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: bound })
  gyro.ok('wait', '--for=jsonpath={.status.phase}=Bound', 'pvc/data-disk-0', '--timeout=30s')
  expectAll([
    ['get pvc data-disk-0 --no-headers', /^data-disk-0 +Bound +left +1Gi +RWO /],
    ['get pv left --no-headers', /^left +1Gi +RWO +Retain +Bound +default\/data-disk-0 /],
  ])
  gyro.apply(statefulSet('disk', { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }] }))
  gyro.ok('wait', '--for=condition=Ready', 'pod/disk-0', '--timeout=30s')
  gyro.ok('wait', '--for=create', 'pod/disk-1', '--timeout=30s')
  gyro.ok('wait', '--for=condition=Ready', 'pod/disk-1', '--timeout=30s')
  const { volumes } = gyro.json('get', 'pod', 'disk-0').spec
  assert.deepEqual(volumes[0], {
    name: 'data',
    persistentVolumeClaim: { claimName: 'data-disk-0' },
  })
  expectAll([
    ['get pvc data-disk-1 --no-headers', /^data-disk-1 +Bound +pvc-\S+ +1Gi +RWO +standard /],
  ])
})

test('a StatefulSet with claim templates comes up by itself, moves, and keeps its data', async () => {
  const data = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  const container = {
    name: 'c',
    image: 'postgres:18',
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  }
  const spec = { replicas: 1, volumeClaimTemplates: [data] }
  gyro.apply(statefulSet('db', spec, { containers: [container] }))
  expectAll([
    ['rollout status sts/db', /roll out complete: 1 new pods/],
    ['get pvc data-db-0', /data-db-0 +Bound +pvc-\S+ +1Gi +RWO +standard /],
    ['get sc', /standard \(default\) +sim\.storage +Delete +WaitForFirstConsumer +true /],
    ['get csidrivers', /sim\.storage +true +false +false /],
    ['get csinodes', /(node-\d +1 +\S+\n){3}/],
    ['exec db-0 -- sh -c hostname>/data/name', ''],
  ])
  const first = gyro.json('get', 'pod', 'db-0')
  const home = first.spec.nodeName
  const { volumeName } = gyro.json('get', 'pvc', 'data-db-0').spec
  expectAll([
    [`get pv ${volumeName}`, /1Gi +RWO +Delete +Bound +default\/data-db-0 +standard /],
    [`cordon ${home}`, /cordoned/],
    // Not waited for: on a busy machine kubectl may find the next pod of that name first, and waits for its end then.
    ['delete pod db-0 --wait=false', /deleted/],
  ])
  await eventually('another db-0', 30_000, () => {
    const [found] = gyro.json('get', 'pods', '-l', 'app=db').items
    return found !== undefined && found.metadata.uid !== first.metadata.uid ? found : undefined
  })
  expectAll([
    ['rollout status sts/db', /roll out complete: 1 new pods/],
    ['exec db-0 -- cat /data/name', 'db-0\n'],
    ['describe pvc data-db-0', /Used By: +db-0\n(.*\n)*.*Normal +ProvisioningSucceeded /],
  ])
  assert.notEqual(gyro.json('get', 'pod', 'db-0').spec.nodeName, home)
  assert.equal(gyro.json('get', 'pvc', 'data-db-0').spec.volumeName, volumeName)
  expectAll([
    ['delete sts db', /deleted/],
    ['delete pvc data-db-0', /deleted/],
    [`wait --for=delete pv/${volumeName} --timeout=10s`, ''],
  ])
})
