import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyDefaults } from './defaults.ts'
import { decodeMetadata, prune } from './prune.ts'
import type { JsonObject, Schema } from './structural-schema.ts'

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', default: 3 },
        list: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, port: { type: 'integer', default: 80 } },
          },
        },
        map: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            properties: { a: { type: 'string', default: 'x' } },
          },
        },
        free: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { known: { type: 'object', properties: { y: { type: 'string' } } } },
        },
        emb: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          properties: { spec: { type: 'object' } },
        },
        nullable: { type: 'string', nullable: true, default: 'n' },
        plain: { type: 'string' },
        parent: { type: 'object', properties: { child: { type: 'string', default: 'c' } } },
      },
    },
  },
}

test('fields that are not in the schema vanish, also below nodes that keep unknown fields', () => {
  const object: JsonObject = {
    apiVersion: 'a/v1',
    kind: 'A',
    metadata: { name: 'x' },
    bogus: 1,
    spec: {
      unk: 1,
      size: 1,
      list: [{ name: 'a' }, { name: 'b', zz: 1 }],
      map: { k: { a: '1', b: '2' } },
      free: { any: [{ deep: 1 }], known: { y: '1', z: 1 } },
      emb: { apiVersion: 'v1', kind: 'P', metadata: { name: 'p' }, spec: { gone: 1 }, other: 1 },
    },
  }
  assert.deepEqual(prune(object, SCHEMA), [
    'bogus',
    'spec.unk',
    'spec.list[1].zz',
    'spec.map.k.b',
    'spec.free.known.z',
    'spec.emb.spec.gone',
    'spec.emb.other',
  ])
  assert.deepEqual(object['spec'], {
    size: 1,
    list: [{ name: 'a' }, { name: 'b' }],
    map: { k: { a: '1' } },
    free: { any: [{ deep: 1 }], known: { y: '1' } },
    emb: { apiVersion: 'v1', kind: 'P', metadata: { name: 'p' }, spec: {} },
  })
})

test('metadata of the object and of embedded resources is cut to ObjectMeta', () => {
  const object: JsonObject = {
    metadata: { name: 'x', bogus: 1 },
    spec: { emb: { metadata: { name: 'p', bogus: 1 } } },
  }
  assert.deepEqual(decodeMetadata(object, SCHEMA), {
    own: ['unknown field "metadata.bogus"'],
    embedded: ['unknown field "spec.emb.metadata.bogus"'],
  })
  assert.deepEqual(object, { metadata: { name: 'x' }, spec: { emb: { metadata: { name: 'p' } } } })
})

test('metadata of a wrong type is refused in the words of the decoder', () => {
  assert.throws(() => decodeMetadata({ metadata: { name: 1 } }, SCHEMA), {
    message: 'json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
  })
})

test('Default in spec with and without spec present; null with a default.', () => {
  const cases: readonly [JsonObject, JsonObject][] = [
    [{}, {}],
    [{ spec: {} }, { spec: { size: 3, nullable: 'n' } }],
    [{ spec: { size: null, nullable: null, plain: null } }, { spec: { size: 3, nullable: null } }],
    [
      { spec: { size: 1, nullable: 'x', list: [{}], map: { k: {} } } },
      { spec: { size: 1, nullable: 'x', list: [{ port: 80 }], map: { k: { a: 'x' } } } },
    ],
    [
      { spec: { size: 1, nullable: 'x', parent: {} } },
      { spec: { size: 1, nullable: 'x', parent: { child: 'c' } } },
    ],
  ]
  for (const [before, after] of cases) {
    applyDefaults(before, SCHEMA)
    assert.deepEqual(before, after)
  }
})

test('keys of a map that may have none are kept, to be refused; fields of their values vanish', () => {
  const closed = { type: 'object', additionalProperties: false } as const
  const object: JsonObject = { spec: { a: 1, b: { c: 1 } } }
  assert.deepEqual(prune(object, { type: 'object', properties: { spec: closed } }), ['spec.b.c'])
  assert.deepEqual(object, { spec: { a: 1, b: {} } })
})

test('what a list keeps are the unknown fields of its items, not those below what the items have', () => {
  const known: Schema = { type: 'object', properties: { a: { type: 'string' } } }
  const keeping = (items: Schema): Schema => ({
    type: 'array',
    items,
    'x-kubernetes-preserve-unknown-fields': true,
  })
  const properties: Record<string, Schema> = {
    items: keeping({
      type: 'object',
      properties: {
        o: known,
        l: { type: 'array', items: known },
        m: { type: 'object', additionalProperties: known },
      },
    }),
    lists: keeping({ type: 'array', items: known }),
    maps: keeping({ type: 'object', additionalProperties: known }),
  }
  const object: JsonObject = {
    items: [{ u: { v: [{ w: 1 }] }, o: { a: '1', u: 1 }, l: [{ u: 1 }], m: { k: { u: 1 } } }],
    lists: [[{ a: '1', u: 1 }]],
    maps: [{ k: { a: '1', u: 1 } }],
  }
  assert.deepEqual(prune(object, { type: 'object', properties }), [
    'items[0].o.u',
    'items[0].l[0].u',
    'items[0].m.k.u',
    'maps[0].k.u',
  ])
  assert.deepEqual(object, {
    items: [{ u: { v: [{ w: 1 }] }, o: { a: '1' }, l: [{}], m: { k: {} } }],
    lists: [[{ a: '1', u: 1 }]],
    maps: [{ k: { a: '1' } }],
  })
})

test('a default of a property called `__proto__` is a property', () => {
  const properties = Object.fromEntries([['__proto__', { type: 'object', default: { a: 1 } }]])
  const object: JsonObject = {}
  applyDefaults(object, { type: 'object', properties })
  assert.deepEqual(Object.entries(object), [['__proto__', { a: 1 }]])
})
