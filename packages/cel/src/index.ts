/**
 * The Common Expression Language as Kubernetes has it: rules of custom resources, admission policies, match conditions.
 * Loaded when the first expression is compiled. Decision: docs/decisions/0006-cel.md.
 */
import { check } from './checking/checker.ts'
import { estimateCost } from './costs/cost-estimate.ts'
import type { CostRange } from './costs/cost-range.ts'
import type { Environment } from './environments/environment.ts'
import { plan } from './evaluator.ts'
import type { Program } from './evaluator.ts'
import { parse } from './syntax/parser.ts'
import type { CelType } from './checking/types.ts'

export { CostMeter } from './costs/cost.ts'
export type { CostRange } from './costs/cost-range.ts'
export { Environment } from './environments/environment.ts'
export type { Program } from './evaluator.ts'
export type { Variables } from './steps.ts'
export { jsonOf, valueOf } from './values/json-values.ts'
export { misnamedObject } from './values/patch-objects.ts'
export {
  AUTHORIZER_TYPE,
  AuthorizerValue,
  RESOURCE_CHECK_TYPE,
  ResourceCheck,
} from './libraries/authorizer.ts'
export type { Ask, Question } from './libraries/authorizer.ts'
export {
  NAMESPACE_TYPE,
  REQUEST_TYPE,
  policyEnvironment,
  variableType,
} from './environments/policy-environment.ts'
export type { PolicyEnvironmentOptions } from './environments/policy-environment.ts'
export { POLICY_ENVIRONMENT, RULES_ENVIRONMENT } from './environments/standard-environments.ts'
export { JSON_PATCH_TYPE } from './libraries/json-patch.ts'
export { CompileError, ProgramError } from './syntax/source.ts'
export * from './checking/types.ts'
export { CelOptional, CostExceeded, EvaluationError, LazyMap, NONE } from './values/values.ts'
export type { Value } from './values/values.ts'

export interface Compiled extends Program {
  readonly type: CelType
  /** What evaluating it may cost. */
  estimate(): CostRange
  /** Whether the variable is named anywhere. */
  uses(variable: string): boolean
}

/** Throws CompileError or ProgramError, and between them, before constants are evaluated, what `judge` throws. */
export function compile(
  text: string,
  environment: Environment,
  judge?: (type: CelType) => void,
): Compiled {
  const checked = check(text, parse(text, environment.hasBindings), environment)
  judge?.(checked.type)
  return {
    ...plan(checked),
    type: checked.type,
    estimate: () => estimateCost(checked, environment.variable('self')),
    uses: (variable) => checked.usesVariable(variable),
  }
}
