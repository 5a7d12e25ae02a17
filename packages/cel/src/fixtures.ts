/** Expressions as tests write them: what they give, or what is wrong with them. */
import {
  CompileError,
  CostMeter,
  EvaluationError,
  POLICY_ENVIRONMENT,
  ProgramError,
  compile,
  jsonOf,
  valueOf,
} from './index.ts'
import type { CelType } from './index.ts'
import { DYN } from './checking/types.ts'
import { CelOptional, TypeValue } from './values/values.ts'
import { runtimeTypeName } from './checking/types.ts'

interface Given {
  readonly types?: Readonly<Record<string, CelType>>
  readonly values?: Readonly<Record<string, unknown>>
}

/** The value as JSON; `error: ...` for one that cannot be evaluated, the compiler's text for one that does not compile. */
export function result(text: string, { types = {}, values = {} }: Given = {}): unknown {
  const declared = {
    ...Object.fromEntries(Object.keys(values).map((name) => [name, DYN])),
    ...types,
  }
  try {
    const program = compile(text, POLICY_ENVIRONMENT.withVariables(declared))
    const value = program.evaluate(
      (name) => (name in values ? valueOf(values[name], declared[name]!) : undefined),
      new CostMeter(1_000_000),
    )
    if (value instanceof TypeValue) return `type ${runtimeTypeName(value.type)}`
    if (value instanceof CelOptional && value.value === undefined) return 'none'
    return jsonOf(value)
  } catch (error) {
    if (error instanceof CompileError || error instanceof ProgramError) return error.message
    if (error instanceof EvaluationError) return `error: ${error.message}`
    throw error
  }
}

/** The message of the first problem, without the text around it. */
export function problem(text: string, given: Given = {}): string {
  const shown = String(result(text, given))
  return /^ERROR: <input>:(.*)\n/.exec(shown)?.[1] ?? `no problem: ${shown}`
}
