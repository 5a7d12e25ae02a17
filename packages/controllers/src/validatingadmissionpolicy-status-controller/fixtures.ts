/** The smallest policies, and a sync of one against a table of answers. */
import type {
  ExpressionWarning,
  NamedRuleWithOperations,
  ValidatingAdmissionPolicy,
  Validation,
} from '@gyropilot/api'
import type { Discovered } from '@gyropilot/client'
import { drive } from '@gyropilot/runtime/testing'
import type { Driven } from '@gyropilot/runtime/testing'
import { reconcile } from './reconcile.ts'
import { discovered, recordedDocument } from './testing/recorded.ts'

const NOW_MS = Date.UTC(2026, 0, 1, 0, 0, 0, 123)

export const rule = (
  apiGroups: readonly string[],
  apiVersions: readonly string[],
  resources: readonly string[],
): NamedRuleWithOperations => ({ apiGroups, apiVersions, operations: ['CREATE'], resources })

export const DEPLOYMENTS = [rule(['apps'], ['v1'], ['deployments'])]

export function policy(
  validations: readonly Validation[],
  more: ValidatingAdmissionPolicy['spec'] = {},
): ValidatingAdmissionPolicy {
  return {
    metadata: { name: 'p', generation: 1 },
    spec: { matchConstraints: { resourceRules: DEPLOYMENTS }, validations, ...more },
  }
}

interface Answers {
  /** What a live discovery finds; by default what is remembered. */
  readonly fresh?: Discovered
  readonly remembered?: Discovered | Error
  /** Path -> body; others are not found. */
  readonly bodies?: Readonly<Record<string, object>>
  readonly refusal?: unknown
}

const SERVED: Readonly<Record<string, object>> = {
  '/openapi/v3/apis/house.example.com/v1': recordedDocument,
}

const failed = (error: unknown) => ({ ok: false, error, attempted: true }) as const

export function sync(
  synced: ValidatingAdmissionPolicy,
  { remembered = discovered, fresh, bodies = SERVED, refusal }: Answers = {},
): Driven<unknown> {
  return drive(reconcile(synced), {
    nowMs: NOW_MS,
    onRead(read) {
      const answer = 'remembered' in read ? remembered : (fresh ?? remembered)
      return answer instanceof Error ? failed(answer) : { ok: true, object: answer as object }
    },
    onFetch(path) {
      const body = bodies[path]
      return body === undefined ? failed(new Error(`no ${path}`)) : { ok: true, object: body }
    },
    onWrite: () => (refusal === undefined ? undefined : failed(refusal)),
  })
}

/** What the sync wrote. */
export function writtenStatus(run: Driven<unknown>): ValidatingAdmissionPolicy['status'] {
  const [write] = run.writes
  if (run.writes.length !== 1 || write?.verb !== 'apply') return undefined
  return (write.object as ValidatingAdmissionPolicy).status
}

export function warningsOf(
  synced: ValidatingAdmissionPolicy,
  answers?: Answers,
): readonly ExpressionWarning[] {
  return writtenStatus(sync(synced, answers))?.typeChecking?.expressionWarnings ?? []
}
