/**
 * The /openapi/v3 document of a group version of custom resources. Its paths are those of a built-in kind with the same
 * verbs and scope, with the names changed. Contract: docs/behaviour/api-server/custom-resources.md, OpenAPI.
 */
import apps from '@gyropilot/api/openapi/apis__apps__v1.json' with { type: 'json' }
import coordination from '@gyropilot/api/openapi/apis__coordination.k8s.io__v1.json' with { type: 'json' }
import scheduling from '@gyropilot/api/openapi/apis__scheduling.k8s.io__v1.json' with { type: 'json' }
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import type { Stored } from '../registry/kind-rules.ts'
import type { ServedResource } from '../registry/resource-registry.ts'
import type { CustomDefinition } from './custom-resource.ts'
import { openApiName, openApiSchemas } from './openapi.ts'
import type { JsonObject } from './schemas/structural-schema.ts'

interface Document {
  readonly openapi: string
  readonly info: unknown
  readonly paths: Readonly<Record<string, JsonObject>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

/** A recorded kind whose paths are copied. */
interface Template {
  readonly document: Document
  readonly group: string
  readonly groupWord: string
  readonly plural: string
  readonly kind: string
}

const NAMESPACED: Template = {
  document: coordination as unknown as Document,
  group: 'coordination.k8s.io',
  groupWord: 'Coordination',
  plural: 'leases',
  kind: 'Lease',
}

const CLUSTER_SCOPED: Template = {
  document: scheduling as unknown as Document,
  group: 'scheduling.k8s.io',
  groupWord: 'Scheduling',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
}

const KINDS = 'x-kubernetes-group-version-kind'

type Operation = JsonObject & { readonly responses: JsonObject }

/** The parameter of reads, as lists have it. */
const AT_VERSION = (
  NAMESPACED.document.paths['/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases']![
    'get'
  ] as {
    readonly parameters: readonly JsonObject[]
  }
).parameters.find(({ name }) => name === 'resourceVersion')

/** What custom resources are read and written in. */
const MEDIA_TYPES = ['application/json', 'application/yaml']

/** What documents of custom resources may refer to besides their own kinds. */
function sharedSchemas(): Readonly<Record<string, JsonObject>> {
  const recorded = {
    ...NAMESPACED.document.components.schemas,
    ...(apps as unknown as Document).components.schemas,
  }
  const shared = Object.entries(recorded as Record<string, JsonObject>).filter(([name]) =>
    /^io\.k8s\.(apimachinery\.|api\.autoscaling\.v1\.Scale)/.test(name),
  )
  return Object.fromEntries(shared.map(([name, schema]) => [name, ofNoTemplate(schema)]))
}

/** DeleteOptions are of every group: they were recorded with the name that they have in that of the template. */
function ofNoTemplate(schema: JsonObject): JsonObject {
  const kinds = schema[KINDS] as readonly JsonObject[] | undefined
  if (kinds === undefined || kinds.length === 1) return schema
  return { ...schema, [KINDS]: kinds.filter(({ group }) => group === '') }
}

/** Those that a value refers to, and what they refer to. */
function referredTo(
  value: unknown,
  schemas: Readonly<Record<string, JsonObject>>,
  found: Record<string, JsonObject> = {},
): Record<string, JsonObject> {
  for (const [, name] of stringifyExact(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    const schema = schemas[name!]
    if (schema === undefined || found[name!] !== undefined) continue
    found[name!] = schema
    referredTo(schema, schemas, found)
  }
  return found
}

/** The document of the resources of one group version; undefined when there are none. */
export function openApiDocument(resources: readonly ServedResource[]): object | undefined {
  if (resources.length === 0) return undefined
  const paths: Record<string, JsonObject> = {}
  const own: Record<string, JsonObject> = {}
  for (const resource of resources) {
    const template = resource.info.namespaced ? NAMESPACED : CLUSTER_SCOPED
    Object.assign(paths, pathsOf(template, resource))
    const definition = resource.definition as CustomDefinition
    const version = definition.object['spec'].versions.find(
      ({ name }: Stored) => name === resource.info.version,
    )
    Object.assign(own, openApiSchemas(definition.object, version))
  }
  const schemas = { ...referredTo([paths, own], sharedSchemas()), ...own }
  const { openapi } = NAMESPACED.document
  const info = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }
  return { openapi, info, paths: sorted(paths), components: { schemas: sorted(schemas) } }
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function pathsOf(
  template: Template,
  { info, listKind }: ServedResource,
): Record<string, JsonObject> {
  const rename = renamer(template, info, listKind)
  const root = `/apis/${template.group}/v1/`
  const result: Record<string, JsonObject> = {}
  for (const [path, item] of Object.entries(template.document.paths)) {
    if (path === root || path.startsWith(`${root}watch/`)) continue
    const renamed = rename(path.replace(template.plural, info.resource)) as string
    const copy = rename(item) as JsonObject
    tellOtherwise(copy as Readonly<Record<string, Operation>>)
    result[renamed] = copy
    if (!path.endsWith('/{name}')) continue
    const own = openApiName(info.group, info.version, info.kind)
    for (const subresource of info.subresources) {
      result[`${renamed}/${subresource.name}`] = subresourcePath(copy, subresource, own)
    }
  }
  return result
}

/**
 * Where operations of custom resources are told of otherwise than those of built-in kinds: one is read at a version too, a
 * patch does not say that it may create, and a deletion of many has the parameters of a list, watches included, and no body.
 */
function tellOtherwise({
  get,
  patch,
  delete: deletion,
}: Readonly<Record<string, Operation>>): void {
  if (get?.['x-kubernetes-action'] === 'get') get['parameters'] = [AT_VERSION]
  delete patch?.responses['201']
  if (deletion?.['x-kubernetes-action'] !== 'deletecollection') return
  deletion['parameters'] = get!['parameters']
  delete deletion['requestBody']
}

/** The object's own path with the verbs of a subresource. */
function subresourcePath(
  item: JsonObject,
  { name }: ServedResource['info']['subresources'][number],
  own: string,
): JsonObject {
  const suffix = name[0]!.toUpperCase() + name.slice(1)
  const result: JsonObject = { parameters: item['parameters'] }
  for (const method of ['get', 'put', 'patch']) {
    let text = JSON.stringify(item[method])
    if (name === 'scale') {
      text = text.replaceAll(
        `#/components/schemas/${own}"`,
        '#/components/schemas/io.k8s.api.autoscaling.v1.Scale"',
      )
    }
    const operation = JSON.parse(text) as JsonObject
    operation['operationId'] = `${operation['operationId']}${suffix}`
    result[method] = operation
  }
  return result
}

/**
 * Renames in paths, references, operation ids, tags and kinds; leaves out encodings that custom resources do not have, and
 * that a list may be watched; says which bodies are taken.
 */
function renamer(
  template: Template,
  info: ServedResource['info'],
  listKind: string,
): (value: unknown) => unknown {
  const words = info.group.split(/[.-]/).map(capitalized).join('')
  const groupWord = words + capitalized(info.version)
  const tag = `${words[0]!.toLowerCase()}${words.slice(1)}_${info.version}`
  const text = (value: string): string => {
    if (value.startsWith('#/components/schemas/io.k8s.api.')) {
      const kind = value.endsWith(`.${template.kind}List`) ? listKind : info.kind
      return `#/components/schemas/${openApiName(info.group, info.version, kind)}`
    }
    if (value.startsWith('/apis/'))
      return value.replace(`/apis/${template.group}/v1`, `/apis/${info.group}/${info.version}`)
    if (value === template.group) return info.group
    if (value === template.kind) return info.kind
    if (value === `${template.groupWord.toLowerCase()}_v1`) return tag
    return value.replace(`${template.groupWord}V1`, groupWord).replace(template.kind, info.kind)
  }
  const rename = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(rename)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
      .filter(([key]) => !/protobuf|stream=watch|^application\/strategic-merge-patch/.test(key))
      .flatMap(([key, child]) =>
        key === '*/*' ? MEDIA_TYPES.map((type) => [type, child] as const) : [[key, child] as const],
      )
    const copy = Object.fromEntries(entries.map(([key, child]) => [key, rename(child)]))
    if (copy['group'] === info.group && 'kind' in copy) copy['version'] = info.version
    return copy
  }
  return rename
}

function capitalized(word: string): string {
  return word === '' ? '' : word[0]!.toUpperCase() + word.slice(1)
}
