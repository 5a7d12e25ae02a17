/**
 * Both forms of the OpenAPI documents by the grammar that Go clients parse them with: every word where it may stand, with
 * a value of the right type, every reference with a target. Words that start with x- may stand everywhere.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, type AnyValue, type TestServer } from '../testing/test-server.ts'

type Rule = string
type Grammar = Readonly<Record<string, Readonly<Record<string, Rule>>>>

const NUMBERS =
  'multipleOf maximum minimum maxLength minLength maxItems minItems maxProperties minProperties'
const FLAGS = 'exclusiveMaximum exclusiveMinimum uniqueItems readOnly'
const TEXTS = 'format title description pattern'
const words = (text: string, rule: Rule): Record<string, Rule> =>
  Object.fromEntries(text.split(' ').map((word) => [word, rule]))

const schemaWords = {
  ...words(NUMBERS, 'number'),
  ...words(FLAGS, 'boolean'),
  ...words(TEXTS, 'string'),
  required: 'list string',
  enum: 'list any',
  default: 'any',
  example: 'any',
  externalDocs: 'externalDocs',
  properties: 'map schema',
  additionalProperties: 'schema|boolean',
  items: 'schema',
  allOf: 'list schema',
}
const common: Grammar = {
  externalDocs: words('url description', 'string'),
  info: words('title! version! description termsOfService', 'string'),
}
const methods = 'get put post delete options head patch'
const operationWords = {
  ...words('summary description operationId', 'string'),
  tags: 'list string',
  deprecated: 'boolean',
  security: 'list any',
  externalDocs: 'externalDocs',
  parameters: 'list parameter',
  'responses!': 'map response',
}

const VERSION_2: Grammar = {
  ...common,
  document: {
    'swagger!': 'string',
    'info!': 'info',
    'paths!': 'map pathItem',
    definitions: 'map schema',
    parameters: 'map parameter',
    securityDefinitions: 'map security',
    security: 'list any',
  },
  security: words('type! name! in! description', 'string'),
  pathItem: { ...words(methods, 'operation'), parameters: 'list parameter' },
  operation: {
    ...operationWords,
    produces: 'list string',
    consumes: 'list string',
    schemes: 'list string',
  },
  parameter: {
    ...words('$ref name in type format description pattern collectionFormat', 'string'),
    required: 'boolean',
    uniqueItems: 'boolean',
    allowEmptyValue: 'boolean',
    schema: 'schema',
  },
  response: { 'description!': 'string', schema: 'schema' },
  schema: { ...schemaWords, $ref: 'string', type: 'string', discriminator: 'string' },
}

const VERSION_3: Grammar = {
  ...common,
  document: {
    'openapi!': 'string',
    'info!': 'info',
    'paths!': 'map pathItem',
    components: 'components',
    security: 'list any',
  },
  components: { schemas: 'map schema', securitySchemes: 'map security' },
  security: words('type! name! in! description', 'string'),
  pathItem: { ...words(methods, 'operation'), parameters: 'list parameter' },
  operation: { ...operationWords, requestBody: 'requestBody' },
  requestBody: { description: 'string', required: 'boolean', 'content!': 'map mediaType' },
  mediaType: { schema: 'schema' },
  parameter: {
    ...words('name! in! description style', 'string'),
    ...words('required deprecated allowEmptyValue explode', 'boolean'),
    schema: 'schema',
  },
  response: { 'description!': 'string', content: 'map mediaType' },
  reference: { '$ref!': 'string' },
  schema: {
    ...schemaWords,
    type: 'string',
    nullable: 'boolean',
    deprecated: 'boolean',
    oneOf: 'list schema',
    anyOf: 'list schema',
    not: 'schema',
  },
}

/** What a strict reader would refuse, with its place. */
function refusals(grammar: Grammar, document: AnyValue): string[] {
  const found: string[] = []
  const seen = (value: AnyValue, rule: Rule, path: string): void => {
    if (rule.startsWith('list ')) {
      if (!Array.isArray(value)) found.push(`${path}: no list`)
      else value.forEach((item, index) => seen(item, rule.slice(5), `${path}[${index}]`))
    } else if (rule.startsWith('map ')) {
      for (const [key, item] of Object.entries(value)) seen(item, rule.slice(4), `${path}.${key}`)
    } else if (rule.includes('|')) {
      if (typeof value !== 'boolean') seen(value, rule.split('|')[0]!, path)
    } else if (['string', 'boolean', 'number'].includes(rule)) {
      if (typeof value !== rule) found.push(`${path}: ${JSON.stringify(value)} is no ${rule}`)
    } else if (rule !== 'any') seenObject(value, rule, path)
  }
  const seenObject = (value: AnyValue, rule: Rule, path: string): void => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      found.push(`${path}: ${JSON.stringify(value)} is no ${rule}`)
      return
    }
    const isReference = typeof value.$ref === 'string'
    if (isReference && value.$ref.startsWith('#/')) {
      const target = value.$ref.slice(2).split('/')
      if (target.reduce((at: AnyValue, step: string) => at?.[step], document) === undefined)
        found.push(`${path}: ${value.$ref} leads nowhere`)
    }
    const known = grammar[isReference && grammar['reference'] !== undefined ? 'reference' : rule]!
    for (const [word, inner] of Object.entries(value)) {
      if (word.startsWith('x-')) continue
      const wanted = known[word] ?? known[`${word}!`]
      if (wanted === undefined) found.push(`${path}: unknown word ${word}`)
      else seen(inner, wanted, `${path}.${word}`)
    }
    for (const word of Object.keys(known))
      if (word.endsWith('!') && value[word.slice(0, -1)] === undefined)
        found.push(`${path}: ${word.slice(0, -1)} is missing`)
  }
  seen(document, 'document', '')
  return found
}

/** A definition whose fields are called like words of the language. */
const AWKWARD = {
  metadata: { name: 'oas.srv.example.com' },
  spec: {
    group: 'srv.example.com',
    scope: 'Namespaced',
    names: { plural: 'oas', kind: 'Oa' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  $ref: { type: 'string' },
                  nullable: { type: 'string', default: 'x' },
                  n: { type: 'integer', nullable: true },
                  oneOf: { type: 'array', items: { type: 'string' } },
                  any: { 'x-kubernetes-preserve-unknown-fields': true },
                  ios: {
                    'x-kubernetes-int-or-string': true,
                    anyOf: [{ type: 'integer' }, { type: 'string' }],
                  },
                  one: {
                    type: 'string',
                    oneOf: [{ format: 'ipv4' }, { format: 'ipv6' }],
                    not: { pattern: 'x' },
                  },
                  m: { type: 'object', additionalProperties: { type: 'string', default: 'y' } },
                  pres: {
                    type: 'object',
                    'x-kubernetes-preserve-unknown-fields': true,
                    properties: { a: { type: 'string' } },
                  },
                  nul: { type: 'object', nullable: true, properties: { a: { type: 'string' } } },
                },
              },
            },
          },
        },
      },
    ],
  },
}

async function served(definition: object = AWKWARD): Promise<TestServer> {
  const server = await createTestServer()
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const { status, value } = await server.request('POST', definitions, definition)
  assert.equal(status, 201, value.message)
  await server.clock.advance(1000)
  return server
}

const parsed = async ({ request }: TestServer, path: string): Promise<AnyValue> =>
  JSON.parse((await request('GET', path)).value)

test('/openapi/v2 holds nothing that a strict reader refuses', async () => {
  const document = await parsed(await served(), '/openapi/v2')
  assert.deepEqual(refusals(VERSION_2, document), [])
  assert.ok(Object.keys(document.definitions).length > 500)
  const props =
    document.definitions['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps']
      .properties
  const { $ref, nullable, oneOf } = props
  for (const schema of [$ref, nullable, oneOf]) delete schema.description
  assert.deepEqual([$ref, nullable, oneOf.type], [{ type: 'string' }, { type: 'boolean' }, 'array'])
})

test('every document of /openapi/v3 holds nothing that a strict reader refuses', async () => {
  const server = await served()
  const { paths } = await parsed(server, '/openapi/v3')
  assert.ok('apis/srv.example.com/v1' in paths)
  for (const name of Object.keys(paths))
    assert.deepEqual(refusals(VERSION_3, await parsed(server, `/openapi/v3/${name}`)), [], name)
})

test('/openapi/v3 lists groups and pages beside versions, of custom resources versions only', async () => {
  const { paths } = await parsed(await served(), '/openapi/v3')
  const others = Object.keys(paths).filter((name) => !/\/v\d[a-z\d]*$/.test(name))
  assert.equal(others.length, 25)
  for (const name of ['api', 'apis', 'apis/apps', 'openid/v1/jwks', 'version'])
    assert.ok(others.includes(name), name)
  assert.ok(!others.includes('apis/srv.example.com'))
})

test('version 2 of a schema has no shape where version 3 allows null or anything, and no defaults', async () => {
  const document = await parsed(await served(), '/openapi/v2')
  const { spec } = document.definitions['com.example.srv.v1.Oa'].properties
  delete spec.description
  // As kube-apiserver 1.36 published the same definition.
  assert.deepEqual(spec, {
    type: 'object',
    properties: {
      $ref: { type: 'string' },
      nullable: { type: 'string' },
      n: {},
      oneOf: { type: 'array', items: { type: 'string' } },
      any: { 'x-kubernetes-preserve-unknown-fields': true },
      ios: { 'x-kubernetes-int-or-string': true },
      one: { type: 'string' },
      m: { type: 'object', additionalProperties: { type: 'string' } },
      pres: { 'x-kubernetes-preserve-unknown-fields': true },
      nul: {},
    },
  })
})

test('version 2 tells no more of a kind that keeps unknown fields than that it is an object', async () => {
  const open = structuredClone(AWKWARD) as AnyValue
  const { openAPIV3Schema } = open.spec.versions[0].schema
  openAPIV3Schema['x-kubernetes-preserve-unknown-fields'] = true
  const document = await parsed(await served(open), '/openapi/v2')
  assert.deepEqual(document.definitions['com.example.srv.v1.Oa'], {
    type: 'object',
    'x-kubernetes-group-version-kind': [{ group: 'srv.example.com', kind: 'Oa', version: 'v1' }],
  })
})

test('types that all groups share name all of them', async () => {
  const document = await parsed(await served(), '/openapi/v2')
  const kinds = document.definitions['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'][
    'x-kubernetes-group-version-kind'
  ].map(({ group }: { group: string }) => group)
  for (const group of ['', 'apps', 'storage.k8s.io']) assert.ok(kinds.includes(group), group)
  assert.equal(new Set(kinds).size > 15, true)
})
