/** Recorded documents of versions on request tell of all their kinds: those whose gates are off are left out of what is told. */
import type { ServedVersion } from '../registry/resource-registry.ts'

interface Schema {
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind: string }[]
}

interface Document {
  readonly paths?: Readonly<Record<string, object>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

/** The resource of a path behind its version: `/watch/namespaces/{namespace}/podgroups/{name}`. */
const RESOURCE = /^\/(?:watch\/)?(?:namespaces\/\{namespace\}\/)?([a-z]+)/

export function servedPart(document: Document, served: ServedVersion): Document {
  const { group, version, resources } = served
  const prefix = `/apis/${group}/${version}`
  const names = new Set(resources.map(({ info }) => info.resource))
  const absent = new Set<string>()
  for (const path of Object.keys(document.paths ?? {})) {
    const name = RESOURCE.exec(path.slice(prefix.length))?.[1]
    if (name !== undefined && !names.has(name)) absent.add(name)
  }
  if (absent.size === 0) return document
  const kinds = new Set(resources.flatMap(({ info }) => [info.kind, `${info.kind}List`]))
  const ownSchema = new RegExp(`\\.${version}\\.\\w+$`)
  const schemas = Object.entries(document.components?.schemas ?? {}).filter(([name, schema]) => {
    const kind = schema['x-kubernetes-group-version-kind']?.at(0)?.kind
    return kind === undefined || !ownSchema.test(name) || kinds.has(kind)
  })
  const paths = Object.entries(document.paths ?? {}).filter(
    ([path]) => !absent.has(RESOURCE.exec(path.slice(prefix.length))?.[1] ?? ''),
  )
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: { ...document.components, schemas: Object.fromEntries(schemas) },
  }
}
