/** What a check has to say. */
import type { Position } from './source/source-file.ts'

/** error: the server refuses; warning: it accepts and warns; notice: something was not looked at. */
export type Severity = 'error' | 'warning' | 'notice'

export interface ObjectName {
  readonly apiVersion: string
  readonly kind: string
  /** Absent for kinds without namespaces. */
  readonly namespace?: string
  /** Empty when the manifest has none. */
  readonly name: string
}

export interface Finding extends Position {
  readonly severity: Severity
  readonly file: string
  /** One line: of the server where it is the server that says it. */
  readonly message: string
  /** The field that the server names: `spec.containers[0].image`. */
  readonly field?: string
  /** As the server classifies it: FieldValueInvalid, Forbidden. */
  readonly reason?: string
  readonly object?: ObjectName
  /** The template that Helm says the manifest was rendered from. */
  readonly template?: string
}

export type Verdict = 'accepted' | 'refused' | 'not checked'

/** `Deployment shop/web`. */
export function nameText({ kind, namespace, name }: ObjectName): string {
  const shown = name === '' ? '(no name)' : name
  return namespace === undefined ? `${kind} ${shown}` : `${kind} ${namespace}/${shown}`
}
