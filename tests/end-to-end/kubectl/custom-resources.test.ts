/** Custom resources under kubectl: columns, explain, apply by merge, both subresources, `all`. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { begin, cells, expectAll, fed, file, finish, gyro, refuseAll } from './session.ts'

const count = { type: 'integer', description: 'how many hulls' }
const columns = [
  { name: 'Hulls', type: 'integer', jsonPath: '.spec.replicas' },
  { name: 'Yard', type: 'string', jsonPath: '.spec.yard', priority: 1 },
]
const schema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      properties: {
        replicas: { ...count, minimum: 0 },
        yard: { type: 'string', default: 'north' },
        parts: { type: 'array', items: { type: 'string' } },
      },
    },
    status: { type: 'object', properties: { replicas: count, selector: { type: 'string' } } },
  },
}
const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
}
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: {
      kind: 'Boat',
      plural: 'boats',
      singular: 'boat',
      shortNames: ['bo'],
      categories: ['all'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: columns,
        subresources: { status: {}, scale },
        schema: { openAPIV3Schema: schema },
      },
    ],
  },
}

function boat(name: string, spec: object = { replicas: 1 }): object {
  return { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name }, spec }
}

before(async () => {
  await begin()
  gyro.apply(definition)
  gyro.ok('wait', '--for=condition=Established', 'crd/boats.example.com', '--timeout=10s')
})
after(finish)

test('get shows the columns of the definition, by every name and in all', () => {
  gyro.apply(boat('ann'))
  for (const type of ['boats', 'boat', 'bo', 'boats.example.com', 'boats.v1.example.com', 'Boat']) {
    const [head, row] = cells(gyro.ok('get', type))
    assert.deepEqual(
      [head, row],
      [
        ['NAME', 'HULLS'],
        ['ann', '1'],
      ],
      type,
    )
  }
  expectAll([
    ['get bo -o wide', /^NAME +HULLS +YARD\nann +1 +north\n$/],
    ['get all', /\nboat\.example\.com\/ann +1\n/],
    ['get all -o name', /^boat\.example\.com\/ann$/m],
    [
      'api-resources --api-group=example.com --no-headers',
      /^boats +bo +example\.com\/v1 +true +Boat\n$/,
    ],
    [
      'explain boats.spec.replicas',
      /^GROUP: +example\.com\nKIND: +Boat\nVERSION: +v1\n\nFIELD: replicas <integer>\s+DESCRIPTION:\n +how many hulls\n/,
    ],
    [
      'describe bo ann',
      /^Name: +ann\n[^]*API Version: +example\.com\/v1\nKind: +Boat\n[^]*Spec:\n +Replicas: +1\n +Yard: +north\n/,
    ],
    ['describe crd boats.example.com', /Type: +Established\n/],
    ['get crd -o name', 'customresourcedefinition.apiextensions.k8s.io/boats.example.com\n'],
  ])
})

test('apply sends merge patches, replaces lists, and refuses what the schema forbids', () => {
  const apply = (spec: object): string =>
    gyro.ok('apply', '-f', file('boat.json', boat('bea', spec)))
  assert.equal(apply({ replicas: 1, parts: ['keel', 'mast'] }), 'boat.example.com/bea created\n')
  assert.equal(apply({ replicas: 1, parts: ['mast'] }), 'boat.example.com/bea configured\n')
  assert.equal(apply({ replicas: 1, parts: ['mast'] }), 'boat.example.com/bea unchanged\n')
  const { spec, metadata } = gyro.json('get', 'bo', 'bea')
  assert.deepEqual(
    [spec, metadata.generation],
    [{ replicas: 1, parts: ['mast'], yard: 'north' }, 2],
  )
  const cases: readonly [string, object, RegExp][] = [
    ['unknown', { hulls: 1 }, /strict decoding error: unknown field "spec\.hulls"/],
    [
      'wrong',
      { replicas: 'many' },
      /spec\.replicas: Invalid value: "string": spec\.replicas in body must be of type integer: "string"/,
    ],
    [
      'low',
      { replicas: -1 },
      /spec\.replicas: Invalid value: -1: spec\.replicas in body should be greater than or equal to 0/,
    ],
  ]
  for (const [name, bad, expected] of cases)
    refuseAll([[`create -f ${file(`${name}.json`, boat(name, bad))}`, expected]])
  refuseAll([
    [
      'patch bo bea -p {"spec":{"replicas":2}}',
      /^error: application\/strategic-merge-patch\+json is not supported by example\.com\/v1, Kind=Boat: /,
    ],
  ])
  expectAll([
    ['patch bo bea --type=merge -p {"spec":{"replicas":2}}', 'boat.example.com/bea patched\n'],
    ['label bo bea size=big', 'boat.example.com/bea labeled\n'],
    ['annotate bo bea by=me', 'boat.example.com/bea annotated\n'],
    [
      `apply --server-side --force-conflicts -f ${file('bea.json', boat('bea'))}`,
      'boat.example.com/bea serverside-applied\n',
    ],
  ])
  assert.match(
    fed('', ['edit', 'bo', 'bea'], { EDITOR: 'sed -i s/north/south/' }).stdout,
    /boat\.example\.com\/bea edited/,
  )
  assert.equal(gyro.json('get', 'bo', 'bea').spec.yard, 'south')
})

test('scale and status are apart from the rest', () => {
  gyro.apply(boat('cat'))
  expectAll([
    ['scale bo cat --replicas=3', 'boat.example.com/cat scaled\n'],
    ['get bo cat --subresource=scale -o jsonpath={.kind}/{.spec.replicas}', 'Scale/3'],
    [
      'patch bo cat --subresource=status --type=merge -p {"status":{"replicas":2}}',
      'boat.example.com/cat patched\n',
    ],
    [
      'patch bo cat --type=merge -p {"status":{"replicas":9}}',
      'boat.example.com/cat patched (no change)\n',
    ],
    ['get bo cat -o jsonpath={.status.replicas}/{.spec.replicas}/{.metadata.generation}', '2/3/2'],
    [
      'wait --for=jsonpath={.status.replicas}=2 bo/cat --timeout=5s',
      'boat.example.com/cat condition met\n',
    ],
    [
      'autoscale bo cat --min=1 --max=4 --cpu-percent=50',
      /horizontalpodautoscaler\.autoscaling\/cat autoscaled\n/,
    ],
  ])
})

test('deleting the definition takes its objects along', () => {
  expectAll([
    [
      'delete crd boats.example.com --timeout=20s',
      'customresourcedefinition.apiextensions.k8s.io "boats.example.com" deleted\n',
    ],
  ])
  refuseAll([
    [
      'get boats',
      /^Error from server \(NotFound\): Unable to list "example\.com\/v1, Resource=boats": the server could not find the requested resource \(get boats\.example\.com\)\n$/,
    ],
  ])
})
