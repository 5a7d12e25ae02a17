/**
 * What `kubectl explain` tells of kinds and fields, in words of our own: recorded documents hold none. Loaded when
 * somebody asks for a document. What a schema says itself (of a custom resource) stays; of its spec and status nothing else is said.
 */
import texts from './descriptions.json' with { type: 'json' }

interface Schema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind: string }[]
}

interface Operation {
  readonly responses?: Readonly<Record<string, object>>
}

interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

type Texts = Readonly<Record<string, string>>

/** By the name of the schema without its prefix; the empty field is the kind itself. */
const TEXTS = texts as Readonly<Record<string, Texts>>
const BUILT_IN = /^io\.k8s\.(?:api|apimachinery|apiextensions-apiserver|kube-aggregator)\./
const EARLY_VERSION = /\.v\d+(?:alpha|beta)\d+\./
const PREFIX = /^io\.k8s\.(?:api\.|apimachinery\.pkg\.apis\.)?/

const TYPE_TEXTS = {
  apiVersion:
    'APIVersion defines in which group and version this object is written, such as apps/v1.',
  kind: 'What this object is. In CamelCase; cannot change.',
  metadata: "Standard object's metadata: name, labels and what else all objects have.",
}
const KIND_TEXTS: Texts = {
  ...TYPE_TEXTS,
  spec: 'What is wanted.',
  status: 'What is. Written by the system.',
}
const LIST_TEXTS: Texts = {
  ...TYPE_TEXTS,
  metadata: 'The version of the list, and whether there is more of it.',
  items: 'The objects.',
}
const CONDITION_TEXTS: Texts = {
  type: 'What the condition is about.',
  status: 'True, False or Unknown.',
  reason: 'One word in CamelCase for why it is so.',
  message: 'Why it is so, for people.',
  lastTransitionTime: 'When the status changed last.',
  lastProbeTime: 'When it was last looked at.',
  lastHeartbeatTime: 'When it was last looked at.',
  lastUpdateTime: 'When it was last written.',
  observedGeneration: 'The generation of the spec that this is about.',
}

/** Strict readers want them. */
const RESPONSE_TEXTS: Texts = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  401: 'Unauthorized',
}

export function withDescriptions<D extends object>(document: D): D {
  const { components, paths } = document as Document
  const schemas =
    components?.schemas &&
    Object.fromEntries(
      Object.entries(components.schemas).map(([name, schema]) => [name, described(name, schema)]),
    )
  return {
    ...document,
    ...(schemas === undefined ? {} : { components: { ...components, schemas } }),
    ...(paths === undefined ? {} : { paths: mapValues(paths, pathItem) }),
  }
}

function pathItem(item: Readonly<Record<string, Operation>>): object {
  return mapValues(item, (operation) =>
    operation.responses === undefined
      ? operation
      : { ...operation, responses: mapValues(operation.responses, withResponseText) },
  )
}

function withResponseText(response: object, code: string): object {
  return { description: RESPONSE_TEXTS[code] ?? '', ...response }
}

function mapValues<V>(
  map: Readonly<Record<string, V>>,
  change: (value: V, key: string) => object,
): object {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]))
}

function described(name: string, schema: Schema): Schema {
  const own = textsOf(name.replace(PREFIX, ''))
  const kind = schema['x-kubernetes-group-version-kind']?.at(0)?.kind
  const general = generalTexts(name, schema, kind)
  const properties =
    schema.properties &&
    Object.fromEntries(
      Object.entries(schema.properties).map(([field, property]) => [
        field,
        withText(property, own[field] ?? general[field]),
      ]),
    )
  const text =
    own[''] ??
    (isList(schema, kind) ? `A list of objects of kind ${kind!.slice(0, -4)}.` : undefined)
  return withText(properties === undefined ? schema : { ...schema, properties }, text)
}

/** Versions of a kind that say nothing of their own are told of as another one is. */
function textsOf(name: string): Texts {
  const own = TEXTS[name]
  if (own !== undefined || !EARLY_VERSION.test(name)) return own ?? {}
  const ofAny = new RegExp(`^${name.replace(EARLY_VERSION, String.raw`\.v\d[^.]*\.`)}$`)
  const other = Object.keys(TEXTS).find((known) => ofAny.test(known))
  return other === undefined ? {} : TEXTS[other]!
}

function generalTexts(name: string, schema: Schema, kind: string | undefined): Texts {
  if (isList(schema, kind)) return LIST_TEXTS
  if (kind !== undefined && schema.properties?.['metadata'] !== undefined)
    return BUILT_IN.test(name) ? KIND_TEXTS : TYPE_TEXTS
  return name.endsWith('Condition') ? CONDITION_TEXTS : {}
}

function isList({ properties }: Schema, kind: string | undefined): boolean {
  return kind?.endsWith('List') === true && properties?.['items'] !== undefined
}

/** The description stands first, where the real server writes it; a bare reference has no room for one. */
function withText(schema: Schema, text: string | undefined): Schema {
  if (text === undefined || schema.description !== undefined) return schema
  return { description: text, ...('$ref' in schema ? { allOf: [schema] } : schema) }
}
