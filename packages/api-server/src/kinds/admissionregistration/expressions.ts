/** Checks the expressions of policies and match conditions with the compiler that will run them. */
import { createRequire } from 'node:module'
import type * as ExpressionsModule from '../../admission/expressions.ts'
import { cel } from '@gyropilot/cel/load'
import type { CelType } from '@gyropilot/cel/types'
import type { Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'

type Expressions = typeof ExpressionsModule

let loaded: Expressions | undefined

/** Loaded with the first expression; checks are synchronous. */
function expressions(): Expressions {
  loaded ??= createRequire(import.meta.url)('../../admission/expressions.ts') as Expressions
  return loaded
}

const BOOL: CelType = { kind: 'bool' }
const STRING: CelType = { kind: 'string' }
const PATCH = (name: string): CelType => ({ kind: 'object', name, fields: new Map() })

/** What expressions of each place have to give; absent: anything. */
const RESULTS: Readonly<Record<string, readonly CelType[]>> = {
  condition: [BOOL],
  validation: [BOOL],
  message: [STRING],
  audit: [STRING, { kind: 'null' }],
  variable: [{ kind: 'dyn' }],
  jsonPatch: [{ kind: 'list', element: PATCH('JSONPatch') }],
  applyConfiguration: [PATCH('Object')],
}

/** Places whose expressions are read without the blanks around them. */
const TRIMMED: ReadonlySet<ExpressionPlace> = new Set([
  'condition',
  'audit',
  'jsonPatch',
  'applyConfiguration',
])
/** Places that know the types of patches. */
const PATCHES: ReadonlySet<ExpressionPlace> = new Set(['jsonPatch', 'applyConfiguration'])

type ExpressionPlace =
  | 'condition'
  | 'validation'
  | 'message'
  | 'audit'
  | 'variable'
  | 'jsonPatch'
  | 'applyConfiguration'

/** The expressions of one policy or webhook, which see the variables that were declared before them. */
export class ExpressionCheck {
  readonly #params: boolean
  readonly #hasVariables: boolean
  readonly #variables: Record<string, CelType> = {}

  constructor(spec: Stored, isMutating = false) {
    this.#params = Boolean(spec['paramKind'])
    // Mutating policies may always name variables, though there be none.
    this.#hasVariables = isMutating || (spec['variables'] ?? []).length > 0
  }

  /** Reports an expression that is missing or does not compile. */
  check(
    place: ExpressionPlace,
    expression: string | undefined,
    errors: FieldErrors,
    field: string,
    missing = 'expression is not specified',
  ): CelType | undefined {
    const given = expression ?? ''
    const text = TRIMMED.has(place) ? given.trim() : given
    if (given.trim() === '') {
      errors.required(field, missing)
      return undefined
    }
    const { ConstantError, ExpressionError, compileExpression } = expressions()
    // Conditions decide whether the policy is looked at: its variables come later.
    // Without variables there is no such name.
    const none = place === 'condition' || !this.#hasVariables
    const variables = none ? {} : { variables: { ...this.#variables } }
    const environment = cel().policyEnvironment({
      params: this.#params,
      patches: PATCHES.has(place),
      authorizer: place !== 'message',
      ...variables,
    })
    try {
      return compileExpression(text, environment, RESULTS[place]!).type
    } catch (error) {
      if (error instanceof ConstantError) errors.internal(field, error.message)
      else if (error instanceof ExpressionError)
        errors.invalid(field, place === 'audit' ? given : text, error.message)
      else throw error
      return undefined
    }
  }

  variable(name: string, expression: string | undefined, errors: FieldErrors, field: string): void {
    const type = this.check('variable', expression, errors, field)
    // One without an expression is none.
    if (!expression?.trim()) return
    // What is broken is reported once, and may be anything for those who use it.
    this.#variables[name] = type === undefined ? { kind: 'dyn' } : cel().variableType(type)
  }
}
