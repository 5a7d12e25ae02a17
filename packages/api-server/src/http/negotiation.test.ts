import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../contracts.ts'
import { errorType, inputType, negotiate, requireRoutedType } from './negotiation.ts'

type Messages = 'all' | 'metadata'

const LIST = { watch: false, transformable: true, messages: 'all' as Messages }
const WATCH = { ...LIST, watch: true }
const CUSTOM = { ...LIST, messages: 'metadata' as Messages }
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const METADATA_AS_PROTOBUF = `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`
const table = 'application/json;as=Table;g=meta.k8s.io;v='

const ANSWERS: readonly (readonly [accept: string | undefined, as: string])[] = [
  [undefined, 'application/json'],
  ['', 'application/json'],
  ['*/*', 'application/json'],
  ['application/yaml, application/json', 'application/yaml'],
  ['application/yaml;q=0.5, application/json', 'application/json'],
  ['text/html, application/json', 'application/json'],
  ['application/json;foo=bar', 'application/json'],
  [`${PROTOBUF},application/json`, PROTOBUF],
  [`application/json, ${PROTOBUF}`, 'application/json'],
  [`${PROTOBUF};q=0.8, application/json`, 'application/json'],
  [`${PROTOBUF};q=0.4, */*;q=0.9`, 'application/json'],
  [`*/*;q=0.9, ${PROTOBUF};q=0.4`, PROTOBUF],
  ['application/*;q=0.9, application/yaml;q=0.4', 'application/yaml'],
  ['*/*, application/yaml', 'application/yaml'],
  ['application/cbor, */*;q=0.1', 'application/json'],
  [PROTOBUF, PROTOBUF],
  [`${PROTOBUF}, application/cbor`, PROTOBUF],
  [
    `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`,
    `${PROTOBUF} PartialObjectMetadata v1`,
  ],
  [`application/yaml;q=0.5, ${PROTOBUF}`, PROTOBUF],
  [`${PROTOBUF}, application/yaml`, PROTOBUF],
  [`${PROTOBUF};q=0.5, application/yaml`, 'application/yaml'],
  [`${METADATA_AS_PROTOBUF}, application/json`, `${PROTOBUF} PartialObjectMetadata v1`],
  [`${METADATA_AS_PROTOBUF}, ${PROTOBUF}`, `${PROTOBUF} PartialObjectMetadata v1`],
  [
    `${METADATA_AS_PROTOBUF}, application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json`,
    `${PROTOBUF} PartialObjectMetadata v1`,
  ],
  [`${PROTOBUF};as=Table;g=meta.k8s.io;v=v1, ${table}v1`, 'application/json Table v1'],
  [`${PROTOBUF}, ${table}v1, application/json`, PROTOBUF],
  [`${table}v1`, 'application/json Table v1'],
  [`${table}v1beta1`, 'application/json Table v1beta1'],
  [`${table}v2,application/json`, 'application/json'],
  ['application/json;as=Foo;g=meta.k8s.io;v=v1,application/yaml', 'application/yaml'],
  [
    'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    'application/json PartialObjectMetadataList v1',
  ],
]

for (const [accept, as] of ANSWERS) {
  test(`Accept ${accept ?? '(absent)'} is answered with ${as}`, () => {
    const { mediaType, transformation } = negotiate(accept, LIST)
    assert.equal(
      [
        mediaType,
        ...(transformation === undefined ? [] : [transformation.as, transformation.version]),
      ].join(' '),
      as,
    )
  })
}

test('a watch takes what can be streamed if YAML comes later', () => {
  const accept = 'application/yaml;q=0.1, application/json'
  assert.equal(negotiate(accept, WATCH).mediaType, 'application/json')
  assert.equal(negotiate(`${PROTOBUF}, application/yaml`, WATCH).mediaType, PROTOBUF)
})

test('a watch and metadata of anything are answered in protobuf', () => {
  assert.equal(negotiate(PROTOBUF, WATCH).mediaType, PROTOBUF)
  const metadata = `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`
  assert.equal(negotiate(metadata, CUSTOM).mediaType, PROTOBUF)
})

const THREE = `only the following media types are accepted: application/json, application/yaml, ${PROTOBUF}`
const NOTHING =
  '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf'
const STREAMS = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'
const REFUSED: readonly (readonly [accept: string, options: typeof LIST, message: string])[] = [
  [
    `${table}v2`,
    LIST,
    'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  ],
  [`${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`, LIST, THREE],
  [PROTOBUF, CUSTOM, THREE],
  [`${table}v1`, { ...LIST, tables: false } as typeof LIST, THREE],
  [PROTOBUF, { ...CUSTOM, watch: true }, THREE],
  ['application/yaml', WATCH, `only the following media types are accepted: ${STREAMS}`],
  ['application/yaml, */*', WATCH, `only the following media types are accepted: ${STREAMS}`],
]

for (const [accept, options, message] of REFUSED) {
  test(`Accept ${accept} is refused${options.watch ? ' on a watch' : ''}`, () => {
    assert.throws(
      () => negotiate(accept, options),
      (error: unknown) =>
        error instanceof ApiError && error.code === 406 && error.message === message,
    )
  })
}

const UNROUTED: readonly (readonly [
  accept: string,
  route: Parameters<typeof requireRoutedType>[1],
  types: string,
])[] = [
  ['text/html', { collection: true }, `${NOTHING}, ${STREAMS}`],
  ['text/html', {}, NOTHING],
  ['application/*', {}, NOTHING],
  ['application/cbor', {}, NOTHING],
  ['text/html', { log: true }, NOTHING.replace('application/json', 'text/plain, application/json')],
]

for (const [accept, route, message] of UNROUTED) {
  test(`no route is found for Accept ${accept} of ${JSON.stringify(route)}`, () => {
    assert.throws(() => requireRoutedType(accept, route), { code: 406, message })
  })
}

test('a route is found by a type whatever its parameters, and by text where that is a log', () => {
  for (const accept of [undefined, '', '*/*', 'application/json;as=Table', 'a/b, */*;q=0.1'])
    requireRoutedType(accept, {})
  requireRoutedType('text/plain', { log: true })
})

test('yaml on a watch is refused in YAML', () => {
  assert.equal(errorType('application/yaml')?.mediaType, 'application/yaml')
  assert.equal(errorType('text/html'), undefined)
})

test('who takes protobuf first gets refusals in it, but not who wished for a form of objects', () => {
  assert.equal(errorType(PROTOBUF)?.mediaType, PROTOBUF)
  assert.equal(errorType(`${PROTOBUF}, application/json`)?.mediaType, PROTOBUF)
  assert.equal(errorType(`application/json, ${PROTOBUF}`)?.mediaType, 'application/json')
  assert.equal(errorType(`${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`), undefined)
})

test('content types: good parameters are ignored, absent is JSON, others are 415', () => {
  assert.equal(inputType(undefined), 'application/json')
  assert.equal(inputType('application/yaml; charset=utf-8'), 'application/yaml')
  assert.equal(inputType('application/JSON;a="b;\\"c" ; d=e;'), 'application/json')
  assert.equal(inputType('application/json;a=b;A="b"'), 'application/json')
  for (const refused of [
    'text/plain',
    ';',
    ';application/json',
    'application/json;charset',
    'application/json;=',
    'application/json;a="b',
    'application/json;a=b;A=c',
    'application/json;;a=b',
  ])
    assert.throws(() => inputType(refused), {
      code: 415,
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    })
})
