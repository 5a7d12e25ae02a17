/**
 * The expressions of a policy against the types it matches. Contract:
 * docs/behaviour/controllers/validatingadmissionpolicy-status-controller.md, Sync, step 3, and Status and conditions.
 */
import type { ExpressionWarning, JSONSchemaProps, ValidatingAdmissionPolicy } from '@gyropilot/api'
import type { CelType, Environment } from '@gyropilot/cel'
import {
  CompileError,
  DYN,
  ProgramError,
  compile,
  policyEnvironment,
  variableType,
} from '@gyropilot/cel'
import { declaredType } from '@gyropilot/cel/schema-types'
import type { Kind } from './matched-kinds.ts'

export interface KindWithSchema extends Kind {
  readonly schema: JSONSchemaProps
}

interface TypeCheck {
  readonly policy: ValidatingAdmissionPolicy
  /** Sorted. */
  readonly objects: readonly KindWithSchema[]
  /** Of `params`, where it is known. */
  readonly params: KindWithSchema | undefined
  /** Sets names of types apart from each other: two of the same kind are two types. */
  readonly firstSuffix: number
}

/** In the order of the fields. At most one for each expression, with a block for each type that fails. */
export function typeWarnings({
  policy,
  objects,
  params,
  firstSuffix,
}: TypeCheck): readonly ExpressionWarning[] {
  const { spec = {} } = policy
  const paramsType = params === undefined ? true : typeOf(params, firstSuffix)
  const checked = objects.map((object, index) => ({
    title: `${object.group}/${object.version}, Kind=${object.kind}`,
    environment: environmentOf(policy, typeOf(object, firstSuffix + 1 + index), paramsType),
  }))
  const warning = (fieldRef: string, expression: string | undefined): ExpressionWarning[] => {
    if (!expression) return []
    const blocks = checked.flatMap(({ title, environment }) => {
      const problem = problemOf(expression, environment)
      return problem === undefined ? [] : [`${title}: ${problem}\n`]
    })
    return blocks.length === 0 ? [] : [{ fieldRef, warning: blocks.join('\n') }]
  }
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, index) => [
    ...warning(`spec.validations[${index}].expression`, expression),
    ...warning(`spec.validations[${index}].messageExpression`, messageExpression),
  ])
}

function typeOf({ kind, schema }: KindWithSchema, suffix: number): CelType {
  return declaredType(schema, `${kind}${suffix}`, false)?.type ?? DYN
}

/** `authorizer.requestResource` is not among the names here, so that its use is warned of. */
function environmentOf(
  { spec = {} }: ValidatingAdmissionPolicy,
  object: CelType,
  paramsType: CelType | true,
): Environment {
  const variables: Record<string, CelType> = {}
  const environment = (): Environment =>
    policyEnvironment({
      object,
      params: spec.paramKind === undefined ? false : paramsType,
      authorizer: true,
      requestResource: false,
      variables: { ...variables },
    })
  for (const { name, expression } of spec.variables ?? []) {
    let type = DYN as CelType
    try {
      type = variableType(compile(expression, environment()).type)
    } catch (error) {
      // What is broken may be anything for those who use it: nobody is warned of it.
      if (!(error instanceof CompileError || error instanceof ProgramError)) throw error
    }
    variables[name] = type
  }
  return environment()
}

function problemOf(expression: string, environment: Environment): string | undefined {
  try {
    compile(expression, environment)
    return undefined
  } catch (error) {
    if (error instanceof CompileError) return error.message
    if (error instanceof ProgramError) return `type checking error: ${error.message}`
    throw error
  }
}
