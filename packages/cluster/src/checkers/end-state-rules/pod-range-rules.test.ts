import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, Pod } from '@gyropilot/api'
import type { StoreEvent } from '@gyropilot/api-server'
import type { Objects } from '../../simulated/objects.ts'
import { podRanges } from './pod-range-rules.ts'

function pod(podIP: string, given: Pod['spec'] | object = {}): Pod {
  const spec = { nodeName: 'a', containers: [], ...given }
  return { metadata: { name: 'p', namespace: 'x' }, spec, status: { podIP } }
}

/** Node `a` had 10.0.1.0/24 and was then set up anew, `b` has been there all the time, `c` since before it was looked. */
function problems(given: Pod, before?: Pod): readonly string[] {
  const found: string[] = []
  const there = { metadata: { name: 'c' }, spec: { podCIDRs: ['10.0.4.0/24'] } }
  const objects = { all: () => [there] } as unknown as Objects
  const observer = podRanges((_, message) => found.push(message), objects)
  const commit = (
    type: string,
    collection: string,
    object: KubernetesObject,
    previous?: KubernetesObject,
  ): void => observer.committed?.({ type, collection, object, previous } as unknown as StoreEvent)
  const node = (name: string, ...podCIDRs: readonly string[]): object => ({
    metadata: { name },
    spec: { podCIDR: podCIDRs[0], podCIDRs },
  })
  const [first, second, other] = ['10.0.1.0/24', '10.0.3.0/24', '10.0.2.0/24']
  commit('created', 'nodes', node('a'))
  commit('updated', 'nodes', node('a', first), node('a'))
  commit('created', 'nodes', node('b', other))
  commit('deleted', 'nodes', node('a', first))
  commit('created', 'nodes', node('a', second))
  commit('updated', 'pods', given, before)
  return found
}

test('a pod is given an address of a range that its node has, or a node of its name had', () => {
  for (const address of ['10.0.1.7', '10.0.3.7']) assert.deepEqual(problems(pod(address)), [])
  for (const address of ['10.0.2.7', '10.0.9.7'])
    assert.deepEqual(problems(pod(address)), [`pod x/p was given ${address}, which a never had`])
})

test('a range that a node had before anybody looked is one that it had', () => {
  assert.deepEqual(problems(pod('10.0.4.7', { nodeName: 'c' })), [])
})

test('what a pod had before, an address of the machine and none at all are not judged', () => {
  assert.deepEqual(problems(pod('10.0.9.7'), pod('10.0.9.7')), [])
  assert.deepEqual(problems(pod('192.168.0.1', { hostNetwork: true })), [])
  assert.deepEqual(problems(pod('')), [])
})
