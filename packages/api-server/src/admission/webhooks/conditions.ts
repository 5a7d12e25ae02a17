/** Match conditions of a webhook, compiled once for each stored state of its configuration. */
import { BOOL, policyEnvironment } from '@gyropilot/cel'
import type { Stored } from '../../registry/kind-rules.ts'
import { ExpressionError, compileExpression } from '../expressions.ts'
import type { NamedProgram } from '../expressions.ts'

type Compiled = { readonly conditions: readonly NamedProgram[] } | { readonly problem: string }

const known = new WeakMap<Stored, Compiled>()

export function webhookConditions(webhook: Stored): Compiled {
  let compiled = known.get(webhook)
  if (compiled === undefined) {
    compiled = compileAll(webhook)
    known.set(webhook, compiled)
  }
  return compiled
}

function compileAll(webhook: Stored): Compiled {
  const environment = policyEnvironment({ authorizer: true })
  try {
    const conditions = (webhook['matchConditions'] ?? []).map(({ name, expression }: Stored) => ({
      name,
      expression,
      program: compileExpression(expression, environment, [BOOL]),
    }))
    return { conditions }
  } catch (error) {
    if (error instanceof ExpressionError) return { problem: error.message }
    throw error
  }
}
