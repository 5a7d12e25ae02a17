import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podRequests } from './pod-requests.ts'
import { pod } from '../testing/index.ts'

const container = (name: string, cpu: string, restartPolicy?: 'Always') => ({
  name,
  image: 'x',
  resources: { requests: { cpu } },
  ...(restartPolicy === undefined ? {} : { restartPolicy }),
})

test('the larger of main containers plus sidecars and each init container plus the sidecars before it', () => {
  const spec = {
    initContainers: [container('s', '100m', 'Always'), container('i', '2')],
    containers: [container('a', '500m'), container('b', '1')],
  }
  assert.equal(podRequests(pod({ spec })).get('cpu'), 2100)
})

test('overhead comes on top and a pod counts as one', () => {
  const requests = podRequests(
    pod({ spec: { containers: [container('a', '1')], overhead: { cpu: '250m' } } }),
  )
  assert.equal(requests.get('cpu'), 1250)
  assert.equal(requests.get('pods'), 1)
})

test('requests of the pod as a whole win', () => {
  const spec = { containers: [container('a', '1')], resources: { requests: { cpu: '3' } } }
  assert.equal(podRequests(pod({ spec })).get('cpu'), 3000)
})
