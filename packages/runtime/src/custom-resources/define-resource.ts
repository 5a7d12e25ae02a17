import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  KubernetesObject,
  ResourceType,
} from '@gyropilot/api'

/** An object with the usual two halves: what is wanted, and what is. */
export interface CustomResource<Spec = unknown, Status = unknown> extends KubernetesObject {
  readonly spec: Spec
  readonly status?: Status
}

/** The names of a kind. */
export interface ResourceDefinition {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The plural in URLs. Default: of the kind, by the rules of English that Kubernetes knows (`websites`, `policies`). */
  readonly resource?: string
  /** Default true. */
  readonly namespaced?: boolean
}

/**
 * A custom kind with the shape of its objects.
 *
 * ```ts
 * interface Website extends CustomResource<{ readonly html: string }, { readonly ready: boolean }> {}
 * const websites = defineResource<Website>({ group: 'example.com', version: 'v1', kind: 'Website' })
 * ```
 */
export function defineResource<T extends KubernetesObject>({
  group,
  version,
  kind,
  resource = pluralOf(kind),
  namespaced = true,
}: ResourceDefinition): ResourceType<T> {
  return { group, version, kind, resource, namespaced }
}

/** The rest of a CustomResourceDefinition with one version, which is served and stored. */
export interface DefinitionOptions extends Pick<
  CustomResourceDefinitionVersion,
  'additionalPrinterColumns' | 'selectableFields'
> {
  /** A structural schema of the objects (`type: object` with `properties`). */
  readonly schema: object
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** Default true: status is written apart, and generation counts changes of the rest only. */
  readonly statusSubresource?: boolean
}

/** The CustomResourceDefinition of a kind with one version. */
export function definitionOf(
  type: ResourceType,
  options: DefinitionOptions,
): CustomResourceDefinition {
  const { schema, shortNames, categories, statusSubresource = true, ...version } = options
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${type.resource}.${type.group}` },
    spec: {
      group: type.group,
      scope: type.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: type.kind,
        listKind: `${type.kind}List`,
        plural: type.resource,
        singular: type.kind.toLowerCase(),
        ...(shortNames && { shortNames }),
        ...(categories && { categories }),
      },
      versions: [
        {
          name: type.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema as never },
          ...(statusSubresource && { subresources: { status: {} } }),
          ...version,
        },
      ],
    },
  }
}

function pluralOf(kind: string): string {
  const singular = kind.toLowerCase()
  if (singular.endsWith('s')) return `${singular}es`
  if (singular.endsWith('y')) return `${singular.slice(0, -1)}ies`
  return `${singular}s`
}
