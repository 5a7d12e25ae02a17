/** A definition of two versions for tests: `as` of kind A, in the cluster; v1 is the stored one. */
export function definition(group: string, spec: object = {}): object {
  return {
    metadata: { name: `as.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'as', kind: 'A' },
      versions: [version('v1', true), version('v2', false)],
      ...spec,
    },
  }
}

export function version(name: string, storage: boolean): object {
  return { name, served: true, storage, schema: { openAPIV3Schema: { type: 'object' } } }
}
