import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaOf } from '../schema.ts'
import {
  StrategicMergeError,
  applyStrategicMergePatch,
  mergeStrategically,
} from './strategic-merge-patch.ts'

const deployment = schemaOf('apps', 'v1', 'Deployment')!
const podKind = schemaOf('', 'v1', 'Pod')!
const service = schemaOf('', 'v1', 'Service')!

type Named = { readonly name: string; readonly [field: string]: unknown }

/** The containers after patching a pod's spec. */
function containers(before: readonly Named[], specPatch: object): readonly unknown[] {
  const result = applyStrategicMergePatch(
    { spec: { containers: before } },
    { spec: specPatch },
    podKind,
  )
  return (result.spec as { containers: unknown[] }).containers
}

function names(items: readonly unknown[]): string {
  return (items as Named[]).map(({ name }) => name).join('')
}

const a = { name: 'a', image: '1' }
const b = { name: 'b', image: '1' }

test('Given deployment containers [a, b], when strategic-merged with [a changed, c], then [a, c, b]; with `$patch: replace` first, only the new ones.', () => {
  const before = { spec: { template: { spec: { containers: [a, b] } } } }
  const changed = { name: 'a', image: '2' }
  const added = { name: 'c', image: '1' }
  const patch = (list: object[]) => ({ spec: { template: { spec: { containers: list } } } })
  assert.deepEqual(
    applyStrategicMergePatch(before, patch([changed, added]), deployment),
    patch([changed, added, b]),
  )
  assert.deepEqual(
    applyStrategicMergePatch(before, patch([{ $patch: 'replace' }, changed, added]), deployment),
    patch([changed, added]),
  )
})

test('Given an item without merge key, then 500 and nothing stored.', () => {
  assert.throws(
    () => containers([a], { containers: [{ image: 'nokey' }] }),
    new StrategicMergeError('map: map[image:nokey] does not contain declared merge key: name'),
  )
  assert.throws(
    () => containers([a], { containers: [{ $patch: 'delete' }] }),
    /does not contain declared merge key: name/,
  )
})

test('Given strategy RollingUpdate, when patched with `{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}`, then rollingUpdate is gone; without $retainKeys: 422.', () => {
  const before = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } }
  const retain = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }
  assert.deepEqual(applyStrategicMergePatch(before, retain, deployment), {
    spec: { strategy: { type: 'Recreate' } },
  })
  const keep = { spec: { strategy: { type: 'Recreate' } } }
  assert.deepEqual(applyStrategicMergePatch(before, keep, deployment), {
    spec: { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
  })
})

test('Given labels, when patched with `$patch: replace`, then only the new labels remain.', () => {
  const before = { metadata: { name: 'x', labels: { a: '1', b: '2' } } }
  const patch = { metadata: { labels: { $patch: 'replace', c: '3' } } }
  assert.deepEqual(applyStrategicMergePatch(before, patch, podKind), {
    metadata: { name: 'x', labels: { c: '3' } },
  })
})

test('maps merge, null deletes, lists without a strategy are replaced', () => {
  const before = {
    metadata: { labels: { a: '1', b: '2' } },
    spec: { tolerations: [{ key: 'a' }], nodeName: 'n' },
  }
  const patch = {
    metadata: { labels: { a: null, c: '3' } },
    spec: { tolerations: [{ key: 'z' }], nodeName: null },
  }
  assert.deepEqual(applyStrategicMergePatch(before, patch, podKind), {
    metadata: { labels: { b: '2', c: '3' } },
    spec: { tolerations: [{ key: 'z' }] },
  })
})

test('directives in maps: delete removes a map and empties a struct, others are errors', () => {
  const before = { metadata: { labels: { a: '1' } }, spec: { securityContext: { runAsUser: 1 } } }
  assert.deepEqual(
    applyStrategicMergePatch(
      before,
      {
        metadata: { labels: { $patch: 'delete' } },
        spec: { securityContext: { $patch: 'delete' } },
      },
      podKind,
    ),
    { metadata: {}, spec: { securityContext: {} } },
  )
  for (const [directive, shown, map] of [
    ['foo', 'foo', 'foo'],
    ['merge', 'merge', 'merge'],
    [5, '%!s(int64=5)', '5'],
    [null, '%!s(<nil>)', '<nil>'],
    [{ a: [true] }, 'map[a:[%!s(bool=true)]]', 'map[a:[true]]'],
  ] as const)
    assert.throws(
      () =>
        applyStrategicMergePatch(
          before,
          { metadata: { labels: { $patch: directive, n: 1 } } },
          podKind,
        ),
      new StrategicMergeError(`unknown patch type: ${shown} in map: map[$patch:${map} n:1]`),
    )
})

test('items merge by key, and are deleted by key; deleting an absent one is nothing', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ]
  assert.deepEqual(
    containers([{ name: 'a', env }], {
      containers: [
        {
          name: 'a',
          env: [
            { name: 'B', value: '3' },
            { name: 'C', value: '4' },
          ],
        },
      ],
    }),
    [
      {
        name: 'a',
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '3' },
          { name: 'C', value: '4' },
        ],
      },
    ],
  )
  assert.deepEqual(containers([a, b], { containers: [{ $patch: 'delete', name: 'a' }] }), [b])
  assert.deepEqual(containers([a, b], { containers: [{ $patch: 'delete', name: 'z' }] }), [a, b])
  assert.throws(
    () => containers([a], { containers: [{ $patch: 'merge', name: 'a' }] }),
    /merging lists cannot yet be specified/,
  )
  assert.throws(
    () => containers([a], { containers: [{ $patch: 'x', name: 'a' }] }),
    /unknown patch type: x in map: map\[\$patch:x name:a\]/,
  )
})

test('Service ports merge by port alone', () => {
  const before = { spec: { ports: [{ port: 53, protocol: 'TCP' }] } }
  const patch = { spec: { ports: [{ port: 53, protocol: 'UDP' }] } }
  assert.deepEqual(applyStrategicMergePatch(before, patch, service), patch)
})

test('scalar lists are unions, patched ones first; values are deleted by directive', () => {
  const patched = (before: string[], metadata: object): unknown =>
    (
      applyStrategicMergePatch({ metadata: { finalizers: before } }, { metadata }, podKind)
        .metadata as { finalizers: unknown }
    ).finalizers
  assert.deepEqual(patched(['x'], { finalizers: ['y'] }), ['y', 'x'])
  assert.deepEqual(patched(['x', 'y'], { finalizers: ['y'] }), ['x', 'y'])
  assert.deepEqual(patched(['x', 'y'], { '$deleteFromPrimitiveList/finalizers': ['x', 'z'] }), [
    'y',
  ])
  assert.deepEqual(patched(['x'], { '$deleteFromPrimitiveList/finalizers': 'x' }), ['x'])
  assert.deepEqual(patched(['x', 'y', 'z'], { '$setElementOrder/finalizers': ['z', 'x'] }), [
    'y',
    'z',
    'x',
  ])
})

test('release: an owner reference is deleted by UID together with a finalizer', () => {
  const before = {
    metadata: { uid: 'p', finalizers: ['f', 'g'], ownerReferences: [{ uid: 'o' }, { uid: 'q' }] },
  }
  const metadata = {
    uid: 'p',
    ownerReferences: [{ $patch: 'delete', uid: 'o' }],
    '$deleteFromPrimitiveList/finalizers': ['f'],
  }
  assert.deepEqual(applyStrategicMergePatch(before, { metadata }, podKind), {
    metadata: { uid: 'p', finalizers: ['g'], ownerReferences: [{ uid: 'q' }] },
  })
})

test('$setElementOrder orders the items it names; others keep their order and are interleaved', () => {
  const server = [...'abcd'].map((name) => ({ name }))
  const order = (list: string) => [...list].map((name) => ({ name }))
  const cases: [string, object[], string][] = [
    ['dcba', [], 'dcba'],
    ['ca', [], 'bcad'],
    ['ba', [{ name: 'e' }], 'error'],
    ['bea', [{ name: 'e' }], 'beacd'],
    ['ab', [{ $patch: 'delete', name: 'c' }], 'abd'],
  ]
  for (const [wanted, list, expected] of cases) {
    const patch = {
      '$setElementOrder/containers': order(wanted),
      ...(list.length > 0 && { containers: list }),
    }
    if (expected === 'error') {
      assert.throws(
        () => containers(server, patch),
        new StrategicMergeError(
          "The order in patch list:\n[map[name:e]]\n doesn't match $setElementOrder list:\n[map[name:b] map[name:a]]\n",
        ),
      )
    } else {
      assert.equal(names(containers(server, patch)), expected, wanted)
    }
  }
  assert.throws(
    () => containers(server, { '$setElementOrder/containers': 'x' }),
    new StrategicMergeError('expected a []interface {}, but received a string'),
  )
})

test('a list that the server does not have is added without what is marked by $patch; other directives stay', () => {
  const patch = {
    spec: {
      '$setElementOrder/containers': [{ name: 'a' }],
      containers: [a, { $patch: 'delete', name: 'z' }],
    },
  }
  assert.deepEqual(applyStrategicMergePatch({ spec: {} }, patch, podKind), {
    spec: { containers: [a] },
  })
  const nested = {
    spec: {
      volumes: [{ $retainKeys: ['name'], name: 'v', emptyDir: null }],
      securityContext: { $patch: 'delete' },
    },
  }
  assert.deepEqual(applyStrategicMergePatch({}, nested, podKind), {
    spec: { volumes: [{ $retainKeys: ['name'], name: 'v' }] },
  })
})

test('what a patch still says when it was applied is without the directives that were followed', () => {
  const before = { metadata: { finalizers: ['f'] }, spec: { strategy: { type: 'Recreate' } } }
  const patch = {
    metadata: { finalizers: ['g'], '$setElementOrder/finalizers': ['g', 'f'], labels: null },
    spec: { strategy: { $retainKeys: ['type'], type: 'x' }, paused: { $patch: 'x', a: null } },
  }
  const { left } = mergeStrategically(before, patch, deployment)
  assert.deepEqual(left, {
    metadata: { labels: null },
    spec: { strategy: { type: 'x' }, paused: { $patch: 'x' } },
  })
  assert.deepEqual(patch.spec.strategy, { $retainKeys: ['type'], type: 'x' })
})

test('$retainKeys in an item drops what it does not list; a key outside the list is refused with 400', () => {
  const before = { spec: { volumes: [{ name: 'v', emptyDir: {} }] } }
  const patch = (volume: object) => ({ spec: { volumes: [volume] } })
  assert.deepEqual(
    applyStrategicMergePatch(
      before,
      patch({ $retainKeys: ['name', 'configMap'], name: 'v', configMap: { name: 'c' } }),
      podKind,
    ),
    { spec: { volumes: [{ name: 'v', configMap: { name: 'c' } }] } },
  )
  for (const volume of [
    { $retainKeys: ['name'], name: 'v', configMap: {} },
    { $retainKeys: 'name', name: 'v' },
  ]) {
    assert.throws(
      () => applyStrategicMergePatch(before, patch(volume), podKind),
      (error) =>
        error instanceof StrategicMergeError &&
        error.badRequest &&
        error.message === 'invalid patch format of retainKeys',
    )
  }
})

test('a null key is exempt from $retainKeys', () => {
  const before = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } }
  const strategy = { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null }
  assert.deepEqual(applyStrategicMergePatch(before, { spec: { strategy } }, deployment), {
    spec: { strategy: { type: 'Recreate' } },
  })
})

test('a struct with strategy replace is replaced as a whole', () => {
  const budget = schemaOf('policy', 'v1', 'PodDisruptionBudget')!
  const before = { spec: { selector: { matchLabels: { a: '1' } } } }
  const patch = { spec: { selector: { matchLabels: { b: '2' } } } }
  assert.deepEqual(applyStrategicMergePatch(before, patch, budget), patch)
})

test('null deletes a list, unless an order of it is asked for', () => {
  const before = { spec: { volumes: [{ name: 'v' }] } }
  const patch = { spec: { volumes: null } }
  assert.deepEqual(applyStrategicMergePatch(before, patch, podKind), { spec: {} })
  const ordered = { spec: { ...patch.spec, '$setElementOrder/volumes': [{ name: 'v' }] } }
  assert.throws(
    () => applyStrategicMergePatch(before, ordered, podKind),
    new StrategicMergeError('expected a []interface {}, but received a %!s(<nil>)'),
  )
})

test('what meets nothing loses nulls, then directives; what is new in a list or takes a place is taken as it is', () => {
  const before = { spec: { containers: [a], tolerations: [{ key: 'k' }] } }
  const env = [{ name: 'E', $patch: 'delete' }, { name: 'F' }]
  const merged = (spec: object): unknown =>
    applyStrategicMergePatch(before, { spec }, podKind)['spec']
  const added = { name: 'b', image: null, env, $retainKeys: ['name'] }
  assert.deepEqual(merged({ containers: [added] }), { ...before.spec, containers: [added, a] })
  const tolerations = [{ key: 'l', $patch: 'merge' }, { key: null }]
  assert.deepEqual(merged({ tolerations }), { ...before.spec, tolerations })
  const volumes = [
    { name: 'v', emptyDir: { medium: null, $patch: null } },
    { name: 'w', $patch: null },
    { name: 'x', $patch: 'foo' },
  ]
  assert.deepEqual(merged({ volumes, nodeSelector: { $patch: null, a: 'b' } }), {
    ...before.spec,
    volumes: [{ name: 'v', emptyDir: {} }, { name: 'w' }],
    nodeSelector: { a: 'b' },
  })
  const replaced = { $patch: 'replace', containers: [{ ...a, args: null, $retainKeys: [] }] }
  const { $patch: _, ...kept } = replaced
  assert.deepEqual(merged(replaced), kept)
})

test('an order is not disturbed by directives as long as it goes on', () => {
  const before = { spec: { containers: [a, b] } }
  const order = { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] }
  const merged = (list: object[]): unknown =>
    applyStrategicMergePatch(before, { spec: { containers: list, ...order } }, podKind)
  const replacing = { spec: { containers: [{ name: 'a' }] } }
  assert.deepEqual(merged([{ $patch: 'replace' }, { name: 'a' }]), replacing)
  assert.throws(() => merged([{ name: 'a' }, { $patch: 'replace' }]), /The order in patch list/)
  assert.throws(() => merged([{ $patch: 'replace' }, {}]), /does not contain declared merge key/)
})

test('what an order does not name stays in its place, and what is new behind it', () => {
  const before = { spec: { containers: [a, b] } }
  const patch = { spec: { containers: [{ name: 'c' }], '$setElementOrder/containers': [] } }
  assert.deepEqual(applyStrategicMergePatch(before, patch, podKind), {
    spec: { containers: [a, b, { name: 'c' }] },
  })
})

test('items of a list are of one type, those that are deleted from it too', () => {
  const before = { metadata: { finalizers: ['a'] }, spec: { containers: [a] } }
  const cases: readonly (readonly [object, string])[] = [
    [
      { spec: { containers: [{ name: 'b' }, 5] } },
      'list element types are not identical: [[map[image:1 name:a]] [map[name:b] 5]]',
    ],
    [
      { metadata: { '$deleteFromPrimitiveList/finalizers': [5] } },
      'list element types are not identical: [[a] [5]]',
    ],
    [
      { spec: { containers: [], '$setElementOrder/containers': [5] } },
      'value for key 0 is not a map',
    ],
    [
      { spec: { volumes: [], '$setElementOrder/volumes': [] } },
      'no elements in any of the given slices',
    ],
  ]
  for (const [patch, message] of cases)
    assert.throws(
      () => applyStrategicMergePatch(before, patch, podKind),
      new StrategicMergeError(message),
    )
})

test('lists of maps without a merge key cannot be merged, and their order is looked at when nothing is left of them', () => {
  const account = schemaOf('', 'v1', 'ServiceAccount')!
  const before = { imagePullSecrets: [{ name: 's1' }] }
  for (const [patch, message] of [
    [
      { '$deleteFromPrimitiveList/imagePullSecrets': [] },
      'cannot merge lists without merge key for struct',
    ],
    [
      { '$deleteFromPrimitiveList/imagePullSecrets': [{ $patch: 'replace' }] },
      'cannot merge lists without merge key for struct',
    ],
    [
      { '$setElementOrder/imagePullSecrets': [], imagePullSecrets: [] },
      'map: map[name:s1] does not contain declared merge key: ',
    ],
    [
      { '$setElementOrder/imagePullSecrets': ['a'], imagePullSecrets: [] },
      'expected a map[string]interface {}, but received a string',
    ],
  ] as const)
    assert.throws(() => applyStrategicMergePatch(before, patch, account), { message })
})

test('an order is for lists only, and not within a map', () => {
  const order = (field: string) => ({ [`$setElementOrder/${field}`]: ['x'], [field]: ['x'] })
  for (const [patch, message] of [
    [{ spec: order('minReadySeconds') }, 'expected slice or array type, but got: struct'],
    [{ spec: order('paused') }, 'expected slice or array type, but got: struct'],
    [
      { metadata: { labels: order('new') } },
      'merging an object in json but data type is not struct, instead is: map',
    ],
  ] as const)
    assert.throws(
      () =>
        applyStrategicMergePatch({ metadata: { labels: { a: 'b' } }, spec: {} }, patch, deployment),
      { message },
    )
})

test('what a patch still says is without marked maps below what met nothing', () => {
  const policy = schemaOf('networking.k8s.io', 'v1', 'NetworkPolicy')!
  const ports = [{ port: true }, { port: 1, $patch: 'replace' }, {}]
  const patch = {
    spec: {
      ingress: [{ ports }],
      egress: [{ $patch: 'delete' }, { x: { $patch: 'merge' }, y: 1 }],
    },
  }
  assert.deepEqual(mergeStrategically({ spec: {} }, patch, policy).left, {
    spec: { ingress: [{ ports: [{ port: true }, {}] }], egress: [{ $patch: 'delete' }, { y: 1 }] },
  })
})

test('null is a no-op, a body that is no object is refused with 400', () => {
  const before = { spec: {} }
  assert.equal(applyStrategicMergePatch(before, null, podKind), before)
  assert.throws(() => applyStrategicMergePatch(before, [], podKind), {
    badRequest: true,
    message: 'json: cannot unmarshal array into Go value of type map[string]interface {}',
  })
})

test('a field whose type differs from the stored one is taken as it is', () => {
  const result = applyStrategicMergePatch(
    { spec: { replicas: 1 } },
    { spec: { replicas: 'x' } },
    deployment,
  )
  assert.deepEqual(result, { spec: { replicas: 'x' } })
})

test('the stored object is not edited', () => {
  const before = {
    metadata: { labels: { a: '1' }, finalizers: ['x'] },
    spec: { containers: [a, b] },
  }
  const text = JSON.stringify(before)
  const patch = {
    metadata: { labels: { a: null }, finalizers: ['y'] },
    spec: {
      '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
      containers: [{ name: 'b', image: '2' }],
    },
  }
  const patchText = JSON.stringify(patch)
  applyStrategicMergePatch(before, patch, podKind)
  assert.equal(JSON.stringify(before), text)
  assert.equal(JSON.stringify(patch), patchText)
})
