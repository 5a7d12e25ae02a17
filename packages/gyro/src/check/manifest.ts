/** From documents to objects: lists are opened, what is no object is told. Pure. */
import type { Draft } from '@gyropilot/schema/objects'
import type { Finding, ObjectName } from './findings.ts'
import type { SourceDocument } from './source/documents.ts'
import { placeOfField } from './source/field-path.ts'
import type { RepeatedKey, SourceNode } from './source/source-node.ts'

export interface Manifest {
  readonly document: SourceDocument
  readonly node: SourceNode
  readonly object: Draft
  readonly group: string
  readonly version: string
  readonly apiVersion: string
  readonly kind: string
  /** As written; empty when absent. */
  readonly namespace: string
  readonly name: string
  readonly repeatedKeys: readonly RepeatedKey[]
}

/** Why a document, or an item of a list, is no object. */
interface NoObject {
  readonly document: SourceDocument
  readonly node: SourceNode
  readonly problem: string
}

export function manifestsOf(document: SourceDocument): (Manifest | NoObject)[] {
  const { root } = document
  return root === undefined ? [] : opened(document, root)
}

export function isManifest(entry: Manifest | NoObject): entry is Manifest {
  return 'object' in entry
}

interface TypeMeta {
  readonly kind: string
  readonly apiVersion: string
}

/** `inherited`: what an item of a ConfigMapList is when it does not say so. */
function opened(
  document: SourceDocument,
  node: SourceNode,
  inherited?: TypeMeta,
): (Manifest | NoObject)[] {
  const refuse = (problem: string): [NoObject] => [{ document, node, problem }]
  if (node.members === undefined)
    return refuse(`not an object of Kubernetes but ${shapeOf(node)}: it has no kind and apiVersion`)
  const { kind: ownKind, apiVersion: ownVersion } = node.value as Draft
  const isUntyped = isAbsent(ownKind) && isAbsent(ownVersion) && inherited !== undefined
  const object: Draft = isUntyped
    ? { ...inherited, ...(node.value as Draft) }
    : (node.value as Draft)
  const { kind, apiVersion } = object
  if (isAbsent(kind) && isAbsent(apiVersion)) return refuse('kind not set, apiVersion not set')
  if (isAbsent(kind)) return refuse('kind not set')
  if (isAbsent(apiVersion)) return refuse('apiVersion not set')
  if (typeof kind !== 'string') return refuse(`kind is ${shown(kind)}, not a string`)
  if (typeof apiVersion !== 'string')
    return refuse(`apiVersion is ${shown(apiVersion)}, not a string`)
  const items = node.members.get('items')?.node
  if (kind.endsWith('List') && (items?.items !== undefined || items?.value === null))
    return (items.items ?? []).flatMap((item) =>
      opened(document, item, typeOfItems(kind, apiVersion)),
    )
  const slash = apiVersion.indexOf('/')
  const metadata = object['metadata'] as Draft | null | undefined
  return [
    {
      document,
      node,
      object,
      group: slash < 0 ? '' : apiVersion.slice(0, slash),
      version: apiVersion.slice(slash + 1),
      apiVersion,
      kind,
      namespace: textOf(metadata?.['namespace']),
      name: textOf(metadata?.['name']) || textOf(metadata?.['generateName']),
      repeatedKeys: document.repeatedKeys.filter(({ start }) => isWithin(start, node, document)),
    },
  ]
}

function typeOfItems(listKind: string, apiVersion: string): TypeMeta | undefined {
  const kind = listKind.slice(0, -'List'.length)
  return kind === '' ? undefined : { kind, apiVersion }
}

/** Keys of one item of a list are not told for the others. */
function isWithin(start: number, node: SourceNode, { root }: SourceDocument): boolean {
  const items = root?.members?.get('items')?.node.items ?? []
  const next = items.find((item) => item.start > node.start)
  return start >= node.start && (next === undefined || start < next.start)
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function shapeOf({ items, value }: SourceNode): string {
  if (items !== undefined) return 'a list'
  return typeof value === 'string' ? 'a text' : shown(value)
}

function shown(value: unknown): string {
  return typeof value === 'object' ? 'a map or list' : String(value)
}

/** `field`: whose place it is. */
export function findingAt(
  { document, node }: Pick<Manifest, 'document' | 'node'>,
  content: Pick<Finding, 'severity' | 'message' | 'field' | 'reason' | 'object'>,
  place: number = content.field === undefined ? node.start : placeOfField(node, content.field),
): Finding {
  const { file, origin } = document
  return {
    ...content,
    file: file.name,
    ...file.positionOf(place),
    ...(origin === undefined ? {} : { template: origin }),
  }
}

export function objectNameOf(
  { apiVersion, kind, name }: Manifest,
  namespace: string | undefined,
): ObjectName {
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name }
}
