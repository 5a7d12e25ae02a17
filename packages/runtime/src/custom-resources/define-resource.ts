import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
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
  /** The plural in URLs. Default: of the kind, by the regular rules of English, as tools for Go write it (`websites`, `policies`, `gateways`, `meshes`). */
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

/** What one version of a kind has. */
export interface VersionOptions extends Pick<
  CustomResourceDefinitionVersion,
  'additionalPrinterColumns' | 'selectableFields'
> {
  /** A structural schema of the objects (`type: object` with `properties`). */
  readonly schema: object
  /** Default true: status is written apart, and generation counts changes of the rest only. */
  readonly statusSubresource?: boolean
  /** Where replicas stand, for `kubectl scale` and autoscalers. Default: no scale subresource. */
  readonly scaleSubresource?: CustomResourceSubresourceScale
}

/** Another version of the kind. */
export interface OtherVersionOptions
  extends
    VersionOptions,
    Pick<CustomResourceDefinitionVersion, 'deprecated' | 'deprecationWarning'> {
  /** `v1beta1`. */
  readonly version: string
  /** Default true. */
  readonly served?: boolean
}

/** The rest of a CustomResourceDefinition. */
export interface DefinitionOptions extends VersionOptions {
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly otherVersions?: readonly OtherVersionOptions[]
  /** Between the versions. Default: only apiVersion is changed. */
  readonly conversion?: CustomResourceConversion
}

/** The CustomResourceDefinition of a kind; the version of `type` is served, and the one that is stored. */
export function definitionOf(
  type: ResourceType,
  options: DefinitionOptions,
): CustomResourceDefinition {
  const { shortNames, categories, otherVersions = [], conversion, ...stored } = options
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
        versionOf({ ...stored, version: type.version }, true),
        ...otherVersions.map((other) => versionOf(other, false)),
      ],
      ...(conversion && { conversion }),
    },
  }
}

function versionOf(
  {
    version,
    served = true,
    schema,
    statusSubresource = true,
    scaleSubresource,
    ...more
  }: OtherVersionOptions,
  storage: boolean,
): CustomResourceDefinitionVersion {
  const subresources = {
    ...(statusSubresource && { status: {} }),
    ...(scaleSubresource && { scale: scaleSubresource }),
  }
  return {
    name: version,
    served,
    storage,
    schema: { openAPIV3Schema: schema as never },
    ...(Object.keys(subresources).length > 0 && { subresources }),
    ...more,
  }
}

function pluralOf(kind: string): string {
  const singular = kind.toLowerCase()
  if (/(s|x|ch|sh)$/.test(singular)) return `${singular}es`
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`
  return `${singular}s`
}
