/** How violations of the Pod Security Standards are told. */
import type { Stored } from '../../registry/kind-rules.ts'

export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** What is judged, and by which minor version of the standards. */
export interface JudgedPod {
  readonly metadata: Stored
  readonly spec: Stored
  readonly containers: readonly Stored[]
  readonly minor: number
}

export type Check = (pod: JudgedPod) => Violation | undefined

export function violation(reason: string, detail: string): Violation | undefined {
  return detail === '' ? undefined : { reason, detail }
}

export function forContainers(
  containers: readonly Stored[],
  reason: string,
  text: string,
  isBad: (securityContext: Stored | undefined) => boolean,
): Violation | undefined {
  const names = namesWhere(containers, isBad)
  return violation(reason, names.length === 0 ? '' : `${labelled('container', names)} ${text}`)
}

export function namesWhere(
  containers: readonly Stored[],
  test: (securityContext: Stored | undefined) => boolean,
): string[] {
  return containers
    .filter((container) => test(container['securityContext']))
    .map((container) => container['name'])
}

/** `pod`, `container "a"`, `pod and containers "a", "b"`, or nothing. */
export function podAndContainers(isPod: boolean, names: readonly string[]): string {
  const parts = isPod ? ['pod'] : []
  if (names.length > 0) parts.push(labelled('container', names))
  return parts.join(' and ')
}

export function labelled(label: string, names: readonly string[]): string {
  return `${label}${names.length > 1 ? 's' : ''} ${quoted(names)}`
}

export function quoted(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ')
}
