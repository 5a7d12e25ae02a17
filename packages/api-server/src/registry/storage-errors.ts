/** What kube-apiserver says of an object in its storage that is not the one that was meant. */
const PREFIXES: Readonly<Record<string, string>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  ingresses: 'ingress',
  replicationcontrollers: 'controllers',
  // Of servers that are servers of their own within kube-apiserver.
  customresourcedefinitions: 'apiextensions.k8s.io/customresourcedefinitions',
  apiservices: 'apiregistration.k8s.io/apiservices',
}

/** Where objects of a built-in resource are kept, `minions` for nodes: some have the names that they began with. */
export function storagePrefix(resource: string): string {
  return PREFIXES[resource] ?? resource
}

/** `key`: as `pods/default/p`. A dry run never comes to the storage: it names the key without the prefix of all keys. */
export function storageError(key: string, why: string, dryRun: boolean): string {
  const root = dryRun ? '' : '/registry'
  return `StorageError: invalid object, Code: 4, Key: ${root}/${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`
}
