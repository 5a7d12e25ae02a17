import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '@gyropilot/api'
import { serviceVariables } from './service-environment.ts'

const service = (name: string, spec: object): Service => ({ metadata: { name }, spec }) as Service

test('a service is told by its name, in both forms', () => {
  const ports = [
    { name: 'http', port: 80 },
    { name: 'dns-udp', port: 53, protocol: 'UDP' },
  ]
  assert.deepEqual(
    Object.fromEntries(serviceVariables([service('my-db', { clusterIP: '10.0.0.9', ports })])),
    {
      MY_DB_SERVICE_HOST: '10.0.0.9',
      MY_DB_SERVICE_PORT: '80',
      MY_DB_SERVICE_PORT_HTTP: '80',
      MY_DB_SERVICE_PORT_DNS_UDP: '53',
      MY_DB_PORT: 'tcp://10.0.0.9:80',
      MY_DB_PORT_80_TCP: 'tcp://10.0.0.9:80',
      MY_DB_PORT_80_TCP_PROTO: 'tcp',
      MY_DB_PORT_80_TCP_PORT: '80',
      MY_DB_PORT_80_TCP_ADDR: '10.0.0.9',
      MY_DB_PORT_53_UDP: 'udp://10.0.0.9:53',
      MY_DB_PORT_53_UDP_PROTO: 'udp',
      MY_DB_PORT_53_UDP_PORT: '53',
      MY_DB_PORT_53_UDP_ADDR: '10.0.0.9',
    },
  )
  const six = serviceVariables([service('s', { clusterIP: 'fd00::1', ports: [{ port: 1 }] })])
  assert.equal(six.get('S_PORT'), 'tcp://[fd00::1]:1')
})

test('services without an address are left out', () => {
  const ports = [{ port: 80 }]
  const all = [
    service('headless', { clusterIP: 'None', ports }),
    service('external', { type: 'ExternalName', externalName: 'x' }),
    service('waiting', { clusterIP: '', ports }),
  ]
  assert.equal(serviceVariables(all).size, 0)
})
