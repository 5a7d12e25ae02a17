import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { VirtualClock } from '@gyropilot/foundation'
import { makeNamespace, PATCH, START_MS, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { Draft } from '@gyropilot/schema/objects'
import { parseCidr } from '@gyropilot/schema/validation/ip'
import { RevisionLog } from '../storage/revision-log.ts'
import { turn } from '../testing/test-server.ts'
import { staticBandSize } from './node-port-allocator.ts'
import { ServiceRange } from './service-ranges.ts'

async function inNamespace(
  options?: Parameters<typeof startServer>[0],
): Promise<TestServer & { path: string }> {
  const server = await startServer(options)
  return { ...server, path: `${await makeNamespace(server, 'a')}/services` }
}

function service(name: string, spec: Draft = {}): Draft {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  }
}

const ADDRESSES = 'ipaddresses.networking.k8s.io'

test('Given a disk that fails, then a Service that is refused or deleted gives back what can be, and the answer is that of the Service', async () => {
  let writes = 0
  let failsFrom = Infinity
  const clock = new VirtualClock({ startMs: START_MS, settle: turn })
  const store = new RevisionLog(clock, {
    write() {
      if (++writes >= failsFrom) throw new Error('database or disk is full')
    },
    close() {},
  })
  const { server, call, path } = await inNamespace({ clock, store })
  const nodePort = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_100 }] }
  failsFrom = writes + 2
  const refused = await call('POST', path, service('s', nodePort))
  assert.deepEqual(
    [refused.status, refused.body.message],
    [500, 'Internal error occurred: database or disk is full'],
  )
  failsFrom = Infinity
  assert.equal((await call('POST', path, service('t', nodePort))).status, 201)
  failsFrom = writes + 2
  assert.equal((await call('DELETE', `${path}/t`)).status, 200)
  failsFrom = Infinity
  assert.equal((await call('POST', path, service('u', nodePort))).status, 201)
  await server.stop()
})

describe('cluster addresses', () => {
  test('are taken from the upper band, with an IPAddress object that names the service', async () => {
    const { server, call, path, stored } = await inNamespace()
    const { body } = await call('POST', path, service('s'))
    const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = body.spec
    assert.ok(Number(clusterIP.split('.')[3]) > 16, clusterIP)
    assert.deepEqual(
      [clusterIPs, ipFamilies, ipFamilyPolicy],
      [[clusterIP], ['IPv4'], 'SingleStack'],
    )
    const address = stored(ADDRESSES, clusterIP)!
    assert.deepEqual(address['metadata'].labels, {
      'ipaddress.kubernetes.io/ip-family': 'IPv4',
      'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
    })
    assert.deepEqual(address['spec'].parentRef, { resource: 'services', namespace: 'a', name: 's' })
    await server.stop()
  })

  test('Given two services asking for one clusterIP, then the second is 422 already allocated; after deleting the first it succeeds.', async () => {
    const { server, call, path } = await inNamespace()
    assert.equal((await call('POST', path, service('g', { clusterIP: '10.0.0.200' }))).status, 201)
    const second = await call('POST', path, service('h', { clusterIP: '10.0.0.200' }))
    assert.equal(second.status, 422)
    const why =
      'spec.clusterIPs: Invalid value: ["10.0.0.200"]: failed to allocate IP 10.0.0.200: provided IP is already allocated'
    assert.equal(second.body.message, `Service "h" is invalid: ${why}`)
    await call('DELETE', `${path}/g`)
    assert.equal((await call('POST', path, service('h', { clusterIP: '10.0.0.200' }))).status, 201)
    await server.stop()
  })

  test('outside the range is refused', async () => {
    const { server, call, path } = await inNamespace()
    const { body } = await call('POST', path, service('i', { clusterIP: '1.2.3.4' }))
    const why =
      'failed to allocate IP 1.2.3.4: the provided network does not match the current range'
    assert.equal(
      body.message,
      `Service "i" is invalid: spec.clusterIPs: Invalid value: ["1.2.3.4"]: ${why}`,
    )
    await server.stop()
  })

  test('run out: 500, and a deleted service makes room', async () => {
    const { server, call, path } = await inNamespace({ serviceRanges: ['10.0.0.0/29'] })
    for (let i = 0; i < 5; i++)
      assert.equal((await call('POST', path, service(`s${i}`))).status, 201)
    const full = await call('POST', path, service('more'))
    assert.deepEqual(
      [full.status, full.body.message],
      [500, 'Internal error occurred: failed to allocate a serviceIP: range is full'],
    )
    await call('DELETE', `${path}/s3`)
    assert.equal((await call('POST', path, service('more'))).status, 201)
    await server.stop()
  })

  test('a failed create returns what it took; a dry run takes nothing and shows the first address', async () => {
    const { server, call, path } = await inNamespace()
    const count = (): number => server.internals.list('networking.k8s.io', 'ipaddresses').length
    const bad = await call(
      'POST',
      path,
      service('s', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }),
    )
    assert.equal(bad.status, 422)
    assert.equal(count(), 1)
    await call('POST', path, service('taken'))
    assert.equal((await call('POST', path, service('taken'))).status, 409)
    assert.equal(count(), 2)
    const dry = await call('POST', `${path}?dryRun=All`, service('d'))
    assert.equal(dry.body.spec.clusterIP, '10.0.0.0')
    assert.equal(count(), 2)
    await server.stop()
  })

  test('to ExternalName releases, from ExternalName allocates', async () => {
    const { server, call, path, stored } = await inNamespace()
    const { body } = await call('POST', path, service('s'))
    const external = await call(
      'PATCH',
      `${path}/s`,
      { spec: { type: 'ExternalName', externalName: 'example.com' } },
      PATCH,
    )
    assert.equal(external.status, 200)
    assert.equal(external.body.spec.clusterIP, undefined)
    assert.equal(stored(ADDRESSES, body.spec.clusterIP), undefined)
    const back = await call(
      'PATCH',
      `${path}/s`,
      { spec: { type: 'ClusterIP', externalName: null } },
      PATCH,
    )
    assert.ok(stored(ADDRESSES, back.body.spec.clusterIP) !== undefined)
    await server.stop()
  })

  test('an update without the allocated values keeps them', async () => {
    const { server, call, path } = await inNamespace()
    const { body } = await call('POST', path, service('s', { type: 'NodePort' }))
    const put = await call(
      'PUT',
      `${path}/s`,
      service('s', { type: 'NodePort', selector: { a: 'b' } }),
    )
    assert.equal(put.body.spec.clusterIP, body.spec.clusterIP)
    assert.equal(put.body.spec.ports[0].nodePort, body.spec.ports[0].nodePort)
    await server.stop()
  })
})

describe('families', () => {
  for (const [title, spec, expected] of [
    [
      'PreferDualStack keeps the policy with one family',
      { ipFamilyPolicy: 'PreferDualStack' },
      ['PreferDualStack', ['IPv4']],
    ],
    [
      'headless with selector is SingleStack',
      { clusterIP: 'None', selector: { a: 'b' } },
      ['SingleStack', ['IPv4']],
    ],
    [
      'headless without selector is for both',
      { clusterIP: 'None' },
      ['RequireDualStack', ['IPv4', 'IPv6']],
    ],
    [
      'ExternalName has none',
      { type: 'ExternalName', externalName: 'example.com' },
      [undefined, undefined],
    ],
  ] as const) {
    test(`on a single-stack server: ${title}`, async () => {
      const { server, call, path } = await inNamespace()
      const { body } = await call('POST', path, service('s', spec as Draft))
      assert.deepEqual([body.spec.ipFamilyPolicy, body.spec.ipFamilies], expected)
      await server.stop()
    })
  }

  for (const [spec, message] of [
    [
      { ipFamilyPolicy: 'RequireDualStack' },
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
    [
      { ipFamilies: ['IPv6'] },
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ],
  ] as const) {
    test(`refused: ${message}`, async () => {
      const { server, call, path } = await inNamespace()
      const { status, body } = await call('POST', path, service('n', spec as unknown as Draft))
      assert.deepEqual([status, body.message], [422, `Service "n" is invalid: ${message}`])
      await server.stop()
    })
  }

  test('on a dual-stack server PreferDualStack gets an address of each family', async () => {
    const { server, call, path } = await inNamespace({
      serviceRanges: ['10.0.0.0/24', 'fd00::/112'],
    })
    const { body } = await call('POST', path, service('s', { ipFamilyPolicy: 'PreferDualStack' }))
    assert.deepEqual(body.spec.ipFamilies, ['IPv4', 'IPv6'])
    assert.match(body.spec.clusterIPs[1], /^fd00::/)
    await server.stop()
  })
})

describe('node ports', () => {
  test('are random above the static band, one per service port, shared by its protocols', async () => {
    const { server, call, path } = await inNamespace()
    const ports = [
      { name: 't', port: 53, protocol: 'TCP' },
      { name: 'u', port: 53, protocol: 'UDP' },
    ]
    const { body } = await call('POST', path, service('s', { type: 'NodePort', ports }))
    const [tcp, udp] = body.spec.ports
    assert.equal(tcp.nodePort, udp.nodePort)
    assert.ok(tcp.nodePort >= 30086 && tcp.nodePort <= 32767)
    await server.stop()
  })

  test('Given type NodePort patched to ClusterIP, then the port is free again and nodePort is gone.', async () => {
    const { server, call, path } = await inNamespace()
    await call(
      'POST',
      path,
      service('s', { type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] }),
    )
    const taken = await call(
      'POST',
      path,
      service('t', { type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] }),
    )
    assert.equal(
      taken.body.message,
      'Service "t" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated',
    )
    const patched = await call('PATCH', `${path}/s`, { spec: { type: 'ClusterIP' } }, PATCH)
    assert.equal(patched.body.spec.ports[0].nodePort, undefined)
    assert.equal(
      (
        await call(
          'POST',
          path,
          service('t', { type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] }),
        )
      ).status,
      201,
    )
    await server.stop()
  })

  test('out of range are refused', async () => {
    const { server, call, path } = await inNamespace()
    const { body } = await call(
      'POST',
      path,
      service('j', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }),
    )
    const why = 'provided port is not in the valid range. The range of valid ports is 30000-32767'
    assert.equal(
      body.message,
      `Service "j" is invalid: spec.ports[0].nodePort: Invalid value: 80: ${why}`,
    )
    await server.stop()
  })

  test('a load balancer gets them unless it declines, and a health check port when its traffic is local', async () => {
    const { server, call, path } = await inNamespace()
    const declined = await call(
      'POST',
      path,
      service('d', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }),
    )
    assert.equal(declined.body.spec.ports[0].nodePort, undefined)
    const local = await call(
      'POST',
      path,
      service('l', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
    )
    assert.ok(local.body.spec.ports[0].nodePort > 0)
    assert.ok(local.body.spec.healthCheckNodePort > 0)
    assert.notEqual(local.body.spec.healthCheckNodePort, local.body.spec.ports[0].nodePort)
    await server.stop()
  })
})

describe('bands', () => {
  for (const [cidr, size] of [
    ['10.0.0.0/24', 16n],
    ['10.0.0.0/20', 256n],
    ['10.0.0.0/16', 256n],
    ['10.0.0.0/22', 64n],
  ] as const) {
    test(`${cidr} leaves ${size} addresses to people`, () =>
      assert.equal(new ServiceRange(parseCidr(cidr)!).staticBandSize, size))
  }
  for (const [size, band] of [
    [2768, 86],
    [16, 0],
    [100, 16],
    [10000, 128],
  ] as const) {
    test(`${size} ports leave ${band}`, () => assert.equal(staticBandSize(size), band))
  }
})

test('a dry run of several node ports shows a number for each and takes none', async () => {
  const { server, call, path } = await inNamespace()
  const ports = (...given: Draft[]): Draft[] =>
    given.map((port, index) => ({ name: `p${index}`, ...port }))
  const shown = async (spec: Draft): Promise<unknown[]> => {
    const { status, body } = await call('POST', `${path}?dryRun=All`, service('d', spec))
    assert.equal(status, 201, body.message)
    const { healthCheckNodePort = [] } = body.spec
    return [...body.spec.ports.map(({ nodePort }: Draft) => nodePort), healthCheckNodePort].flat()
  }
  const any = ports({ port: 1 }, { port: 2 }, { port: 3, protocol: 'UDP' })
  for (const _ of ['first', 'second'])
    assert.deepEqual(await shown({ type: 'NodePort', ports: any }), [32769, 32770, 32771])
  const chosen = ports(
    { port: 1, nodePort: 30500 },
    { port: 2 },
    { port: 2, protocol: 'UDP' },
    { port: 4 },
  )
  assert.deepEqual(
    await shown({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: chosen }),
    [30500, 30501, 30501, 30502, 30503],
  )
  assert.deepEqual(await shown({ type: 'NodePort', ports: ports({ port: 1, nodePort: 80 }) }), [80])
  await server.stop()
})
