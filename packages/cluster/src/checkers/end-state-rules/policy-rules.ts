/** Admission policies at rest. Contract: docs/behaviour/controllers/validatingadmissionpolicy-status-controller.md. */
import { resources } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

/** Each has been checked as it is now: its warnings quote the expressions that it has. */
export function* checkedPolicies(objects: Objects): Iterable<string> {
  for (const { metadata, spec, status } of objects.all(resources.validatingadmissionpolicies)) {
    const text = `ValidatingAdmissionPolicy ${metadata?.name}`
    if (status?.observedGeneration !== metadata?.generation || status?.typeChecking === undefined)
      yield `${text} is at generation ${metadata?.generation}, checked was ${status?.observedGeneration}`
    for (const { fieldRef, warning } of status?.typeChecking?.expressionWarnings ?? []) {
      const index = Number(/^spec\.validations\[(\d+)\]/.exec(fieldRef)?.[1])
      const { expression, messageExpression = '' } = spec?.validations?.[index] ?? {}
      const quoted = fieldRef.endsWith('.messageExpression') ? messageExpression : expression
      if (quoted === undefined || !warning.includes(quoted.split('\n')[0]!))
        yield `${text} warns of ${fieldRef}, which is not as the warning says: ${warning}`
    }
  }
}
