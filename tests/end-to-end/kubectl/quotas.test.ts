/** What kubectl does with quotas. Contract: docs/behaviour/controllers/resourcequota-controller.md. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { begin, expectAll, finish, gyro, refuseAll } from './session.ts'

before(begin)
after(finish)

test('create quota, describe it, run into it, and have room again', () => {
  expectAll([
    ['create namespace team', 'namespace/team created\n'],
    [
      'create quota small -n team --hard=pods=1,count/configmaps=2,count/deployments.apps=1',
      'resourcequota/small created\n',
    ],
    ['create quota idle -n team --hard=pods=5 --scopes=BestEffort', 'resourcequota/idle created\n'],
  ])
  gyro.ok('wait', '-n', 'team', 'quota/small', '--for=jsonpath={.status.used.pods}=0')
  gyro.ok('run', 'web', '-n', 'team', '--image=nginx:1.27')
  expectAll([
    [
      'describe quota small -n team',
      /^Name: +small\nNamespace: +team\nResource +Used +Hard\n[^]*\ncount\/configmaps +1 +2\ncount\/deployments.apps +0 +1\npods +1 +1\n$/,
    ],
    ['describe quota idle -n team', /\nScopes: +BestEffort\n[^]*\npods +1 +5\n$/],
    ['describe namespace team', /\nResource Quotas\n[^]*small\n[^]*pods +1 +1\n/],
    ['get quota small -n team', /pods: 1\/1/],
  ])
  refuseAll([
    [
      'run other -n team --image=nginx:1.27',
      /pods "other" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1/,
    ],
  ])
  gyro.ok('create', 'deployment', 'd', '-n', 'team', '--image=nginx:1.27')
  assert.match(
    gyro.ok('wait', '-n', 'team', 'deploy/d', '--for=condition=ReplicaFailure', '--timeout=30s'),
    /condition met/,
  )
  gyro.ok('delete', 'pod', 'web', '-n', 'team', '--grace-period=0', '--force')
  gyro.ok('delete', 'deployment', 'd', '-n', 'team')
  gyro.ok('wait', '-n', 'team', 'quota/small', '--for=jsonpath={.status.used.pods}=0')
  gyro.ok('run', 'other', '-n', 'team', '--image=nginx:1.27')
})
