/** Commands of kubectl about budgets, ReplicationControllers and Endpoints. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { begin, cells, deployment, expectAll, finish, gyro } from './session.ts'

before(begin)
after(finish)

/** Waits until the command prints it: what a controller does follows a moment later. */
function eventually(line: string, expected: RegExp): void {
  let printed = ''
  for (let attempt = 0; attempt < 100; attempt++) {
    printed = gyro.kubectl(...line.split(' ')).stdout
    if (expected.test(printed)) return
  }
  assert.match(printed, expected, `kubectl ${line}`)
}

test('drain under a budget: one pod after the other, and the budget says how many may go', () => {
  gyro.apply(deployment('web', 'nginx:1', 2))
  gyro.ok('rollout', 'status', 'deploy/web')
  gyro.ok('create', 'pdb', 'web', '--selector=app=web', '--min-available=1')
  eventually('get pdb web -o jsonpath={.status}', /"disruptionsAllowed":1/)
  const [, row = []] = cells(gyro.ok('get', 'pdb', 'web'))
  assert.deepEqual(row.slice(0, 4), ['web', '1', 'N/A', '1'])
  assert.match(
    gyro.ok('describe', 'pdb', 'web'),
    /Min available: +1\nSelector: +app=web\nStatus:\n +Allowed disruptions: +1\n +Current: +2\n +Desired: +1\n +Total: +2\n/,
  )
  // All on one node, so that a drain has to wait for the others.
  gyro.ok('cordon', 'node-1', 'node-2')
  gyro.ok('rollout', 'restart', 'deploy/web')
  gyro.ok('rollout', 'status', 'deploy/web')
  gyro.ok('uncordon', 'node-1', 'node-2')
  eventually('get pdb web -o jsonpath={.status}', /"currentHealthy":2[^]*"disruptionsAllowed":1/)
  const drained = gyro.kubectl('drain', 'node-3', '--pod-selector=app=web', '--timeout=60s')
  assert.equal(drained.code, 0, drained.stderr)
  assert.equal(drained.stdout.match(/^pod\/web-\S+ evicted$/gm)?.length, 2)
  assert.match(drained.stderr, /will retry after 5s.*violate the pod's disruption budget/)
  gyro.ok('uncordon', 'node-3')
  gyro.ok('rollout', 'status', 'deploy/web')
  gyro.ok('delete', 'deploy/web', 'pdb/web')
})

test('a Service is found from within: by a pod that is run for it, by exec, and in the log of a pod that waited', () => {
  const waiting = 'until wget -qO- http://shop/hello; do echo not yet; sleep 0.2; done'
  gyro.ok('run', 'waits', '--image=busybox', '--restart=Never', '--', 'sh', '-c', waiting)
  gyro.apply(deployment('shop', 'nginx:1', 2))
  gyro.ok('rollout', 'status', 'deploy/shop')
  gyro.ok('expose', 'deploy/shop', '--port=80')
  gyro.ok('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/waits', '--timeout=30s')
  const page = /simulated pod default\/shop-\S+ on node-\d: port 80, GET \/hello\n/
  const log = gyro.ok('logs', 'waits')
  assert.match(log, /^wget: bad address 'shop'\nnot yet\n/)
  assert.match(log, page)
  const asks = 'run asks --rm -i --image=busybox --restart=Never -- wget -qO- shop.default/hello'
  const ran = gyro.kubectl(...asks.split(' '))
  assert.match(ran.stdout, page)
  assert.match(gyro.ok('exec', 'deploy/shop', '--', 'curl', '-s', 'shop/hello'), page)
  const refused = gyro.kubectl('exec', 'deploy/shop', '--', 'nslookup', 'nosuch')
  assert.deepEqual(
    [refused.code, refused.stdout.split('\n').at(-3)],
    [1, "** server can't find nosuch: NXDOMAIN"],
  )
  gyro.ok('delete', 'deploy/shop', 'svc/shop', 'pod/waits')
})

test('a ReplicationController is scaled and described', () => {
  const template = {
    metadata: { labels: { app: 'rc' } },
    spec: { containers: [{ name: 'c', image: 'nginx' }] },
  }
  gyro.apply({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'rc' },
    spec: { replicas: 1, selector: { app: 'rc' }, template },
  })
  expectAll([['scale rc/rc --replicas=3', 'replicationcontroller/rc scaled\n']])
  eventually('get rc rc --no-headers', /^rc +3 +3 +3 /)
  assert.match(
    gyro.ok('describe', 'rc', 'rc'),
    /Replicas: +3 current \/ 3 desired\nPods Status: +3 Running[^]*SuccessfulCreate[^\n]*replication-controller +Created pod: rc-/,
  )
  gyro.ok('scale', 'rc/rc', '--replicas=0')
  eventually('get rc rc --no-headers', /^rc +0 +0 +0 /)
  gyro.ok('delete', 'rc', 'rc')
})

test('get endpoints shows the pods of a Service, and those kept by hand are mirrored', () => {
  gyro.apply(deployment('shop', 'nginx:1', 2))
  gyro.ok('rollout', 'status', 'deploy/shop')
  gyro.ok('expose', 'deploy/shop', '--port=80')
  eventually('get endpoints shop --no-headers', /^shop +10\.\d+\.\d+\.\d+:80,10\.\d+\.\d+\.\d+:80 /)
  assert.match(gyro.kubectl('get', 'endpoints', 'shop').stderr, /v1 Endpoints is deprecated/)
  gyro.apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'outside' },
    spec: { ports: [{ port: 80 }] },
  })
  gyro.apply({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'outside' },
    subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 8080 }] }],
  })
  eventually(
    'get endpointslices -l kubernetes.io/service-name=outside --no-headers',
    /^outside-\S+ +IPv4 +8080 +10\.1\.2\.3 /,
  )
  // Ports stand in the order of their hashes.
  gyro.ok('create', 'service', 'clusterip', 'many', '--tcp=1', '--tcp=2', '--tcp=3')
  gyro.ok('set', 'selector', 'service', 'many', 'app=shop')
  eventually('get endpoints many -o jsonpath={.subsets[0].ports[*].port}', /^2 3 1$/)
  eventually(
    'get endpointslices -l kubernetes.io/service-name=many -o jsonpath={.items[0].ports[*].port}',
    /^2 3 1$/,
  )
  gyro.ok('delete', 'svc/many')
  gyro.ok('delete', 'deploy/shop', 'svc/shop', 'svc/outside')
  eventually('get endpoints shop outside --no-headers --ignore-not-found', /^$/)
})
