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

test('what containers do not say may be assumed for each of them, sidecars too', () => {
  const silent = (name: string, restartPolicy?: 'Always') => ({
    name,
    image: 'x',
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  })
  const assumed = new Map([['cpu', 100]])
  const of = (spec: object) => podRequests(pod({ spec }), { missing: assumed }).get('cpu')
  assert.equal(of({ containers: [silent('a'), container('b', '1')] }), 1100)
  assert.equal(of({ initContainers: [silent('s', 'Always')], containers: [silent('a')] }), 200)
  assert.equal(of({ initContainers: [container('i', '500m')], containers: [silent('a')] }), 500)
  assert.equal(
    of({ containers: [silent('a'), silent('b')], resources: { requests: { cpu: '150m' } } }),
    150,
  )
})

interface Given {
  readonly asked: string
  readonly given?: string
  readonly has?: string
  readonly reason?: string
}

function resized({ asked, given, has, reason }: Given) {
  const requests = (cpu: string) => ({ requests: { cpu } })
  const status = {
    name: 'c',
    image: 'x',
    imageID: 'x',
    ready: true,
    restartCount: 0,
    ...(given === undefined ? {} : { allocatedResources: { cpu: given } }),
    ...(has === undefined ? {} : { resources: requests(has) }),
  }
  return pod({
    spec: { containers: [{ name: 'c', image: 'x', resources: requests(asked) }] },
    status: {
      phase: 'Running',
      containerStatuses: [status],
      ...(reason === undefined
        ? {}
        : { conditions: [{ type: 'PodResizePending', status: 'True', reason }] }),
    },
  })
}

/** The same of the pod, and more of its container, which does not count. */
function resizedAsAWhole(given: Given) {
  const { spec, status, ...rest } = resized(given)
  const [container] = spec!.containers
  const [containerStatus] = status!.containerStatuses!
  const { allocatedResources, resources } = containerStatus!
  const { containerStatuses: _, ...podStatus } = status!
  return {
    ...rest,
    spec: { ...spec!, resources: container!.resources! },
    status: {
      ...podStatus,
      ...(allocatedResources === undefined ? {} : { allocatedResources }),
      ...(resources === undefined ? {} : { resources }),
    },
  }
}

const CASES: readonly (readonly [string, Given, number])[] = [
  ['what it asks for', { asked: '1' }, 1000],
  ['more than it has yet', { asked: '3', given: '1', has: '1' }, 3000],
  ['less than it has still', { asked: '1', given: '1', has: '2' }, 2000],
  ['less than the node has given it', { asked: '1', given: '2', has: '1' }, 2000],
  ['more, which is put off', { asked: '3', given: '1', has: '1', reason: 'Deferred' }, 3000],
  ['more than the node has', { asked: '3', given: '1', has: '1', reason: 'Infeasible' }, 1000],
  ['no word of what it has', { asked: '3', given: '1', reason: 'Infeasible' }, 3000],
]
for (const [title, given, cpu] of CASES) {
  test(`of a pod that runs counts: ${title}`, () => {
    assert.equal(podRequests(resized(given), { withStatus: true }).get('cpu'), cpu)
  })
  test(`of a pod that runs counts, where the pod asks as a whole: ${title}`, () => {
    assert.equal(podRequests(resizedAsAWhole(given), { withStatus: true }).get('cpu'), cpu)
  })
}

test('what a pod that cannot be resized asks for as a whole and has not been given counts as nothing', () => {
  const resized = resizedAsAWhole({ asked: '3', reason: 'Infeasible' })
  const status = { ...resized.status!, resources: { requests: { memory: '1Gi' } } }
  const requests = podRequests({ ...resized, status }, { withStatus: true })
  assert.ok(requests.get('cpu') === 0)
  assert.ok(!requests.has('memory'))
})
