/** Kinds of somebody's own, as custom resources, with the rights that their controller needs. */
import type { ClusterRole, KubernetesObject, ObjectMeta, ResourceType } from '@gyropilot/api'

interface GatedKind extends KubernetesObject {
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

interface GatedKindOptions {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly namespaced?: boolean
  /** Of `spec`: what lists and watches may select by. */
  readonly selectable?: readonly string[]
  /** Service account of the controller. */
  readonly account: string
  readonly verbs: readonly string[]
  /** What it may do besides. */
  readonly rules?: ClusterRole['rules']
}

interface InstalledKind {
  readonly type: ResourceType<GatedKind>
  /** For `Scenario.installed`. */
  readonly installed: readonly KubernetesObject[]
  object(metadata: ObjectMeta, parts?: Pick<GatedKind, 'spec' | 'status'>): GatedKind
}

export function gatedKind(given: GatedKindOptions): InstalledKind {
  const { group, version, kind, namespaced = false } = given
  const resource = `${kind.toLowerCase()}s`
  return {
    type: { group, version, kind, resource, namespaced },
    installed: [definition(given, resource), ...rights(given, resource)],
    object: (metadata, parts = {}) => ({
      apiVersion: `${group}/${version}`,
      kind,
      metadata,
      ...parts,
    }),
  }
}

function definition(
  { group, version, kind, namespaced = false, selectable = [] }: GatedKindOptions,
  plural: string,
): KubernetesObject & { readonly spec: object } {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const properties = Object.fromEntries(selectable.map((field) => [field, { type: 'string' }]))
  const schema = { ...open, properties: { spec: { ...open, properties }, status: open } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, in the place of a built-in kind' },
    },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { plural, kind },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
          selectableFields: selectable.map((field) => ({ jsonPath: `.spec.${field}` })),
        },
      ],
    },
  }
}

function rights(
  { group, account, verbs, rules = [] }: GatedKindOptions,
  plural: string,
): readonly KubernetesObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const name = `gated:${plural}`
  const role = {
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name },
    rules: [{ apiGroups: [group], resources: [plural, `${plural}/status`], verbs }, ...rules],
  }
  const binding = {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'kube-system' }],
  }
  return [role, binding]
}
