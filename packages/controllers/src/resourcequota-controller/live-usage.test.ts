/** The controller on informers of its own, against the embedded API server: what is read in full, and what by its metadata. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '@gyropilot/api-server/testing'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { ApiClient, RestMapper, memoryTransport } from '@gyropilot/client'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import { SharedInformerFactory } from '@gyropilot/runtime'
import { startLoop, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { resourceQuotaController } from './index.ts'

const NAMESPACE = 'default'

async function liveServer() {
  const { server, clock } = await createTestServer()
  const client = new ApiClient({
    clock,
    qps: -1,
    onWarning: () => {},
    transport: memoryTransport((request) =>
      server.handle({
        ...request,
        headers: { ...request.headers, authorization: 'Bearer test-token' },
      }),
    ),
  })
  const create = async (type: ResourceType, name: string, more: object = {}): Promise<void> => {
    const object = { metadata: { name, namespace: NAMESPACE }, ...more } as KubernetesObject
    await client.resource(type, NAMESPACE).create(object)
  }
  return { server, clock, client, create }
}

test('objects that were there before the quota are counted, each kind by what it asks for, and no more when they are gone', async (t) => {
  const { server, clock, client, create } = await liveServer()
  t.after(() => server.stop())
  await create(resources.serviceaccounts, 'default')
  const container = { name: 'c', image: 'i', resources: { requests: { cpu: '300m' } } }
  await create(resources.pods, 'p', { spec: { containers: [container] } })
  await create(resources.services, 's', { spec: { type: 'NodePort', ports: [{ port: 80 }] } })
  await create(resources.persistentvolumeclaims, 'c', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '3Gi' } } },
  })
  const exactly = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 }
  await create(resources.resourceclaims, 'r', {
    spec: { devices: { requests: [{ name: 'a', exactly }] } },
  })
  await create(resources.configmaps, 'm')
  const devices = 'gpu.deviceclass.resource.k8s.io/devices'
  const used = {
    'requests.cpu': '300m',
    'services.nodeports': '1',
    'requests.storage': '3Gi',
    [devices]: '2',
    configmaps: '1',
  }
  const hard = Object.fromEntries(Object.keys(used).map((name) => [name, '9Gi']))
  await create(resources.resourcequotas, 'q', { spec: { hard } })
  const options = { client, clock, random: new SeededRandom('quotas'), logger: silentLogger }
  const informers = new SharedInformerFactory(options)
  const metadataInformers = new SharedInformerFactory({ ...options, metadataOnly: true })
  const controller = await resourceQuotaController.build({
    ...testContext({ configuration: defaultControllersConfiguration }),
    ...options,
    mapper: new RestMapper({ client, clock }),
    informers,
    metadataInformers,
  })
  const { stop } = startLoop(controller, clock, informers)
  const usedNow = async (): Promise<unknown> => {
    await clock.advance(1_000)
    return (await client.resource(resources.resourcequotas, NAMESPACE).get('q')).status?.used
  }
  assert.deepEqual(await usedNow(), used)
  await client.resource(resources.pods, NAMESPACE).delete('p', { gracePeriodSeconds: 0 })
  await client.resource(resources.configmaps, NAMESPACE).delete('m')
  assert.deepEqual(await usedNow(), { ...used, 'requests.cpu': '0', configmaps: '0' })
  await stop()
  await metadataInformers.shutdown()
})
