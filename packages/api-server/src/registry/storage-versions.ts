/** In which versions objects are kept, as kube-apiserver tells of it. */
import type { ServedResource } from './resource-registry.ts'

/** kube-apiserver keeps them in a version that it does not serve unless asked to; here nobody reads what is stored but this server. */
const STORED_IN_BETA: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/MutatingAdmissionPolicy',
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding',
  'apiextensions.k8s.io/CustomResourceDefinition',
])

export function toldStorageVersion({ info, storage }: ServedResource): string {
  return STORED_IN_BETA.has(`${info.group}/${info.kind}`)
    ? `${info.group}/v1beta1`
    : storage.apiVersion
}
