/**
 * Objects that kube-apiserver 1.36 answered, as messages and as JSON: encoded by the same Go types that clients encode
 * with. `value` without uid, creationTimestamp and managedFields: each answer was to a dry run of its own.
 */
import recorded from './recorded-answers.json' with { type: 'json' }

export interface RecordedAnswer {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** Base64. */
  readonly body: string
  readonly value: Readonly<Record<string, unknown>>
}

export const recordedAnswers = recorded as readonly unknown[] as readonly RecordedAnswer[]
