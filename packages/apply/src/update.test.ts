import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ObjectUnderTest } from './fixtures.ts'
import { setOf } from './field-set.ts'
import { keepTimesOfNoop, managerName } from './managers.ts'
import { resetFields } from './reset-fields.ts'

const configMap = (): ObjectUnderTest => new ObjectUnderTest('v1', 'ConfigMap')

test('a create owns what it set, with a dot for new maps and items and none for structs that always exist', () => {
  const pod = new ObjectUnderTest('v1', 'Pod')
  pod.put('m', {
    metadata: { labels: { a: 'b' }, finalizers: ['x/y'] },
    spec: {
      containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, protocol: 'TCP' }] }],
      nodeSelector: { n: '1' },
    },
  })
  assert.deepEqual(pod.owners(), {
    'm Update': {
      'f:metadata': {
        'f:finalizers': { '.': {}, 'v:"x/y"': {} },
        'f:labels': { '.': {}, 'f:a': {} },
      },
      'f:spec': {
        'f:containers': {
          'k:{"name":"c"}': {
            '.': {},
            'f:image': {},
            'f:name': {},
            'f:ports': {
              '.': {},
              'k:{"containerPort":80,"protocol":"TCP"}': {
                '.': {},
                'f:containerPort': {},
                'f:protocol': {},
              },
            },
            'f:resources': {},
          },
        },
        'f:nodeSelector': {},
      },
    },
  })
})

test('Given a ConfigMap created with a name only and then updated, then no managedFields.', () => {
  const object = configMap()
  object.put('m', {})
  assert.deepEqual(object.entries, [])
  object.put('m', { data: { a: '1' } })
  assert.deepEqual(object.entries, [])
})

test('an update takes what it changed from every other owner, and what it removed from all', () => {
  const object = configMap()
  object.apply('applier', { data: { a: '1', b: '1', c: '1' } })
  object.put('writer', { data: { a: '2', b: '1' } })
  assert.deepEqual(object.owners(), {
    'applier Apply': { 'f:data': { 'f:b': {} } },
    'writer Update': { 'f:data': { 'f:a': {} } },
  })
  object.put('writer', { data: { a: '2', b: '2' } })
  assert.deepEqual(object.owners(), { 'writer Update': { 'f:data': { 'f:a': {}, 'f:b': {} } } })
})

test('equal values give no ownership, and a write that changes nothing keeps the times', () => {
  const object = configMap()
  object.put('first', { data: { a: '1' } })
  const before = object.entries
  object.nowMs += 60_000
  object.put('second', { data: { a: '1' } })
  assert.deepEqual(object.entries, before)
})

test('an entry gets a new time when its manager changes a value', () => {
  const object = configMap()
  object.put('m', { data: { a: '1' } })
  object.nowMs += 60_000
  object.put('m', { data: { a: '2' } })
  assert.deepEqual(
    object.entries.map(({ time }) => time),
    ['2026-01-01T00:01:00Z'],
  )
})

test('Given eleven Update managers, then the oldest two share `ancient-changes`.', () => {
  const object = configMap()
  const data: Record<string, string> = {}
  for (let i = 0; i < 11; i++) {
    object.nowMs += 1000
    data[`k${i}`] = 'v'
    object.put(`m${i}`, { data })
  }
  assert.equal(object.entries.length, 10)
  assert.deepEqual(object.entries[0], {
    manager: 'ancient-changes',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-01-01T00:00:02Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {} } },
  })
  object.nowMs += 1000
  object.put('m11', { data: { ...data, k11: 'v' } })
  assert.equal(object.entries.length, 10)
  assert.deepEqual(object.entries[0]?.fieldsV1, {
    'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} },
  })
})

test('what a request may do to managedFields', () => {
  const entry = {
    manager: 'given',
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:a': {} } },
  }
  const cases: readonly [
    name: string,
    sent: unknown,
    options: { subresource?: string },
    owners: readonly string[],
  ][] = [
    ['absent', undefined, {}, ['m Update', 'w Update']],
    ['null', null, {}, ['m Update', 'w Update']],
    ['one empty entry', [{}], {}, []],
    ['valid entries', [entry], {}, ['given Apply', 'w Update']],
    ['unknown operation', [{ ...entry, operation: 'Steal' }], {}, ['m Update', 'w Update']],
    ['no apiVersion', [{ ...entry, apiVersion: undefined }], {}, ['m Update', 'w Update']],
    ['unknown fieldsType', [{ ...entry, fieldsType: 'FieldsV2' }], {}, ['m Update', 'w Update']],
    ['through a subresource', [entry], { subresource: 'status' }, ['m Update', 'w Update status']],
  ]
  for (const [name, managedFields, options, owners] of cases) {
    const object = configMap()
    object.put('m', { data: { a: '1' } })
    object.put('w', { metadata: { managedFields }, data: { a: '1', b: '2' } }, options)
    assert.deepEqual(Object.keys(object.owners()), owners, name)
  }
})

test('a status write owns status fields under its subresource and nothing that the endpoint resets', () => {
  const pod = new ObjectUnderTest('v1', 'Pod')
  pod.put('m', { spec: { containers: [{ name: 'c' }] } })
  const filter = resetFields('', 'pods', 'status', true)
  pod.put(
    'kubelet',
    { spec: { containers: [{ name: 'other' }] }, status: { phase: 'Running' } },
    { subresource: 'status', filter },
  )
  assert.deepEqual(pod.owners()['kubelet Update status'], { 'f:status': { 'f:phase': {} } })
  assert.deepEqual(Object.keys(pod.owners()), ['kubelet Update status', 'm Update'])
})

test('the manager is the parameter, else the product of the user agent', () => {
  const cases: readonly [string | undefined, string | undefined, string][] = [
    ['given', 'curl/8.5', 'given'],
    [undefined, 'curl/8.5', 'curl'],
    ['', 'kubectl/v1.36.0 (linux/amd64) kubernetes/abc', 'kubectl'],
    [undefined, 'no slash', 'no slash'],
    [undefined, '', 'unknown'],
    [undefined, undefined, 'unknown'],
    [undefined, 'a\u0007b/1', 'ab'],
    [undefined, `${'m'.repeat(200)}/1`, 'm'.repeat(128)],
  ]
  for (const [parameter, userAgent, manager] of cases)
    assert.equal(managerName(parameter, userAgent), manager)
})

test('an empty list in a patch, and one sent for a list that is always written', () => {
  const object = configMap()
  object.put('m', { data: { a: '1' } })
  object.put('w', { metadata: { managedFields: [] }, data: { a: '3' } })
  assert.deepEqual(object.entries, [])
  const role = new ObjectUnderTest('rbac.authorization.k8s.io/v1', 'Role')
  role.put('m', { rules: [] })
  assert.deepEqual(role.owners(), { 'm Update': { 'f:rules': {} } })
})

test('what a client changes in an entry is read in canonical form', () => {
  const object = new ObjectUnderTest('v1', 'Service')
  object.put('m', { spec: { ports: [{ port: 80, protocol: 'TCP' }] } })
  const fieldsV1 = {
    'f:spec': { 'f:ports': { 'k:{ "protocol": "TCP", "port": 80 }': { '.': {} } } },
  }
  const managedFields = [
    { manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 },
  ]
  object.put('m', { metadata: { managedFields }, spec: { ports: [{ port: 80, protocol: 'TCP' }] } })
  assert.deepEqual(object.owners(), {
    'x Apply': { 'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': {} } } },
  })
})

test('an object is not tracked whose status has an item that nothing names, though the endpoint resets the status', () => {
  const object = new ObjectUnderTest('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema')
  const filter = { ignored: setOf(['f:status']) }
  const spec = { matchingPrecedence: 5 }
  object.put('m', { spec, status: { conditions: [{ status: 'True' }] } }, { filter })
  assert.deepEqual(object.entries, [])
  const named = new ObjectUnderTest('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema')
  named.put('m', { spec, status: { conditions: [{ type: 'A' }] } }, { filter })
  assert.deepEqual(named.owners(), { 'm Update': { 'f:spec': { 'f:matchingPrecedence': {} } } })
})

test('a field that every object inherits is gone when it is sent no more', () => {
  const at = (time: string) => [
    { manager: 'm', operation: 'Update', apiVersion: 'v1', time, fieldsType: 'FieldsV1' },
  ]
  const updated = { metadata: { managedFields: at('2026-01-02T00:00:00Z') } }
  const stored = { metadata: { managedFields: at('2026-01-01T00:00:00Z') } }
  keepTimesOfNoop({ ...stored, constructor: 1 }, updated)
  assert.deepEqual(updated.metadata.managedFields, at('2026-01-02T00:00:00Z'))
  keepTimesOfNoop(stored, updated)
  assert.deepEqual(updated.metadata.managedFields, at('2026-01-01T00:00:00Z'))
})
