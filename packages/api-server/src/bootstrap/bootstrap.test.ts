import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SeededRandom, VirtualClock, silentLogger } from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import { fieldManagement } from '../field-management/field-management.ts'
import { bootstrap } from './bootstrap.ts'
import { PATCH, START_MS, startServer } from './fixtures.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { turn } from '../testing/test-server.ts'
import type { Stored } from '@gyropilot/schema/objects'

describe('a fresh server', () => {
  test('has the namespaces, the roles, the priority classes and the flow schemas of the release', async () => {
    const { server } = await startServer()
    const names = (group: string, resource: string): string[] =>
      server.internals.list(group, resource).map((object) => object['metadata'].name)
    assert.deepEqual(names('', 'namespaces'), [
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ])
    assert.equal(names('rbac.authorization.k8s.io', 'clusterroles').length, 70)
    assert.equal(names('rbac.authorization.k8s.io', 'roles').length, 7)
    assert.deepEqual(names('scheduling.k8s.io', 'priorityclasses'), [
      'system-cluster-critical',
      'system-node-critical',
    ])
    assert.equal(names('flowcontrol.apiserver.k8s.io', 'flowschemas').length, 11)
    assert.equal(names('flowcontrol.apiserver.k8s.io', 'prioritylevelconfigurations').length, 8)
    assert.ok(names('apiregistration.k8s.io', 'apiservices').includes('v1.apps'))
    await server.stop()
  })

  test('serves the service kubernetes at the first address, with its endpoints', async () => {
    const { server, stored } = await startServer({
      advertiseAddress: '192.0.2.2',
      serviceRanges: ['10.96.0.0/16'],
    })
    assert.equal(stored('services', 'default/kubernetes')?.['spec'].clusterIP, '10.96.0.1')
    assert.deepEqual(stored('ipaddresses.networking.k8s.io', '10.96.0.1')?.['spec'].parentRef, {
      resource: 'services',
      namespace: 'default',
      name: 'kubernetes',
    })
    assert.deepEqual(stored('servicecidrs.networking.k8s.io', 'kubernetes')?.['spec'].cidrs, [
      '10.96.0.0/16',
    ])
    assert.deepEqual(stored('endpoints', 'default/kubernetes')?.['subsets'][0].addresses, [
      { ip: '192.0.2.2' },
    ])
    assert.deepEqual(
      stored('endpointslices.discovery.k8s.io', 'default/kubernetes')?.['endpoints'][0].addresses,
      ['192.0.2.2'],
    )
    await server.stop()
  })

  test('publishes its authorities for extension servers', async () => {
    const { server, stored } = await startServer({
      clientAuthorityPem: undefined,
      frontProxyAuthorityPem: undefined,
    })
    assert.deepEqual(
      stored('configmaps', 'kube-system/extension-apiserver-authentication')?.['data'],
      {},
    )
    assert.deepEqual(
      stored('configmaps', 'kube-system/kube-apiserver-legacy-service-account-token-tracking')?.[
        'data'
      ],
      {
        since: '2026-11-21',
      },
    )
    await server.stop()
  })
})

describe('what the server keeps', () => {
  test('Given a deleted `kubernetes` service, then it is back within seconds with the same address.', async () => {
    const { server, clock, call, stored } = await startServer()
    assert.equal(
      (await call('DELETE', '/api/v1/namespaces/default/services/kubernetes')).status,
      200,
    )
    assert.equal(stored('ipaddresses.networking.k8s.io', '10.0.0.1'), undefined)
    await clock.advance(10_000)
    assert.equal(stored('services', 'default/kubernetes')?.['spec'].clusterIP, '10.0.0.1')
    await server.stop()
  })

  test('a missing system namespace is made again within a minute', async () => {
    const { server, clock, stored } = await startServer()
    server.store.commit({ collection: 'namespaces', key: 'kube-public' }, () => undefined)
    await clock.advance(60_000)
    assert.equal(stored('namespaces', 'kube-public')?.['status'].phase, 'Active')
    await server.stop()
  })

  test('flow schemas and priority levels that were deleted or changed are put back within a minute', async () => {
    const { server, clock, call, stored } = await startServer()
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1'
    const autoUpdate = (value: string | null): object => ({
      annotations: { 'apf.kubernetes.io/autoupdate-spec': value },
    })
    const change = async (object: string, body: object): Promise<void> => {
      const { status, body: answer } = await call('PATCH', `${path}/${object}`, body, PATCH)
      assert.equal(status, 200, answer.message)
    }
    const order = (matchingPrecedence: number): object => ({ spec: { matchingPrecedence } })
    for (const name of ['flowschemas/catch-all', 'flowschemas/probes'])
      await call('DELETE', `${path}/${name}`)
    await call('DELETE', `${path}/prioritylevelconfigurations/node-high`)
    await change('flowschemas/global-default', order(9000))
    await change('flowschemas/kube-scheduler', { ...order(801), metadata: autoUpdate('T') })
    await change('flowschemas/service-accounts', { ...order(8999), metadata: autoUpdate('false') })
    await change('flowschemas/system-nodes', { ...order(501), metadata: autoUpdate(null) })
    await change('flowschemas/system-leader-election', { metadata: autoUpdate('banana') })
    await change('flowschemas/exempt', { metadata: autoUpdate('false') })
    const exempt = { nominalConcurrencyShares: 5, lendablePercent: 10 }
    await change('prioritylevelconfigurations/exempt', { spec: { exempt } })
    for (const [name, value] of [
      ['left', 'true'],
      ['mine', 'banana'],
    ] as const) {
      const priorityLevelConfiguration = { name: 'catch-all' }
      const spec = { priorityLevelConfiguration, matchingPrecedence: 5000 }
      const metadata = { name, ...autoUpdate(value) }
      assert.equal((await call('POST', `${path}/flowschemas`, { metadata, spec })).status, 201)
    }
    await clock.advance(60_000)
    const found = (name: string): unknown => {
      const object = stored('flowschemas.flowcontrol.apiserver.k8s.io', name)
      const { annotations, generation } = object?.['metadata'] ?? {}
      return (
        object && [
          object['spec'].matchingPrecedence,
          annotations?.['apf.kubernetes.io/autoupdate-spec'],
          generation,
        ]
      )
    }
    assert.deepEqual(found('catch-all'), [10_000, 'true', 1])
    assert.deepEqual(found('probes'), [2, 'true', 1])
    assert.deepEqual(found('global-default'), [9900, 'true', 3])
    assert.deepEqual(found('kube-scheduler'), [800, 'T', 3])
    assert.deepEqual(found('service-accounts'), [8999, 'false', 2])
    assert.deepEqual(found('system-nodes'), [501, 'false', 2])
    assert.deepEqual(found('system-leader-election'), [100, 'true', 1])
    assert.deepEqual(found('exempt'), [1, 'true', 1])
    assert.equal(found('left'), undefined)
    assert.deepEqual(found('mine'), [5000, 'banana', 1])
    const levels = 'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io'
    assert.notEqual(stored(levels, 'node-high'), undefined)
    assert.deepEqual(stored(levels, 'exempt')?.['spec'].exempt, exempt)
    assert.deepEqual(
      stored('flowschemas.flowcontrol.apiserver.k8s.io', 'global-default')
        ?.['metadata'].managedFields.filter(({ subresource }: Stored) => subresource === undefined)
        .map(({ manager }: Stored) => manager),
      ['api-priority-and-fairness-config-producer-v1'],
    )
    await server.stop()
  })

  test('endpoints that somebody changed are put back', async () => {
    const { server, clock, stored, call } = await startServer()
    const patch = { subsets: [] }
    await call('PATCH', '/api/v1/namespaces/default/endpoints/kubernetes', patch, {
      'content-type': 'application/merge-patch+json',
    })
    await clock.advance(10_000)
    assert.deepEqual(stored('endpoints', 'default/kubernetes')?.['subsets'][0].addresses, [
      { ip: '127.0.0.1' },
    ])
    await server.stop()
  })

  test('their labels are put back: others may add to those of the Endpoints, not to those of the slice', async () => {
    const { server, clock, stored, call } = await startServer({ advertiseAddress: '192.0.2.2' })
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'
    for (const [path, label] of [
      [
        '/api/v1/namespaces/default/endpoints/kubernetes',
        'endpointslice.kubernetes.io/skip-mirror',
      ],
      [slices, 'kubernetes.io/service-name'],
    ] as const) {
      const metadata = { labels: { [label]: null, own: 'x' } }
      const patched = await call('PATCH', path, { metadata }, PATCH)
      assert.deepEqual(patched.body.metadata.labels, { own: 'x' })
    }
    await clock.advance(10_000)
    assert.deepEqual(stored('endpoints', 'default/kubernetes')?.['metadata'].labels, {
      'endpointslice.kubernetes.io/skip-mirror': 'true',
      own: 'x',
    })
    const { labels, generation } = stored('endpointslices.discovery.k8s.io', 'default/kubernetes')![
      'metadata'
    ]
    assert.deepEqual(labels, { 'kubernetes.io/service-name': 'kubernetes' })
    assert.equal(generation, 3)
    await server.stop()
  })

  test('a service that admission refuses fails no start, and is made when it is let', async () => {
    const clock = new VirtualClock({ startMs: START_MS, settle: turn })
    const store = createMemoryStore(clock)
    const first = await startServer({ clock, store })
    const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['services'] }
    await first.call('POST', policies, {
      metadata: { name: 'no-services' },
      spec: {
        matchConstraints: { resourceRules: [{ ...rule, operations: ['CREATE'] }] },
        validations: [{ expression: 'false', message: 'no services' }],
      },
    })
    await first.call('POST', `${policies.slice(0, -3)}ybindings`, {
      metadata: { name: 'everywhere' },
      spec: { policyName: 'no-services', validationActions: ['Deny'] },
    })
    await first.call('DELETE', '/api/v1/namespaces/default/services/kubernetes')
    await first.server.stop()
    const told: string[] = []
    const logger: Logger = {
      ...silentLogger,
      error: (error) => void told.push((error as Error).message),
      named: () => logger,
    }
    const { server, call } = await startServer({ clock, store, logger })
    assert.match(told[0] ?? '', /no services/)
    assert.equal(server.internals.get('', 'services', 'default', 'kubernetes'), undefined)
    await call('DELETE', `${policies}/no-services`)
    await clock.advance(10_000)
    assert.ok(server.internals.get('', 'services', 'default', 'kubernetes'))
    await server.stop()
  })

  test('a flow schema says whether its priority level exists', async () => {
    const { server, clock, call, stored } = await startServer()
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1'
    const spec = { priorityLevelConfiguration: { name: 'mine' }, matchingPrecedence: 9000 }
    await call('POST', `${path}/flowschemas`, { metadata: { name: 'x' }, spec })
    await clock.advance(0)
    const condition = (): { status: string; reason: string; message: string } =>
      stored('flowschemas.flowcontrol.apiserver.k8s.io', 'x')!['status'].conditions[0]
    const subject = 'This FlowSchema references the PriorityLevelConfiguration object named "mine"'
    assert.deepEqual(
      [condition().status, condition().reason, condition().message],
      ['True', 'NotFound', `${subject} but there is no such object`],
    )
    const limited = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } }
    await call('POST', `${path}/prioritylevelconfigurations`, {
      metadata: { name: 'mine' },
      spec: limited,
    })
    await clock.advance(0)
    assert.deepEqual(
      [condition().status, condition().message],
      ['False', `${subject} and it exists`],
    )
    await server.stop()
  })

  test('a server at rest writes nothing', async () => {
    const { server, clock } = await startServer()
    const before = server.store.revision
    await clock.advance(300_000)
    assert.equal(server.store.revision, before)
    await server.stop()
  })

  test('a deleted ServiceCIDR is back within 10 s, and its status is applied where nothing is said', async () => {
    const { server, clock, stored, call } = await startServer()
    const path = '/apis/networking.k8s.io/v1/servicecidrs/kubernetes'
    const cidr = (): Stored => stored('servicecidrs.networking.k8s.io', 'kubernetes')!
    const owners = (): string[] =>
      cidr()['metadata'].managedFields.map(
        ({ manager, operation, subresource = '' }: Stored) =>
          `${manager} ${operation} ${subresource}`,
      )
    const made = ['kubernetes-service-cidr-controller Apply status', 'kube-apiserver Update ']
    assert.deepEqual(owners(), made)
    const { uid } = cidr()['metadata']
    assert.equal((await call('DELETE', path)).status, 200)
    await clock.advance(10_000)
    assert.notEqual(cidr()['metadata'].uid, uid)
    assert.deepEqual(owners(), made)
    await call('PATCH', `${path}/status`, { status: { conditions: null } }, PATCH)
    assert.deepEqual(cidr()['status'], {})
    await clock.advance(10_000)
    assert.equal(cidr()['status'].conditions[0].status, 'True')
    assert.deepEqual(owners(), made)
    await server.stop()
  })
})

describe('a start over existing objects', () => {
  test('adds missing rules and subjects, removes nothing, leaves alone what opted out, recreates a binding of another role', async () => {
    const { server, clock, stored } = await startServer()
    const change = (
      collection: string,
      key: string,
      edit: (object: Record<string, unknown>) => object,
    ): void => {
      const object = stored(collection, key)!
      server.store.commit({ collection, key }, (revision) => ({
        ...object,
        ...edit(object),
        metadata: {
          ...object['metadata'],
          ...(edit(object) as { metadata?: object }).metadata,
          resourceVersion: String(revision),
        },
      }))
    }
    const roles = 'clusterroles.rbac.authorization.k8s.io'
    const bindings = 'clusterrolebindings.rbac.authorization.k8s.io'
    const own = { verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] }
    change(roles, 'system:discovery', () => ({ rules: [own] }))
    change(roles, 'system:basic-user', () => ({
      rules: [],
      metadata: { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } },
    }))
    change(bindings, 'system:discovery', () => ({ subjects: [] }))
    change(bindings, 'system:basic-user', ({ roleRef }) => ({
      roleRef: { ...(roleRef as object), name: 'view' },
    }))
    const uid = stored(bindings, 'system:basic-user')!['metadata'].uid
    const options = {
      server: server.internals,
      registry: server.registry,
      fields: fieldManagement,
      clock,
      random: new SeededRandom(2),
      logger: silentLogger,
      advertiseAddress: '127.0.0.1',
      securePort: 6443,
      isOn: () => false,
    }
    const again = await bootstrap(options)
    again.stop()
    const rules = stored(roles, 'system:discovery')!['rules']
    assert.deepEqual(rules[0], own)
    assert.ok(
      rules.some((rule: { nonResourceURLs?: string[] }) =>
        rule.nonResourceURLs?.includes('/version'),
      ),
    )
    assert.deepEqual(stored(roles, 'system:basic-user')!['rules'], [])
    assert.deepEqual(stored(bindings, 'system:discovery')!['subjects'].length, 1)
    assert.equal(stored(bindings, 'system:basic-user')!['roleRef'].name, 'system:basic-user')
    assert.notEqual(stored(bindings, 'system:basic-user')!['metadata'].uid, uid)
    await server.stop()
  })
})

test('objects of the start have owners of their fields, so that an apply of others is a conflict', async (t) => {
  const { server, stored } = await startServer()
  t.after(() => server.stop())
  const managersOf = (collection: string, key: string): unknown =>
    stored(collection, key)!['metadata'].managedFields.map(
      ({ manager, operation, apiVersion, fieldsV1 }: Stored) => [
        manager,
        operation,
        apiVersion,
        Object.keys(fieldsV1),
      ],
    )
  assert.deepEqual(managersOf('namespaces', 'default'), [
    ['kube-apiserver', 'Update', 'v1', ['f:metadata']],
  ])
  assert.deepEqual(managersOf('clusterroles.rbac.authorization.k8s.io', 'cluster-admin'), [
    ['kube-apiserver', 'Update', 'rbac.authorization.k8s.io/v1', ['f:metadata', 'f:rules']],
  ])
  assert.deepEqual(
    managersOf('prioritylevelconfigurations.flowcontrol.apiserver.k8s.io', 'system'),
    [
      [
        'api-priority-and-fairness-config-producer-v1',
        'Update',
        'flowcontrol.apiserver.k8s.io/v1',
        ['f:metadata', 'f:spec'],
      ],
    ],
  )
})
