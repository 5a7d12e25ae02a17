import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeServer, testClock } from '@gyropilot/runtime/testing'
import { PodStorage } from '../container/pod-storage.ts'
import { configurationProblem } from './configuration-problem.ts'
import type { NodeServices } from './node-services.ts'
import { PodReferences } from './pod-references.ts'

test('a container whose environment the server does not tell cannot be made yet, and says why', async () => {
  const client = new FakeServer()
  client.onRequest = () => {
    throw new Error('the server is away')
  }
  const references = new PodReferences(client, testClock())
  const node = { client, references, nodeName: 'n' } as unknown as NodeServices
  const container = {
    name: 'c',
    volumeMounts: [{ name: 'v', mountPath: '/v', subPathExpr: '$(A)' }],
  }
  const pod = { metadata: { name: 'p', namespace: 'default' }, spec: { containers: [container] } }
  const problem = await configurationProblem(node, pod, container, () => new PodStorage())
  assert.equal(problem, 'the server is away')
})
