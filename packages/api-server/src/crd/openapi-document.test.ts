/** Of each operation what a generated client makes of it. Contract: docs/behaviour/api-server/custom-resources.md, OpenAPI. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createTestServer, turn, type AnyValue } from '../testing/test-server.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const JSON_OR_YAML = 'application/json application/yaml'
const PATCHES =
  'application/apply-patch+yaml application/json-patch+json application/merge-patch+json'
const LIST =
  'allowWatchBookmarks continue fieldSelector labelSelector limit resourceVersion resourceVersionMatch sendInitialEvents shardSelector timeoutSeconds watch'
const WRITE = 'dryRun fieldManager fieldValidation'
const DELETION =
  'dryRun gracePeriodSeconds ignoreStoreReadErrorWithClusterBreakingPotential orphanDependents propagationPolicy'

function definition(scope: string, plural: string, kind: string): object {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  const replicas = { type: 'object', properties: { replicas: { type: 'integer' } } }
  const openAPIV3Schema = { type: 'object', properties: { spec: replicas, status: replicas } }
  const version = { name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema } }
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope,
      names: { plural, kind, listKind: `Many${kind}s` },
      versions: [{ ...version, subresources: { status: {}, scale } }],
    },
  }
}

let document: AnyValue
let swagger: AnyValue
before(async () => {
  const server = await createTestServer()
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await server.request('POST', definitions, definition('Namespaced', 'things', 'Thing'))
  await server.request('POST', definitions, definition('Cluster', 'tanks', 'Tank'))
  for (let i = 0; i < 20; i++) await turn()
  const read = async (path: string): Promise<AnyValue> => {
    const { value } = await server.request('GET', path)
    return typeof value === 'string' ? JSON.parse(value) : value
  }
  document = await read('/openapi/v3/apis/example.com/v1beta1')
  swagger = await read('/openapi/v2')
})

const names = (parameters: AnyValue): string =>
  (parameters ?? []).map(({ name }: AnyValue) => name).join(' ')
const types = (content: AnyValue): string => Object.keys(content ?? {}).join(' ')

/** Parameters, types of the body, codes that are answered. */
function told(item: AnyValue): object {
  const operations = METHODS.filter((method) => item[method] !== undefined)
  return Object.fromEntries(
    operations.map((method) => {
      const { parameters, requestBody, responses } = item[method]
      return [method, [names(parameters), types(requestBody?.content), types(responses)]]
    }),
  )
}

test('operations have the parameters, bodies and answers that kube-apiserver tells of custom resources', () => {
  const reads = ['resourceVersion', '', '200 401']
  const replaced = [WRITE, JSON_OR_YAML, '200 201 401']
  const patched = [`${WRITE} force`, PATCHES, '200 401']
  const written = { get: reads, put: replaced, patch: patched }
  const one = { ...written, delete: [DELETION, JSON_OR_YAML, '200 202 401'] }
  const all = {
    get: [LIST, '', '200 401'],
    post: [WRITE, JSON_OR_YAML, '200 201 202 401'],
    delete: [LIST, '', '200 401'],
  }
  const root = '/apis/example.com/v1beta1'
  const things = `${root}/namespaces/{namespace}/things`
  const expected = {
    [things]: all,
    [`${things}/{name}`]: one,
    [`${things}/{name}/scale`]: written,
    [`${things}/{name}/status`]: written,
    [`${root}/tanks`]: all,
    [`${root}/tanks/{name}`]: one,
    [`${root}/tanks/{name}/scale`]: written,
    [`${root}/tanks/{name}/status`]: written,
    [`${root}/things`]: { get: ['', '', '200 401'] },
  }
  const found = Object.entries(document.paths).map(([path, item]) => [path, told(item)])
  assert.deepEqual(Object.fromEntries(found), expected)
  assert.equal(
    names(document.paths[`${root}/things`].parameters),
    LIST.replace('limit', 'limit pretty'),
  )
  for (const path of Object.keys(expected)) {
    for (const method of METHODS) {
      const { consumes, produces } = swagger.paths[path][method] ?? {}
      if (produces === undefined) continue
      const bodies = method === 'patch' ? PATCHES : JSON_OR_YAML
      assert.deepEqual(
        [consumes.toSorted().join(' '), produces.join(' ')],
        [bodies, JSON_OR_YAML],
        `${method} ${path}`,
      )
    }
  }
})

test('every operation is of the custom kind, and scales are answered in their own schema', () => {
  const scale = document.paths['/apis/example.com/v1beta1/tanks/{name}/scale']
  for (const method of ['get', 'put', 'patch']) {
    const { responses, ...operation } = scale[method]
    assert.deepEqual(operation['x-kubernetes-group-version-kind'], {
      group: 'example.com',
      version: 'v1beta1',
      kind: 'Tank',
    })
    assert.deepEqual(responses['200'].content['application/json'].schema, {
      $ref: '#/components/schemas/io.k8s.api.autoscaling.v1.Scale',
    })
  }
})

test('the document has the schemas that it refers to, and no others but those of its kinds', () => {
  const { schemas } = document.components
  const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)]
  assert.deepEqual([...new Set(referred.map(([, name]) => name!))].toSorted(), Object.keys(schemas))
  assert.ok(schemas['com.example.v1beta1.ManyTanks'], 'lists are called as the definition says')
  assert.deepEqual(
    schemas['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'][
      'x-kubernetes-group-version-kind'
    ],
    [{ group: '', kind: 'DeleteOptions', version: 'v1' }],
  )
})

test('integers beyond doubles in a schema stand in the document as they are', async () => {
  const server = await createTestServer()
  const text = JSON.stringify(definition('Cluster', 'tanks', 'Tank')).replace(
    '"replicas":{"type":"integer"}',
    '"replicas":{"type":"integer","default":9007199254740993}',
  )
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await server.request('POST', definitions, text)
  for (let i = 0; i < 20; i++) await turn()
  const { status, value } = await server.request('GET', '/openapi/v3/apis/example.com/v1beta1')
  assert.deepEqual([status, value.includes('"default":9007199254740993')], [200, true])
})
