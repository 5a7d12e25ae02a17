import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Service } from '@gyropilot/api'
import type { VirtualClock } from '@gyropilot/foundation'
import { testClock } from '@gyropilot/runtime/testing'
import { InstanceNotFound } from '../errors.ts'
import { InMemoryCloud } from './in-memory-cloud.ts'
import type { InMemoryPart } from './in-memory-cloud.ts'

const signal = new AbortController().signal
const node = (name: string): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
const service = (uid: string): Service =>
  ({ apiVersion: 'v1', kind: 'Service', metadata: { name: uid, namespace: 'ns', uid } }) as Service

function cloudOf(parts?: readonly InMemoryPart[]): { clock: VirtualClock; cloud: InMemoryCloud } {
  const clock = testClock()
  return { clock, cloud: new InMemoryCloud({ clock, parts }) }
}

test('machines are known under the names of their nodes, in the new form and in the old', async () => {
  const { cloud } = cloudOf(['instancesV2', 'instances', 'zones'])
  const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }]
  cloud.addMachine('n', { instanceId: 'i-1', instanceType: 'm', addresses, zone: 'z', region: 'r' })
  assert.deepEqual(await cloud.instancesV2!.instanceMetadata(node('n'), signal), {
    providerId: 'in-memory://i-1',
    instanceType: 'm',
    nodeAddresses: addresses,
    zone: 'z',
    region: 'r',
    additionalLabels: undefined,
  })
  assert.equal(await cloud.instances!.instanceId('n', signal), 'i-1')
  assert.equal(await cloud.instances!.instanceTypeByProviderId('in-memory://i-1', signal), 'm')
  assert.deepEqual(await cloud.zones!.getZoneByProviderId('in-memory://i-1', signal), {
    failureDomain: 'z',
    region: 'r',
  })
  cloud.terminate('n')
  assert.equal(await cloud.instancesV2!.instanceExists(node('n'), signal), false)
  await assert.rejects(cloud.instancesV2!.instanceShutdown(node('n'), signal), InstanceNotFound)
  assert.equal(await cloud.instances!.instanceExistsByProviderId('in-memory://n', signal), false)
})

test('a balancer keeps its address through changes of its nodes and gives it back when it goes', async () => {
  const { loadBalancers, balancers } = cloudOf().cloud
  const ensure = (uid: string, ...nodes: Node[]): Promise<unknown> =>
    loadBalancers!.ensureLoadBalancer('c', service(uid), nodes, signal)
  const first = { ingress: [{ ip: '203.0.113.1', ipMode: 'VIP' }] }
  assert.deepEqual(await ensure('a', node('n'), node('m')), first)
  assert.deepEqual(await ensure('b'), { ingress: [{ ip: '203.0.113.2', ipMode: 'VIP' }] })
  assert.deepEqual(balancers.get('aa')?.nodes, ['m', 'n'])
  await loadBalancers!.updateLoadBalancer('c', service('a'), [node('o')], signal)
  assert.deepEqual(balancers.get('aa'), { service: 'ns/a', status: first, nodes: ['o'] })
  await loadBalancers!.ensureLoadBalancerDeleted('c', service('a'), signal)
  assert.equal(await loadBalancers!.getLoadBalancer('c', service('a'), signal), undefined)
  await assert.rejects(loadBalancers!.updateLoadBalancer('c', service('a'), [], signal))
  assert.deepEqual(await ensure('d'), first)
})

test('a route of a name exists once', async () => {
  const { routes, routeTable } = cloudOf().cloud
  const route = { name: '', targetNode: 'n', destinationCidr: '10.0.0.0/24' }
  await routes!.createRoute('c', 'uid', route, signal)
  await assert.rejects(routes!.createRoute('c', 'uid', route, signal), /exists already/)
  const [listed] = await routes!.listRoutes('c', signal)
  assert.equal(listed!.name, 'uid-10.0.0.0/24')
  await routes!.deleteRoute('c', listed!, signal)
  assert.deepEqual(routeTable, [])
})

test('calls can be slowed, refused, lost and cut off, and all of them are counted', async () => {
  const { clock, cloud } = cloudOf()
  cloud.addMachine('n')
  const exists = (): Promise<boolean> => cloud.instancesV2!.instanceExists(node('n'), signal)
  const settled = async (call: Promise<unknown>): Promise<string> => {
    let state = 'pending'
    call.then(
      (value) => (state = String(value)),
      (error: Error) => (state = error.message),
    )
    await clock.advance(1_000)
    return state
  }
  cloud.faults.slow('*', 1_500)
  const slow = exists()
  assert.equal(await settled(slow), 'pending')
  assert.equal(await settled(slow), 'true')
  cloud.faults.clear()
  cloud.faults.fail('instanceExists', new Error('no'), 1)
  assert.equal(await settled(exists()), 'no')
  assert.equal(await settled(exists()), 'true')
  cloud.faults.partition()
  const cut = exists()
  assert.equal(await settled(cut), 'pending')
  await clock.advance(10_000)
  assert.equal(await settled(cut), 'instanceExists: i/o timeout')
  cloud.faults.clear()
  cloud.faults.loseAnswers('*', 1)
  const ensured = cloud.loadBalancers!.ensureLoadBalancer('c', service('a'), [], signal)
  assert.equal(await settled(ensured), 'connection reset by peer')
  assert.equal(cloud.balancers.size, 1)
  assert.equal(cloud.faults.countOf('instanceExists'), 4)
})

test('a call that nobody waits for any more ends', async () => {
  const { cloud } = cloudOf()
  const stopped = AbortSignal.abort(new Error('stopped'))
  await assert.rejects(cloud.instancesV2!.instanceExists(node('n'), stopped), /stopped/)
})
