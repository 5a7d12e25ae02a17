import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Service } from '@gyropilot/api'
import { haveZoneHints, headlessAddresses, routeOf, seenAtNode } from './service-routes.ts'

type Endpoint = NonNullable<EndpointSlice['endpoints']>[number]

const endpoint = (address: string, more: Partial<Endpoint> = {}): Endpoint => ({
  addresses: [address],
  nodeName: 'near',
  ...more,
})
const slice = (endpoints: readonly Endpoint[], port = 8080): EndpointSlice => ({
  addressType: 'IPv4',
  endpoints,
  ports: [{ name: 'http', port }],
})
const HTTP = { name: 'http', port: 80 }
const service = (spec: Service['spec'] = {}): Service => ({ spec: { ports: [HTTP], ...spec } })
const to = (...addresses: string[]) => ({
  kind: 'to',
  destinations: addresses.map((address) => ({ address, port: 8080 })),
})
const ending = { ready: false, serving: true, terminating: true }

test('ready endpoints of all slices are behind a Service, in the order of their addresses', () => {
  const slices = [
    slice([endpoint('10.1.0.9'), endpoint('10.1.0.2', { conditions: { ready: false } })]),
    slice([endpoint('10.1.0.3', { conditions: { ready: true } })]),
  ]
  assert.deepEqual(routeOf(service(), HTTP, slices, 'near'), to('10.1.0.3', '10.1.0.9'))
})

test('where none is ready, those that serve while they end are', () => {
  const slices = [
    slice([
      endpoint('10.1.0.2', { conditions: ending }),
      endpoint('10.1.0.3', { conditions: { ...ending, serving: false } }),
      endpoint('10.1.0.4', { conditions: { ...ending, terminating: false } }),
    ]),
  ]
  assert.deepEqual(routeOf(service(), HTTP, slices, 'near'), to('10.1.0.2'))
  assert.deepEqual(
    routeOf(service(), HTTP, [...slices, slice([endpoint('10.1.0.5')])], 'near'),
    to('10.1.0.5'),
  )
})

test('hints lead to endpoints for the node, else for its zone, when every endpoint has some', () => {
  const named = (names: readonly string[]) => names.map((name) => ({ name }))
  const hinted = (address: string, zones: readonly string[], nodes: readonly string[] = []) =>
    endpoint(address, {
      hints: {
        ...(zones.length > 0 && { forZones: named(zones) }),
        ...(nodes.length > 0 && { forNodes: named(nodes) }),
      },
    })
  const route = (endpoints: readonly Endpoint[], zone?: string, spec: Service['spec'] = {}) =>
    routeOf(service(spec), HTTP, [slice(endpoints)], 'near', zone)
  const zones = [hinted('10.1.0.1', ['a']), hinted('10.1.0.2', ['a', 'b'])]
  const both = to('10.1.0.1', '10.1.0.2')
  assert.deepEqual(route(zones, 'b'), to('10.1.0.2'))
  assert.deepEqual(route(zones, 'a'), both)
  assert.deepEqual(route(zones, 'c'), both)
  assert.deepEqual(route(zones), both)
  const three = to('10.1.0.1', '10.1.0.2', '10.1.0.3')
  assert.deepEqual(route([...zones, endpoint('10.1.0.3')], 'b'), three)
  // An endpoint that is not ready needs none.
  const unready = endpoint('10.1.0.3', { conditions: { ready: false } })
  assert.deepEqual(route([...zones, unready], 'b'), to('10.1.0.2'))
  assert.deepEqual(route(zones, 'b', { internalTrafficPolicy: 'Local' }), both)

  assert.equal(haveZoneHints([slice(zones)]), true)
  assert.equal(
    haveZoneHints([slice([endpoint('10.1.0.1')]), { ...slice([]), endpoints: null! }]),
    false,
  )

  const nodes = [hinted('10.1.0.1', ['a'], ['near']), hinted('10.1.0.2', ['b'], ['far'])]
  assert.deepEqual(route(nodes, 'b'), to('10.1.0.1'))
  const away = [hinted('10.1.0.1', ['a'], ['far']), hinted('10.1.0.2', ['b'], ['far'])]
  assert.deepEqual(route(away, 'b'), to('10.1.0.2'))
})

test('slices that kube-proxy leaves alone do not count', () => {
  for (const name of [
    'service.kubernetes.io/headless',
    'service.kubernetes.io/service-proxy-name',
  ]) {
    const other = { ...slice([endpoint('10.1.0.2')]), metadata: { labels: { [name]: '' } } }
    assert.deepEqual(routeOf(service(), HTTP, [other], 'near'), { kind: 'refused' })
    const both = [other, slice([endpoint('10.1.0.3')])]
    assert.deepEqual(routeOf(service(), HTTP, both, 'near'), to('10.1.0.3'))
  }
})

test('nobody there refuses, another port is lost', () => {
  assert.deepEqual(routeOf(service(), HTTP, [], 'near'), { kind: 'refused' })
  assert.deepEqual(routeOf(service(), undefined, [slice([endpoint('10.1.0.2')])], 'near'), {
    kind: 'lost',
  })
  const unnamed = { ...slice([endpoint('10.1.0.2')]), ports: [{ port: 8080 }] }
  assert.deepEqual(routeOf(service(), HTTP, [unnamed], 'near'), { kind: 'refused' })
  assert.deepEqual(routeOf(service(), { port: 80 }, [unnamed], 'near'), to('10.1.0.2'))
})

test('internalTrafficPolicy Local keeps to the node', () => {
  const slices = [slice([endpoint('10.1.0.2'), endpoint('10.2.0.2', { nodeName: 'far' })])]
  const local = service({ internalTrafficPolicy: 'Local' })
  assert.deepEqual(routeOf(local, HTTP, slices, 'far'), to('10.2.0.2'))
  assert.deepEqual(routeOf(local, HTTP, slices, 'elsewhere'), { kind: 'lost' })
})

test('a policy Local looks for one that serves while it ends on the node alone', () => {
  const slices = [
    slice([
      endpoint('10.1.0.2', { conditions: ending }),
      endpoint('10.2.0.2', { nodeName: 'far' }),
    ]),
  ]
  const local = service({ internalTrafficPolicy: 'Local' })
  assert.deepEqual(routeOf(local, HTTP, slices, 'near'), to('10.1.0.2'))
  assert.deepEqual(routeOf(local, HTTP, slices, 'far'), to('10.2.0.2'))
  const outer = seenAtNode(service({ externalTrafficPolicy: 'Local' }), false)
  assert.deepEqual(routeOf(outer, HTTP, slices, 'near'), to('10.1.0.2'))
  assert.deepEqual(routeOf(outer, HTTP, slices, 'elsewhere'), { kind: 'lost' })
  assert.deepEqual(routeOf(service(), HTTP, slices, 'near'), to('10.2.0.2'))
  const here = [...slices, slice([endpoint('10.1.0.3')])]
  assert.deepEqual(routeOf(local, HTTP, here, 'near'), to('10.1.0.3'))
})

test('each port has the endpoints of the slices that name it', () => {
  const other = { ...slice([endpoint('10.2.0.2')]), ports: [{ name: 'grpc', port: 9090 }] }
  const slices = [slice([endpoint('10.1.0.2', { conditions: ending })]), other]
  assert.deepEqual(routeOf(service(), HTTP, slices, 'near'), to('10.1.0.2'))
  const local = service({ internalTrafficPolicy: 'Local' })
  assert.deepEqual(routeOf(local, HTTP, [other], 'far'), { kind: 'refused' })
})

test('an endpoint knows the pod that it names, and nothing else', () => {
  const refs = [
    { kind: 'Pod', namespace: 'shop', name: 'web-0' },
    { kind: 'Node', name: 'web-0' },
  ]
  const routed = refs.map((targetRef) =>
    routeOf(service(), HTTP, [slice([endpoint('10.1.0.2', { targetRef })])], 'near'),
  )
  assert.deepEqual(routed, [
    {
      kind: 'to',
      destinations: [
        { address: '10.1.0.2', port: 8080, pod: { namespace: 'shop', name: 'web-0' } },
      ],
    },
    to('10.1.0.2'),
  ])
})

test('a headless Service stands for its ready addresses, or for all where it says so', () => {
  const slices = [
    slice([
      endpoint('10.1.0.3', { hostname: 'db-1' }),
      endpoint('10.1.0.2', { hostname: 'db-0', conditions: { ready: false } }),
      endpoint('10.1.0.3'),
    ]),
  ]
  const eager = service({ publishNotReadyAddresses: true })
  assert.deepEqual(headlessAddresses(service(), slices, undefined), ['10.1.0.3'])
  assert.deepEqual(headlessAddresses(eager, slices, undefined), ['10.1.0.2', '10.1.0.3'])
  assert.deepEqual(headlessAddresses(eager, slices, 'db-0'), ['10.1.0.2'])
  assert.deepEqual(headlessAddresses(service(), slices, 'db-0'), [])
  assert.deepEqual(headlessAddresses(service(), slices, '10-1-0-3'), ['10.1.0.3'])
})

test('at the ports of a node externalTrafficPolicy counts, but for the node itself', () => {
  const policies = { externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Cluster' } as const
  const far = [slice([endpoint('10.1.0.2', { nodeName: 'far' })])]
  const at = (isOwnNode: boolean, spec: Service['spec']) =>
    routeOf(seenAtNode(service(spec), isOwnNode), HTTP, far, 'near')
  assert.deepEqual(at(false, policies), { kind: 'lost' })
  assert.deepEqual(at(true, policies), to('10.1.0.2'))
  assert.deepEqual(at(false, { ...policies, externalTrafficPolicy: 'Cluster' }), to('10.1.0.2'))
  const inner = { externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Local' } as const
  assert.deepEqual(at(false, inner), to('10.1.0.2'))
})
