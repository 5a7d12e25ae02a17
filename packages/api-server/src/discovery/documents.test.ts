import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../bootstrap/fixtures.ts'

test('hashes of storage versions are those of kube-apiserver 1.36, also of what it stores in a version that it does not serve', async () => {
  const { server, call } = await startServer()
  for (const [groupVersion, resource, hash] of [
    ['admissionregistration.k8s.io/v1', 'mutatingadmissionpolicies', 'LYmCf+UMVdg='],
    ['admissionregistration.k8s.io/v1', 'mutatingadmissionpolicybindings', '90V5FRZZ3Zg='],
    ['admissionregistration.k8s.io/v1', 'validatingadmissionpolicies', '6OxvlMmQ6is='],
    ['apiextensions.k8s.io/v1', 'customresourcedefinitions', 'jfWCUB31mvA='],
    ['autoscaling/v1', 'horizontalpodautoscalers', 'qwQve8ut294='],
    ['events.k8s.io/v1', 'events', 'r2yiGXH7wu8='],
  ] as const) {
    const { body } = (await call('GET', `/apis/${groupVersion}`)) as {
      body: { resources: { name: string; storageVersionHash?: string }[] }
    }
    const found = body.resources.find(({ name }) => name === resource)
    assert.equal(found?.storageVersionHash, hash, resource)
  }
  await server.stop()
})
