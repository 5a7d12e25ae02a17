import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { podAtHostPort } from './host-ports.ts'

type Port = NonNullable<NonNullable<Pod['spec']>['containers'][number]['ports']>[number]

const pod = (
  name: string,
  ports: readonly Port[],
  spec: object = {},
  phase: 'Running' | 'Succeeded' = 'Running',
): Pod => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', ports }], ...spec },
  status: { phase },
})
const at = (address: string, port = 5000, protocol: 'TCP' | 'UDP' = 'TCP') => ({
  address,
  port,
  protocol,
})
const nameAt = (pods: readonly Pod[], asked: ReturnType<typeof at>) => {
  const found = podAtHostPort(pods, asked)
  return found && `${found.pod.metadata?.name}:${found.port}`
}

test('one port of a node is of several pods by address and protocol', () => {
  const pods = [
    pod('local', [{ hostPort: 5000, containerPort: 80, hostIP: '127.0.0.1' }]),
    pod('tcp', [{ hostPort: 5000, containerPort: 81, hostIP: '10.0.0.1' }]),
    pod('udp', [{ hostPort: 5000, containerPort: 82, hostIP: '10.0.0.1', protocol: 'UDP' }]),
  ]
  assert.equal(nameAt(pods, at('127.0.0.1')), 'local:80')
  assert.equal(nameAt(pods, at('10.0.0.1')), 'tcp:81')
  assert.equal(nameAt(pods, at('10.0.0.1', 5000, 'UDP')), 'udp:82')
  assert.equal(nameAt(pods, at('127.0.0.1', 5000, 'UDP')), undefined)
  assert.equal(nameAt(pods, at('10.0.0.1', 80)), undefined)
})

test('without an address, and by the addresses that mean all, it is at every one', () => {
  for (const hostIP of [undefined, '', '0.0.0.0', '::'])
    assert.equal(
      nameAt(
        [pod('any', [{ hostPort: 5000, containerPort: 80, hostIP: hostIP! }])],
        at('10.0.0.1'),
      ),
      'any:80',
    )
})

test('a port of a container alone is none of the node, unless the pod is on its network', () => {
  const ports = [{ containerPort: 5000 }]
  assert.equal(nameAt([pod('own', ports)], at('10.0.0.1')), undefined)
  assert.equal(nameAt([pod('host', ports, { hostNetwork: true })], at('10.0.0.1')), 'host:5000')
})

test('a sidecar has ports, too; a pod that ended has none', () => {
  const initContainers = [{ name: 's', ports: [{ hostPort: 5000, containerPort: 80 }] }]
  assert.equal(nameAt([pod('with', [], { initContainers })], at('10.0.0.1')), 'with:80')
  const ended = pod('ended', [{ hostPort: 5000, containerPort: 80 }], {}, 'Succeeded')
  assert.equal(nameAt([ended], at('10.0.0.1')), undefined)
})
