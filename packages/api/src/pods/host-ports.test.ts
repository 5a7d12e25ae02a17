import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerPort } from '../generated/core-v1.ts'
import { pod } from '../testing/index.ts'
import { hostPortsConflict, hostPortsOf } from './host-ports.ts'

const withPorts = (...ports: Partial<ContainerPort>[]) =>
  pod({
    spec: {
      containers: [
        { name: 'c', ports: ports.map((port) => ({ containerPort: 80, ...port })) },
        { name: 'd' },
      ],
    },
  })

test('ports of the node are those with a number, on every address unless said', () => {
  assert.deepEqual(hostPortsOf(withPorts({}, { hostPort: 0 }, { hostPort: 81 })), [
    { port: 81, protocol: 'TCP', ip: '0.0.0.0' },
  ])
  assert.deepEqual(hostPortsOf(withPorts({ hostPort: 53, protocol: 'UDP', hostIP: '10.0.0.1' })), [
    { port: 53, protocol: 'UDP', ip: '10.0.0.1' },
  ])
  assert.deepEqual(hostPortsOf({}), [])
})

test('a port is taken by number, protocol and address', () => {
  const here = hostPortsOf(withPorts({ hostPort: 80, hostIP: '10.0.0.1' }))
  const conflict = (port: Partial<ContainerPort>) =>
    hostPortsConflict(hostPortsOf(withPorts(port)), here)
  assert.ok(conflict({ hostPort: 80, hostIP: '10.0.0.1' }))
  assert.ok(conflict({ hostPort: 80 }))
  assert.ok(hostPortsConflict(here, hostPortsOf(withPorts({ hostPort: 80 }))))
  assert.ok(!conflict({ hostPort: 80, hostIP: '10.0.0.2' }))
  assert.ok(!conflict({ hostPort: 80, protocol: 'UDP' }))
  assert.ok(!conflict({ hostPort: 81 }))
})

test('sidecars have ports too; init containers that end do not', () => {
  const ports = (hostPort: number) => [{ containerPort: 80, hostPort }]
  const initContainers = [
    { name: 'side', restartPolicy: 'Always', ports: ports(81) },
    { name: 'init', ports: ports(82) },
  ]
  const containers = [{ name: 'c', ports: ports(80) }]
  const found = hostPortsOf(pod({ spec: { initContainers, containers } }))
  assert.deepEqual(
    found.map(({ port }) => port),
    [80, 81],
  )
})
