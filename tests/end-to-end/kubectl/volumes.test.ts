/** What kubectl shows of claims and volumes. Contract: docs/behaviour/simulation/storage.md. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { begin, expectAll, finish, gyro } from './session.ts'

before(begin)
after(finish)

const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

const database = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db' },
  spec: {
    serviceName: 'db',
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'c',
            image: 'postgres:18',
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
      },
    },
    volumeClaimTemplates: [claim],
  },
}

test('a StatefulSet with claim templates comes up by itself, moves, and keeps its data', () => {
  gyro.apply(database)
  expectAll([
    ['rollout status sts/db', /roll out complete: 1 new pods/],
    ['get pvc data-db-0', /data-db-0 +Bound +pvc-\S+ +1Gi +RWO +standard /],
    ['get sc', /standard \(default\) +sim\.storage +Delete +WaitForFirstConsumer +true /],
    ['get csidrivers', /sim\.storage +true +false +false /],
    ['get csinodes', /(node-\d +1 +\S+\n){3}/],
    ['exec db-0 -- sh -c hostname>/data/name', ''],
  ])
  const home = gyro.json('get', 'pod', 'db-0').spec.nodeName
  const { volumeName } = gyro.json('get', 'pvc', 'data-db-0').spec
  expectAll([
    [`get pv ${volumeName}`, /1Gi +RWO +Delete +Bound +default\/data-db-0 +standard /],
    [`cordon ${home}`, /cordoned/],
    ['delete pod db-0', /deleted/],
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
