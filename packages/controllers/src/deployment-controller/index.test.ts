import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '@gyropilot/foundation'
import type { ControllerContext } from '@gyropilot/runtime'
import { drive, fakeInformers, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { deployment, owned } from './fixtures.ts'
import { deploymentController, deploymentLogic } from './index.ts'

const web = deployment({ replicas: 3 })

function wired(featureGates: Readonly<Record<string, boolean>> = {}) {
  const informers = fakeInformers([web, owned(web, { name: 'rs', replicas: 3, revision: '1' })])
  const configuration = { ...defaultControllersConfiguration, featureGates }
  const context = { informers, logger: silentLogger, configuration }
  return deploymentLogic(context as unknown as ControllerContext<ControllersConfiguration>)
}

test('name, alias, identity, queue, workers and retries are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = deploymentController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['deployment-controller', ['deployment'], 'deployment-controller', true],
  )
  const logic = wired()
  assert.deepEqual([logic.queueName, logic.workers, logic.maxRetries], ['deployment', 5, 15])
  assert.equal(logic.eventComponent, 'deployment-controller')
  assert.equal(logic.expectations, undefined)
})

test('it watches its own kind, ReplicaSets and pods, and waits for what it wrote of the first two', () => {
  const logic = wired()
  assert.deepEqual(
    logic.watches.map(({ type }) => type.resource),
    ['deployments', 'replicasets', 'pods'],
  )
  const observed = logic.observe('ns/web')!
  assert.equal(logic.staleGuard?.informers.length, 2)
  assert.equal(logic.staleGuard.ownerUid(observed), 'web-uid')
  assert.deepEqual(observed.podsOf(observed.replicaSets[0]!), [])
})

test('what is built runs the loop', async () => {
  const built = await deploymentController.build(
    testContext({ name: 'deployment-controller', configuration: defaultControllersConfiguration }),
  )
  assert.equal(typeof built?.run, 'function')
})

test('the gate DeploymentReplicaSetTerminatingReplicas decides about status.terminatingReplicas', () => {
  const written = (gates: Readonly<Record<string, boolean>>) => {
    const logic = wired(gates)
    const last = drive(logic.reconcile(logic.observe('ns/web')!)).writes.at(-1)
    assert.ok(last?.verb === 'update' && last.subresource === 'status')
    return (last.object as typeof web).status?.terminatingReplicas
  }
  assert.equal(written({}), 0)
  assert.equal(written({ DeploymentReplicaSetTerminatingReplicas: false }), undefined)
})
