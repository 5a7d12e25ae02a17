/** Cells and columns where kubectl's tables are not obvious. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../registry/kind-rules.ts'
import { rulesFor } from './index.ts'

const columnOf = (group: string, kind: string, name: string) =>
  rulesFor(group, kind)?.columns?.find((column) => column.name === name)

test('cells', () => {
  const marked = {
    metadata: { name: 'a', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  }
  const defaultIngressClass = {
    metadata: { name: 'a', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
  }
  const nodeWith = (kernelVersion: string, architecture: string): Draft => ({
    status: { nodeInfo: { kernelVersion, architecture } },
  })
  const hosts = (...list: readonly string[]): Draft => ({
    spec: { rules: list.map((host) => ({ host })) },
  })
  const balanced = {
    status: {
      loadBalancer: {
        ingress: [
          { ip: '2.2.2.2' },
          {},
          { hostname: 'h.io' },
          { ip: '1.1.1.1' },
          { ip: '2.2.2.2' },
        ],
      },
    },
  }
  const conditions = (...list: readonly (readonly [string, string?])[]): Draft => ({
    status: { conditions: list.map(([type, status]) => ({ type, status })) },
  })
  const cases: readonly (readonly [string, string, string, Draft, unknown])[] = [
    ['storage.k8s.io', 'StorageClass', 'Name', marked, 'a (default)'],
    ['storage.k8s.io', 'StorageClass', 'Name', { metadata: { name: 'a' } }, 'a'],
    ['networking.k8s.io', 'IngressClass', 'Name', defaultIngressClass, 'a (default)'],
    ['networking.k8s.io', 'IngressClass', 'Name', { metadata: { name: 'a' } }, 'a'],
    [
      'networking.k8s.io',
      'Ingress',
      'Class',
      { metadata: { annotations: { 'kubernetes.io/ingress.class': 'old' } } },
      '<none>',
    ],
    ['networking.k8s.io', 'Ingress', 'Class', { spec: { ingressClassName: 'c' } }, 'c'],
    ['discovery.k8s.io', 'EndpointSlice', 'Ports', {}, '<unset>'],
    ['discovery.k8s.io', 'EndpointSlice', 'Ports', { ports: [{ port: 1 }, { port: 2 }] }, '1,2'],
    ['discovery.k8s.io', 'EndpointSlice', 'Ports', { ports: [{ name: 'a' }] }, 'a'],
    ['', 'Node', 'Kernel-Version', nodeWith('6.1', 'amd64'), '6.1 (amd64)'],
    ['', 'Node', 'Kernel-Version', nodeWith('6.1', ''), '6.1'],
    ['', 'Node', 'Kernel-Version', nodeWith('', 'amd64'), '<unknown> (amd64)'],
    ['', 'Node', 'Kernel-Version', {}, '<unknown>'],
    [
      'flowcontrol.apiserver.k8s.io',
      'PriorityLevelConfiguration',
      'NominalConcurrencyShares',
      { spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 3 } } },
      '<none>',
    ],
    [
      'networking.k8s.io',
      'IPAddress',
      'ParentRef',
      { spec: { parentRef: { resource: 'services', namespace: 'n', name: 's' } } },
      'services/n/s',
    ],
    [
      'networking.k8s.io',
      'IPAddress',
      'ParentRef',
      { spec: { parentRef: { group: 'a.io', resource: 'Services', name: 's' } } },
      'services.a.io/s',
    ],
    ['networking.k8s.io', 'Ingress', 'Hosts', hosts('a', 'b', '', 'c'), 'a,b,c'],
    ['networking.k8s.io', 'Ingress', 'Hosts', hosts('a', 'b', 'c', ''), 'a,b,c + 1 more...'],
    ['networking.k8s.io', 'Ingress', 'Hosts', hosts('a', '', 'b', 'c', 'd'), 'a,b,c + 2 more...'],
    ['networking.k8s.io', 'Ingress', 'Hosts', hosts(''), '*'],
    ['networking.k8s.io', 'Ingress', 'Address', balanced, '1.1.1.1,2.2.2.2,h.io'],
    [
      '',
      'Service',
      'External-IP',
      { ...balanced, spec: { type: 'LoadBalancer' } },
      '1.1.1.1,2.2.2.2,h.io',
    ],
    [
      'networking.k8s.io',
      'IngressClass',
      'Parameters',
      { spec: { parameters: { apiGroup: '', kind: 'ConfigMap', name: 'c' } } },
      'ConfigMap./c',
    ],
    ['', 'PersistentVolume', 'Claim', { spec: { claimRef: { name: 'c' } } }, '/c'],
    ['', 'Event', 'Count', { count: 4, series: {} }, 0],
    ['', 'Event', 'Last Seen', { lastTimestamp: '1970-01-01T00:00:00Z', series: {} }, '<unknown>'],
    [
      'storage.k8s.io',
      'CSIDriver',
      'TokenRequests',
      { spec: { tokenRequests: [{ audience: '' }] } },
      '',
    ],
    ['storage.k8s.io', 'CSIDriver', 'TokenRequests', { spec: {} }, '<unset>'],
    ['batch', 'Job', 'Status', conditions(['Complete', 'False'], ['Complete', 'True']), 'Running'],
    [
      'certificates.k8s.io',
      'CertificateSigningRequest',
      'Condition',
      conditions(['Approved', 'True'], ['Denied', 'True']),
      'Denied',
    ],
    ['flowcontrol.apiserver.k8s.io', 'FlowSchema', 'MissingPL', conditions(['Dangling']), ''],
    [
      'apiregistration.k8s.io',
      'APIService',
      'Available',
      conditions(['Available', 'False']),
      'False',
    ],
  ]
  for (const [group, kind, name, object, cell] of cases)
    assert.equal(columnOf(group, kind, name)?.cell(object, 0), cell, `${kind} ${name}`)
})

test('columns that differ from the usual', () => {
  assert.equal(columnOf('scheduling.k8s.io', 'PriorityClass', 'PreemptionPolicy')?.priority ?? 0, 0)
  assert.equal(columnOf('storage.k8s.io', 'VolumeAttachment', 'Attacher')?.format, 'name')
  assert.equal(columnOf('networking.k8s.io', 'IPAddress', 'Age')?.undeclared, true)
})

test('flow schemas are listed in the order in which they match', () => {
  const schema = (name: string, matchingPrecedence: number): Draft => ({
    metadata: { name },
    spec: { matchingPrecedence },
  })
  const { rowOrder } = rulesFor('flowcontrol.apiserver.k8s.io', 'FlowSchema')!
  const rows = [schema('b', 10), schema('c', 1), schema('a', 10)].toSorted(rowOrder)
  assert.deepEqual(
    rows.map(({ metadata }) => metadata.name),
    ['c', 'a', 'b'],
  )
})

test('a CSI driver counts the changes of some fields', () => {
  const rules = rulesFor('storage.k8s.io', 'CSIDriver')!
  const update = (spec: Draft): number | undefined => {
    const stored = { metadata: { generation: 1 }, spec: { requiresRepublish: false } }
    const object: Draft = { metadata: { generation: 1 }, spec }
    rules.prepareForUpdate?.(object, stored, { nowMs: 0, userName: '', featureEnabled: () => true })
    return object.metadata.generation
  }
  assert.deepEqual(
    [update({ requiresRepublish: false }), update({ requiresRepublish: true })],
    [1, 2],
  )
})
