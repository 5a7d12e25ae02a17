/** How a list of Kubernetes is compared and joined. */
export type ListSemantics =
  | { readonly kind: 'atomic' }
  | { readonly kind: 'set' }
  | { readonly kind: 'map'; readonly keys: readonly string[] }
