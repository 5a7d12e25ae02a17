import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ObjectUnderTest } from './fixtures.ts'
import { resetFields } from './reset-fields.ts'

const configMap = (): ObjectUnderTest => new ObjectUnderTest('v1', 'ConfigMap')
const deployment = (): ObjectUnderTest => new ObjectUnderTest('apps/v1', 'Deployment')
const template = (containers: readonly unknown[]): unknown => ({
  metadata: { labels: { app: 'a' } },
  spec: { containers },
})
const names = (list: readonly { readonly name: string }[]): readonly string[] =>
  list.map(({ name }) => name)

test('Given m1 applied x=1,y=1 and m2 applies x=1,z=2, then x has two owners; when m2 applies x=2, then 409 naming m1; with force, m1 keeps y only; when m2 applies without x, then x is removed.', () => {
  const object = configMap()
  object.apply('m1', { data: { x: '1', y: '1' } })
  object.apply('m2', { data: { x: '1', z: '2' } })
  assert.deepEqual(object.owners(), {
    'm1 Apply': { 'f:data': { 'f:x': {}, 'f:y': {} } },
    'm2 Apply': { 'f:data': { 'f:x': {}, 'f:z': {} } },
  })
  const refusal = object.refusal('m2', { data: { x: '2', z: '2' } })
  assert.equal(refusal.message, 'Apply failed with 1 conflict: conflict with "m1": .data.x')
  assert.deepEqual(refusal.toStatus(), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Apply failed with 1 conflict: conflict with "m1": .data.x',
    reason: 'Conflict',
    details: {
      causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.data.x' }],
    },
    code: 409,
  })
  object.apply('m2', { data: { x: '2', z: '2' } }, { force: true })
  assert.deepEqual(object.owners()['m1 Apply'], { 'f:data': { 'f:y': {} } })
  object.apply('m2', { data: { z: '2' } })
  assert.deepEqual(object.object?.['data'], { y: '1', z: '2' })
})

test('Given m1 stops sending x while u1 (Update) owns x too, then x stays.', () => {
  const object = configMap()
  object.put('u1', { data: { x: '1' } })
  object.apply('m1', { data: { x: '1', y: '1' } })
  object.apply('m1', { data: { y: '1' } })
  assert.deepEqual(object.object?.['data'], { x: '1', y: '1' })
})

test('Given an object with managedFields reset, when updated, then still none; when applied, then `before-first-apply` owns the rest.', () => {
  const object = configMap()
  object.put('m', { data: { a: '1' } })
  object.put('m', { metadata: { managedFields: [{}] }, data: { a: '1' } })
  object.put('m', { data: { a: '1', b: '1' } })
  assert.deepEqual(object.entries, [])
  object.apply('applier', { data: { c: '1' } })
  assert.deepEqual(object.owners(), {
    'applier Apply': { 'f:data': { 'f:c': {} } },
    'before-first-apply Update': { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } },
  })
})

test('Given status applied through the main resource, then ignored; through /status by s1, then an entry with subresource status.', () => {
  const object = deployment()
  const filter = resetFields('apps', 'deployments', '', true)
  object.apply('m', { spec: { replicas: 1 }, status: { replicas: 3 } }, { filter })
  assert.deepEqual(object.owners(), { 'm Apply': { 'f:spec': { 'f:replicas': {} } } })
  const statusFilter = resetFields('apps', 'deployments', 'status', true)
  object.apply('s1', { status: { replicas: 2 } }, { subresource: 'status', filter: statusFilter })
  assert.deepEqual(object.owners()['s1 Apply status'], { 'f:status': { 'f:replicas': {} } })
})

test('Given the same apply twice, then the second changes nothing, times included.', () => {
  const object = configMap()
  object.apply('m', { data: { a: '1' } })
  const before = object.object
  object.nowMs += 60_000
  object.apply('m', { data: { a: '1' } })
  assert.deepEqual(object.object, before)
})

test('Given apply of a pod template port without protocol, then the entry\'s key contains `"protocol":"TCP"` and only `f:containerPort` below it.', () => {
  const object = deployment()
  object.apply('m', {
    spec: { template: template([{ name: 'c', ports: [{ containerPort: 80 }] }]) },
  })
  assert.deepEqual(object.owners(), {
    'm Apply': {
      'f:spec': {
        'f:template': {
          'f:metadata': { 'f:labels': { 'f:app': {} } },
          'f:spec': {
            'f:containers': {
              'k:{"name":"c"}': {
                '.': {},
                'f:name': {},
                'f:ports': {
                  'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
                },
              },
            },
          },
        },
      },
    },
  })
})

test('several conflicts stand in one block per manager, with subresource and version for updaters', () => {
  const object = deployment()
  object.put('u1', { spec: { replicas: 1, template: template([{ name: 'c', image: 'a' }]) } })
  object.put(
    'u2',
    { spec: { replicas: 2, template: template([{ name: 'c', image: 'a' }]) } },
    { subresource: 'scale' },
  )
  const refusal = object.refusal('m', {
    spec: { replicas: 9, template: template([{ name: 'c', image: 'b' }]) },
  })
  assert.equal(
    refusal.message,
    'Apply failed with 2 conflicts: conflicts with "u1" using apps/v1:\n- .spec.template.spec.containers[name="c"].image\nconflicts with "u2" with subresource "scale" using apps/v1:\n- .spec.replicas',
  )
})

test('of two updates of one manager the older stands first, of one age that of a subresource', () => {
  const spec = (image: string): unknown => template([{ name: 'c', image }])
  const message = (between: number): string => {
    const object = deployment()
    object.put('u', { spec: { replicas: 1, template: spec('a') } })
    object.nowMs += between
    object.put('u', { spec: { replicas: 2, template: spec('a') } }, { subresource: 'scale' })
    return object.refusal('m', { spec: { replicas: 9, template: spec('b') } }).message
  }
  const [image, replicas] = [
    'conflicts with "u" using apps/v1:\n- .spec.template.spec.containers[name="c"].image',
    'conflicts with "u" with subresource "scale" using apps/v1:\n- .spec.replicas',
  ]
  assert.equal(message(0), `Apply failed with 2 conflicts: ${replicas}\n${image}`)
  assert.equal(message(60_000), `Apply failed with 2 conflicts: ${image}\n${replicas}`)
})

test('a configuration that breaks the schema is refused with the words of the reference server', () => {
  const prefix = 'failed to create typed patch object (/x; apps/v1, Kind=Deployment): '
  const cases: readonly [body: Record<string, unknown>, text: string][] = [
    [{ spec: { foo: 1 } }, '.spec.foo: field not declared in schema'],
    [{ spec: { replicas: 'x' } }, '.spec.replicas: expected numeric (int or float), got string'],
    [
      { metadata: { labels: { x: 1 } } },
      '.metadata.labels.x: expected string, got &value.valueUnstructured{Value:1}',
    ],
    [{ metadata: { labels: ['x'] } }, '.metadata.labels: expected map, got &{[x]}'],
    [
      { metadata: { finalizers: ['a.b/c', 'a.b/c'] } },
      '.metadata.finalizers: duplicate entries for key [="a.b/c"]',
    ],
    [
      { spec: { template: template([{ name: 'c' }, { name: 'c' }]) } },
      '.spec.template.spec.containers: duplicate entries for key [name="c"]',
    ],
    [
      { spec: { b: 1, a: 1 }, zz: 1 },
      'errors:\n  .spec.a: field not declared in schema\n  .zz: field not declared in schema',
    ],
  ]
  for (const [body, text] of cases) {
    const refusal = deployment().refusal('m', body)
    assert.equal(refusal.message, prefix + text)
    assert.equal(refusal.code, 500)
    assert.equal(refusal.toStatus().reason, undefined)
  }
})

test('bodies that are not of the endpoint are refused', () => {
  const cases: readonly [body: Record<string, unknown>, text: string][] = [
    [{ kind: 'Secret' }, 'invalid object type: /v1, Kind=Secret'],
    [{ kind: '', apiVersion: '' }, 'invalid object type: /, Kind='],
    [{ apiVersion: 'v1/' }, 'invalid object type: v1/, Kind=ConfigMap'],
    [{ apiVersion: '/a/' }, 'invalid object type: /, Kind='],
    [{ metadata: { managedFields: [] } }, 'metadata.managedFields must be nil'],
  ]
  for (const [body, text] of cases) {
    const refusal = configMap().refusal('m', body)
    assert.equal(refusal.message, text)
    assert.equal(refusal.code, 400)
  }
})

test('items of map lists keep the order of the configuration, between those that only the object has', () => {
  const cases: readonly [stored: string, applied: string, merged: string][] = [
    ['a b', 'b a', 'b a'],
    ['a b', 'c', 'a b c'],
    ['a b', 'a c', 'a b c'],
    ['a b c', 'c a', 'b c a'],
    ['a b c', 'd b', 'a d b c'],
    ['', 'b a', 'b a'],
  ]
  const containers = (text: string): unknown[] =>
    text
      .split(' ')
      .filter(Boolean)
      .map((name) => ({ name }))
  for (const [stored, applied, merged] of cases) {
    const object = deployment()
    object.put('u', { spec: { template: template(containers(stored)) } })
    object.apply('m', { spec: { template: template(containers(applied)) } })
    assert.deepEqual(
      names(object.object?.['spec'].template.spec.containers),
      merged.split(' '),
      `${stored} + ${applied}`,
    )
  }
})

test('sets are united, atomic lists and maps are replaced', () => {
  const pod = new ObjectUnderTest('v1', 'Pod')
  const spec = (args: readonly string[], nodeSelector: unknown): unknown => ({
    containers: [{ name: 'c', args }],
    nodeSelector,
  })
  pod.put('u', { metadata: { finalizers: ['a/1', 'a/2'] }, spec: spec(['x'], { a: '1' }) })
  pod.apply(
    'm',
    { metadata: { finalizers: ['a/2', 'a/3'] }, spec: spec(['y'], { b: '2' }) },
    { force: true },
  )
  assert.deepEqual(pod.object?.['metadata'].finalizers, ['a/1', 'a/2', 'a/3'])
  assert.deepEqual(pod.object?.['spec'].containers[0].args, ['y'])
  assert.deepEqual(pod.object?.['spec'].nodeSelector, { b: '2' })
})

test('items and maps that an applier no longer sends go, but not what others put into them', () => {
  const object = deployment()
  object.apply('m', {
    spec: {
      template: template([
        { name: 'a', image: '1' },
        { name: 'b', image: '1' },
      ]),
    },
  })
  object.apply('other', {
    spec: { template: { spec: { containers: [{ name: 'b', workingDir: '/' }] } } },
  })
  object.apply('m', { spec: { template: { metadata: { labels: { app: 'a' } } } } })
  assert.deepEqual(object.object?.['spec'].template.spec.containers, [
    { name: 'b', workingDir: '/', resources: {} },
  ])
})

test('null is a value to own: the field goes because the merged value is null', () => {
  const object = deployment()
  object.apply('m', { spec: { replicas: 3, paused: true } })
  object.apply('m', { spec: { replicas: null, paused: true } })
  assert.equal(object.object?.['spec'].replicas, undefined)
  assert.deepEqual(object.owners(), {
    'm Apply': { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } },
  })
})

test('the Apply and the Update entry of one manager are different owners', () => {
  const object = configMap()
  object.put('m', { data: { a: '1' } })
  assert.equal(
    object.refusal('m', { data: { a: '2' } }).message,
    'Apply failed with 1 conflict: conflict with "m" using v1: .data.a',
  )
})

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration'

test('Given client-side applied a=1 and apply by `kubectl` of a=2, then no conflict, and the annotation now says a=2; by another manager: 409.', () => {
  const lastApplied = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x' },
    data: { a: '1' },
  })
  const make = (): ObjectUnderTest => {
    const object = configMap()
    object.put('kubectl-client-side-apply', {
      metadata: { annotations: { [ANNOTATION]: lastApplied } },
      data: { a: '1' },
    })
    return object
  }
  const object = make()
  object.apply('kubectl', { data: { a: '2' } })
  assert.equal(
    object.object?.['metadata'].annotations[ANNOTATION],
    '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"x"}}\n',
  )
  assert.equal(make().refusal('other', { data: { a: '2' } }).code, 409)
  for (const [annotations, shown] of [
    [null, ''],
    [{ x: null }, '"annotations":{"x":""},'],
  ] as const) {
    const other = make()
    other.apply('kubectl', { metadata: { annotations }, data: { a: '2' } })
    assert.equal(
      other.object?.['metadata'].annotations[ANNOTATION],
      `{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{${shown}"name":"x"}}\n`,
    )
  }
})

test('kubectl does not overwrite what changed since its annotation', () => {
  const lastApplied = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x' },
    data: { a: '1', b: '1' },
  })
  const object = configMap()
  object.put('client', {
    metadata: { annotations: { [ANNOTATION]: lastApplied } },
    data: { a: '1', b: '1' },
  })
  object.put('other', {
    metadata: { annotations: { [ANNOTATION]: lastApplied } },
    data: { a: '1', b: '9' },
  })
  assert.equal(
    object.refusal('kubectl', { data: { a: '2', b: '2' } }).message,
    'Apply failed with 1 conflict: conflict with "other" using v1: .data.b',
  )
})

test('an object that is applied empty stays, one that is no longer applied goes; empty lists go', () => {
  const pod = new ObjectUnderTest('v1', 'PodTemplate')
  const template = (spec: object) => ({ template: { spec } })
  const left = (): unknown => pod.object?.['template'].spec
  pod.apply(
    'm',
    template({ securityContext: { seLinuxOptions: { level: 'a' } }, hostAliases: [{ ip: '::1' }] }),
  )
  pod.apply('m', template({ securityContext: { seLinuxOptions: {} }, hostAliases: [] }))
  assert.deepEqual(left(), { containers: null, securityContext: { seLinuxOptions: {} } })
  pod.apply('m', template({ securityContext: {} }))
  assert.deepEqual(left(), { containers: null, securityContext: {} })
  pod.apply('m', template({ dnsPolicy: 'None' }))
  assert.deepEqual(left(), { containers: null, dnsPolicy: 'None' })
})

test('a struct without fields takes any field from who applies, and has them owned', () => {
  const object = new ObjectUnderTest('internal.apiserver.k8s.io/v1alpha1', 'StorageVersion')
  object.apply('m', { spec: { a: 1, b: { c: [2] } } })
  assert.deepEqual(object.owners()['m Apply'], {
    'f:spec': { 'f:a': {}, 'f:b': { '.': {}, 'f:c': {} } },
  })
})

test('keys that every object inherits, and `__proto__`, are keys like others: recorded', () => {
  const data = (...keys: readonly string[]): { data: Record<string, string> } => ({
    data: Object.fromEntries(keys.map((key) => [key, '1'])),
  })
  const held = (object: ObjectUnderTest): readonly string[] =>
    Object.keys(object.object?.['data']).toSorted()
  const owned = (keys: readonly string[], whole: object = {}): unknown => ({
    'f:data': { ...whole, ...Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) },
  })
  const object = configMap()
  object.put('u', data('a'))
  object.put('u', data('a', 'constructor', 'toString', '__proto__'))
  const before = ['__proto__', 'a', 'constructor', 'toString']
  assert.deepEqual(object.owners(), { 'u Update': owned(before, { '.': {} }) })
  object.apply('ap', data('a', '__proto__', 'valueOf'))
  assert.deepEqual(held(object), [...before, 'valueOf'])
  assert.deepEqual(object.owners()['ap Apply'], owned(['__proto__', 'a', 'valueOf']))
  const changed = { data: Object.fromEntries([['__proto__', '2']]) }
  assert.equal(
    object.refusal('ap', changed).message,
    'Apply failed with 1 conflict: conflict with "u" using v1: .data.__proto__',
  )
  object.apply('ap', changed, { force: true })
  assert.deepEqual(held(object), before)
  assert.deepEqual(Object.entries(object.object?.['data']).toSorted()[0], ['__proto__', '2'])
  object.apply('ap', data('a'))
  assert.deepEqual(held(object), ['a', 'constructor', 'toString'])
  object.put('u', data('a', 'constructor'))
  assert.deepEqual(object.owners(), {
    'ap Apply': owned(['a']),
    'u Update': owned(['a', 'constructor'], { '.': {} }),
  })
  assert.deepEqual(held(object), ['a', 'constructor'])
})

test('a map that keeps `__proto__` keeps it when others of its keys are taken from it', () => {
  const object = configMap()
  object.put('u', { data: Object.fromEntries([['__proto__', '1']]) })
  object.apply('m', { data: { a: '1' } })
  object.apply('m', { data: { b: '1' } })
  assert.deepEqual(Object.keys(object.object?.['data']).toSorted(), ['__proto__', 'b'])
})
