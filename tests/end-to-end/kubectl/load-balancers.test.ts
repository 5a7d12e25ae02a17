/** Load balancers and nodes of a cloud, as kubectl shows them. Contract: docs/behaviour/controllers/service-lb-controller.md. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startGyro } from '../gyro-process.ts'
import type { GyroProcess } from '../gyro-process.ts'

let gyro: GyroProcess

before(async () => {
  gyro = await startGyro(['--cloud=in-memory', '--nodes=1'])
})
after(() => gyro.stop())

test('expose --type=LoadBalancer gives an address, events tell the story, and delete takes it back', () => {
  gyro.ok('create', 'deployment', 'web', '--image=nginx', '--port=80')
  gyro.ok('expose', 'deployment', 'web', '--type=LoadBalancer')
  gyro.ok(
    'wait',
    'service/web',
    '--for=jsonpath={.status.loadBalancer.ingress[0].ip}',
    '--timeout=10s',
  )
  const row = gyro.ok('get', 'service', 'web', '--no-headers').split(/ +/)
  assert.deepEqual([row[1], row[3]], ['LoadBalancer', '203.0.113.1'])
  const described = gyro.ok('describe', 'service', 'web')
  assert.match(described, /LoadBalancer Ingress: +203\.0\.113\.1 \(VIP\)/)
  assert.match(described, /EnsuringLoadBalancer .* service-controller +Ensuring load balancer/)
  gyro.ok('delete', 'service', 'web', '--timeout=10s')
  assert.equal(gyro.kubectl('get', 'service', 'web').code, 1)
})

test('nodes show what their cloud knows, and take pods', () => {
  const node = gyro.json('get', 'node', 'node-1')
  assert.equal(node.spec.providerID, 'in-memory://node-1')
  assert.equal(node.spec.taints, undefined)
  assert.match(gyro.ok('get', 'nodes', '-L', 'topology.kubernetes.io/zone'), /zone-a/)
  assert.match(gyro.ok('describe', 'node', 'node-1'), /Synced .* cloud-node-controller/)
  gyro.ok('rollout', 'status', 'deployment/web', '--timeout=20s')
})
